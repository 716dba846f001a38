"""The place of a history on this computer: one folder for a service and an account.

The account is known from an earlier answer, by a hash of the key, so that what is kept is found
without the service.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.client import records
from kit.client.settings import Settings
from kit.private import make_folder, write_private

if TYPE_CHECKING:
    from kit.explore.archive import Archive


def open_archive(settings: Settings, account: str) -> Archive:
    """Return the archive of an account as the last sync left it; it may be empty."""
    from kit.explore.archive import Archive
    from kit.explore.store import Store

    return Archive(Store(_folder(settings) / _hash(account)))


def known_account(settings: Settings) -> str | None:
    """Return the id of the account that the key belongs to, where the service has told it once."""
    return _read(_accounts(settings)).get(_hash(settings.api_key))


def remember_account(settings: Settings, account: str) -> None:
    """Keep the id of the key's account."""
    file = _accounts(settings)
    _write(file, {**_read(file), _hash(settings.api_key): account})


def _folder(settings: Settings) -> Path:
    return records.folder(settings, "history")


def _accounts(settings: Settings) -> Path:
    return _folder(settings) / "accounts.json"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(file: Path) -> dict[str, str]:
    try:
        found: Any = json.loads(file.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (FileNotFoundError, ValueError):
        return {}


def _write(file: Path, known: Mapping[str, str]) -> None:
    make_folder(file.parent)
    write_private(file, json.dumps(known))
