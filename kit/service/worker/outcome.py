"""What an engine hands over, looked at before it is kept: nothing of it is taken at its word.

An engine may come from anywhere, and its files are moved: one that named a file outside its job's
folder would take it away from whoever it belongs to.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from kit.engines.base import Asset
from kit.engines.media.inspection import IMAGES, MAGIC, container_of
from kit.errors import EngineError
from kit.service.storage.keys import SUFFIXES, output_key
from kit.service.storage.shelf import Shelf

_CHUNK = 1 << 20
_TOLERANT = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
_KINDS = ("image", "video")
_POSTER_AT = 0.4  # of the length
#: Pixels a side up to which a picture needs no smaller one beside it.
_SMALL = 512


def kept(asset: Asset, generation_id: str, folder: Path, shelf: Shelf) -> dict[str, Any]:
    """Put a job's files on the shelf and return what its generation's row says of them.

    Parameters
    ----------
    folder : Path
        The job's; every file of the asset has to lie in it.

    Raises
    ------
    EngineError
        The asset is none that can be served (``bad_result``), and nothing was moved; or there is
        no room for it (``not_stored``).
    """
    if not isinstance(asset, Asset):
        raise _refusal("the engine returned none", f"render() returned {type(asset).__name__}")
    folder = folder.resolve()
    path = _inside(asset.path, folder, "its file")
    _check_content(path, asset.content_type)
    facts = _facts(asset)
    thumbnail = _thumbnail(asset, path, folder)
    digest, size = _measured(path)
    facts |= {
        "key": output_key(generation_id, digest, SUFFIXES[asset.content_type]),
        "sha256": digest,
        "size_bytes": size,
    }
    files = {facts["key"]: path}
    if thumbnail is not None:
        facts["thumbnail"] = output_key(generation_id, "small", ".jpg")
        files[facts["thumbnail"]] = thumbnail
    try:
        shelf.put(files)
    except OSError as error:
        sentence = f"the result could not be stored ({type(error).__name__})"
        raise EngineError(sentence, code="not_stored", detail=str(error)) from error
    return facts


def _inside(path: Any, folder: Path, what: str) -> Path:
    """Return where a file really is, links followed, if that is in the folder (resolved)."""
    try:
        found = Path(path).resolve(strict=True)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise _refusal(f"{what} is missing", f"{path!r}: {error}") from None
    if not found.is_relative_to(folder):
        raise _refusal(f"{what} lies outside the job's folder", f"{path} is not in {folder}")
    if not found.is_file():
        raise _refusal(f"{what} is no file", str(path))
    return found


def _check_content(path: Path, content_type: Any) -> None:
    """Refuse a file that is not what it is said to be; only its beginning is read."""
    kind = str(content_type).partition("/")[0]
    if content_type not in MAGIC or kind not in _KINDS:
        raise _refusal(f"its type {content_type!r} is none that is served", str(path))
    if not _begins_as(path, content_type):
        raise _refusal(f"its content is not {content_type}", str(path))
    try:
        _open(path, content_type)
    except Exception as error:
        raise _refusal("its file cannot be read", f"{path}: {error}") from error


def _open(path: Path, content_type: str) -> None:
    if content_type in IMAGES:
        from PIL import Image

        with Image.open(path, formats=[IMAGES[content_type]]):
            return
    with container_of(path) as container:
        if not container.streams.video:
            raise ValueError("it holds no video")


def _begins_as(path: Path, content_type: str) -> bool:
    with path.open("rb") as file:
        head = file.read(32)
    return any(head[at : at + len(mark)] == mark for at, mark in MAGIC[content_type])


def _facts(asset: Asset) -> dict[str, Any]:
    """Return what an asset says of itself; it may say it in numbers of numpy."""
    try:
        seconds = asset.duration_seconds
        return {
            "content_type": asset.content_type,
            "width": operator.index(asset.width),
            "height": operator.index(asset.height),
            "duration_seconds": None if seconds is None else float(seconds),
            "metadata": _plain(asset.metadata),
        }
    except (TypeError, ValueError) as error:
        raise _refusal("its size, length or metadata makes no sense", str(error)) from error


def _plain(metadata: Mapping[str, Any]) -> Any:
    """Return what an engine tells of its work as JSON has it."""
    return orjson.loads(orjson.dumps(dict(metadata), option=_TOLERANT)) if metadata else {}


def _thumbnail(asset: Asset, path: Path, folder: Path) -> Path | None:
    """Return the asset's thumbnail, or one that is made of its file where it has none.

    A picture that is small itself goes without.
    """
    if asset.thumbnail is not None:
        found = _inside(asset.thumbnail, folder, "its thumbnail")
        if found != path and _begins_as(found, "image/jpeg"):
            return found
    if asset.content_type in IMAGES and max(asset.width, asset.height) <= _SMALL:
        return None
    # Imported here: the engines of the kit bring their own.
    from kit.engines.media import picture

    own = folder / f"{path.stem}.thumbnail"
    own.mkdir()
    try:
        return picture.write_thumbnail(_pixels(path, asset), own)
    except Exception as error:
        raise _refusal("its file cannot be read", f"{path}: {error}") from error


def _pixels(path: Path, asset: Asset) -> Any:
    if asset.content_type in IMAGES:
        from kit.engines.media import stills

        return stills.opened(path, most=1024).pixels
    from kit.engines.media.footage import Footage

    with Footage(path) as footage:
        rate = footage.fps or 24
        at = float(footage.seconds or 0.0) * _POSTER_AT
        found = next(iter(footage.frames(rate, start=at)), None)
        return next(iter(footage.frames(rate))) if found is None else found


def _measured(path: Path) -> tuple[str, int]:
    """Return a file's SHA-256 and size."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def _refusal(why: str, detail: str) -> EngineError:
    sentence = f"the engine's result cannot be used: {why}"
    return EngineError(sentence, code="bad_result", detail=detail)
