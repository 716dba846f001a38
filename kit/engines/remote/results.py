"""What came back from another machine, looked at like an upload before anything trusts it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kit.engines.base import Asset
from kit.engines.media import picture, stills
from kit.engines.media.footage import Footage
from kit.engines.media.inspection import MAGIC, inspect
from kit.errors import EngineError

_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "video/mp4": ".mp4",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
}
_POSTER_AT = 0.4  # of the length


def asset(path: Path, asset_type: str, metadata: Mapping[str, Any]) -> Asset:
    """Return a file that was received as the asset of a job.

    Parameters
    ----------
    path : Path
        In the job's folder; it is given the ending of its type.
    asset_type : str
        ``image`` or ``video``: what it must be.

    Raises
    ------
    EngineError
        It is something else (``upstream_odd``), broken, or too large.
    """
    content_type = _content_type(path, asset_type)
    try:
        facts = inspect(path, content_type)
    except EngineError as error:
        sentence = f"what the remote service sent is of no use: {error}"
        raise EngineError(sentence, code="upstream_odd") from None
    named = path.rename(path.with_suffix(_ENDINGS[content_type]))
    seconds = facts.get("duration_seconds")
    pixels = (
        _poster(named, seconds or 0.0) if asset_type == "video" else stills.opened(named).pixels
    )
    return Asset(
        path=named,
        content_type=content_type,
        width=facts["width"],
        height=facts["height"],
        duration_seconds=seconds,
        thumbnail=picture.write_thumbnail(pixels, path.parent),
        metadata=metadata,
    )


def _content_type(path: Path, asset_type: str) -> str:
    with path.open("rb") as file:
        head = file.read(32)
    for content_type in _ENDINGS:
        kind = content_type.partition("/")[0]
        marks = MAGIC[content_type]
        if kind == asset_type and any(head[at : at + len(m)] == m for at, m in marks):
            return content_type
    what = {"image": "a picture", "video": "a video"}[asset_type]
    raise EngineError(f"what the remote service sent is not {what}", code="upstream_odd")


def _poster(path: Path, seconds: float) -> Any:
    with Footage(path) as footage:
        frames = footage.frames(footage.fps or 24, start=seconds * _POSTER_AT)
        found = next(iter(frames), None)
        if found is None:
            found = next(iter(footage.frames(footage.fps or 24)))
    return found
