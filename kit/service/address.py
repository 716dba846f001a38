"""Discovery of a running service: the file with its address, and a proof of its identity.

The file is in the data folder, which only its owner can read. This module imports no service code.
"""

from __future__ import annotations

import hmac
import json
import secrets
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from kit.service.settings import read_secret
from kit.service.storage.signing import proof

ADDRESS_FILE = "service.json"
#: Larger than any response of `/healthz`.
_ANSWER_BYTES = 10_000
_TIMEOUT_SECONDS = 2.0
#: Proxies are not for requests to this machine.
_direct_opener = build_opener(ProxyHandler({}))


def find(data: Path) -> str | None:
    """Return the URL of a running service of a data folder on this machine, or None.

    Another program may use the port meanwhile: it does not know the secret of the folder.
    """
    note, challenge = read_note(data / ADDRESS_FILE), secrets.token_hex(16)
    try:
        url = str(note["url"])
        expected = proof_of(data, url, challenge)
        address = f"{url}/healthz?challenge={challenge}"
        with _direct_opener.open(address, timeout=_TIMEOUT_SECONDS) as response:
            answer = json.loads(response.read(_ANSWER_BYTES))
    except HTTPError as error:
        error.close()
        return None
    except (OSError, ValueError, KeyError, HTTPException):
        return None
    # Compare the instance as well: a restored copy of the folder has the same secret.
    is_same = isinstance(answer, dict) and answer.get("instance") == note.get("instance")
    proven = is_same and hmac.compare_digest(str(answer.get("proof")).encode(), expected.encode())
    return url if proven else None


def proof_of(data: Path, url: str, challenge: str) -> str:
    """Return the proof that the service of a data folder gives for a challenge at a URL."""
    address = urlsplit(url)
    secret = read_secret(Path(read_note(data / ADDRESS_FILE).get("secret") or data / "secret"))
    return proof(secret, f"{address.hostname}:{address.port}", challenge)


def accepts_key(url: str, key: str) -> bool:
    """Whether the service at a URL accepts a key."""
    request = Request(f"{url}/v1/account", headers={"Authorization": f"Bearer {key}"})  # noqa: S310
    try:
        with _direct_opener.open(request, timeout=_TIMEOUT_SECONDS):
            return True
    except HTTPError as error:
        with error:
            return error.code == 429  # the key is valid
    except (OSError, ValueError, HTTPException):
        return False


def read_note(file: Path) -> dict[str, Any]:
    """Return the content of a service's address file; empty if the file is missing."""
    try:
        answer = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}
