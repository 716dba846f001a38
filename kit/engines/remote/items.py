"""What an endpoint answers a job with at once: a file, one in base64, or the address of one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit.engines.remote.exchange import Reply
from kit.engines.remote.http import Caller
from kit.errors import EngineError

#: Where an entry holds a file as it came.
_FILE = "file"


def answered(reply: Reply, kind: str) -> Any:
    """Return what the JSON of an answer says; where it is a file itself, that is its only entry.

    Parameters
    ----------
    kind : str
        Of the file: ``image`` or ``video``.

    Raises
    ------
    EngineError
        It is neither (``upstream_odd``).
    """
    if reply.headers.get("content-type", "").startswith(f"{kind}/"):
        return {"data": [{_FILE: reply.content}]}
    return reply.json()


def item_of(answer: Any) -> dict[str, Any] | None:
    """Return the first entry of an answer's ``data``, or None where there is none with a file."""
    data = answer.get("data") if isinstance(answer, dict) else None
    item = data[0] if isinstance(data, list) and data else None
    if not isinstance(item, dict):
        return None
    # JSON knows no bytes, so nothing but the file itself is taken for it.
    is_file = isinstance(item.get(_FILE), bytes)
    return item if is_file or _text(item, "b64_json") or _text(item, "url") else None


async def received(caller: Caller, item: Mapping[str, Any], target: Path, *, most: int) -> None:
    """Write the file of an item to a path.

    Raises
    ------
    EngineError
        It is garbled or too large, it lies where it cannot be fetched safely, or it did not come.
    """
    if isinstance(file := item.get(_FILE), bytes):
        target.write_bytes(file)
        return
    encoded, url = _text(item, "b64_json"), _text(item, "url")
    if url.startswith("data:"):
        encoded = encoded or url
    if encoded:
        target.write_bytes(_decoded(encoded))
    else:
        await caller.fetch(caller.beside(url), target, most=most, late=True)


def _text(item: Mapping[str, Any], name: str) -> str:
    found = item.get(name)
    return found if isinstance(found, str) else ""


def _decoded(text: str) -> bytes:
    """Return bytes that were written as base64: in lines, as a ``data:`` address, unpadded."""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    text = "".join(text.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        sentence = "the file in the remote service's answer is garbled"
        raise EngineError(sentence, code="upstream_odd") from None
