"""What an endpoint answers a job with at once: a file in base64, or the address of one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit.engines.remote.http import Caller
from kit.errors import EngineError


def item_of(answer: Any) -> dict[str, Any] | None:
    """Return the first entry of an answer's ``data``, or None where there is none with a file."""
    data = answer.get("data") if isinstance(answer, dict) else None
    item = data[0] if isinstance(data, list) and data else None
    if not isinstance(item, dict) or not any(_text(item, name) for name in ("b64_json", "url")):
        return None
    return item


async def received(caller: Caller, item: Mapping[str, Any], target: Path, *, most: int) -> None:
    """Write the file of an item to a path.

    Raises
    ------
    EngineError
        It is garbled or too large, it lies where it cannot be fetched safely, or it did not come.
    """
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
