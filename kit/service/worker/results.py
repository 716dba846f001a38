"""Validates the result of an engine before it is stored; results are not trusted.

Engines may be third-party code, and their files are moved: a path outside the job's folder would
take the file away from its owner.
"""

from __future__ import annotations

import functools
import hashlib
import math
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from kit.containers import open_media
from kit.engines.base import Asset
from kit.engines.media.inspection import IMAGES, MAGIC
from kit.errors import EngineError
from kit.file_metadata import FileMetadata, embed
from kit.parameters import suggest
from kit.pictures import open_picture
from kit.service.storage.keys import SUFFIXES, output_key
from kit.service.storage.output_folder import OutputFolder

_JSON_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
_KINDS = ("image", "video")
#: EXIF orientations that swap width and height.
_ROTATED = range(5, 9)
_POSTER_FRACTION = 0.4  # fraction of the length
#: Side length in pixels up to which a picture needs no thumbnail.
_SMALL_SIDE = 512
#: Maximum size of an asset's metadata as JSON: it is part of the row and of all responses.
_MAX_METADATA_BYTES = 64_000


def store_result(
    asset: Asset,
    asset_type: str,
    generation_id: str,
    folder: Path,
    outputs: OutputFolder,
    metadata: FileMetadata | None = None,
) -> dict[str, Any]:
    """Store a job's files and return their facts for the row of its generation.

    Raises `EngineError`: the asset is invalid (``bad_result``), and no file was moved; or the
    storage is full (``not_stored``).

    `asset_type`: ``image`` or ``video``, the output of the model.
    `folder`: the job's; all files of the asset must be in it.
    """
    if not isinstance(asset, Asset):
        raise _bad_result(f"render returned {type(asset).__name__!r}, not an Asset", "")
    # The folder itself is not resolved: an engine could have replaced it by a link.
    folder = _resolve(folder.parent) / folder.name
    path = _check_inside(asset.path, folder, "its file")
    size = _check_type(path, asset.content_type, asset_type)
    facts = _read_facts(asset)
    facts |= _true_size(path, facts, size)
    thumbnail = _thumbnail(asset, path, folder, facts)
    if metadata:
        embed(path, metadata)
    with path.open("rb") as file:
        digest, length = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    facts |= {
        "key": output_key(generation_id, digest, SUFFIXES[asset.content_type]),
        "sha256": digest,
        "size_bytes": length,
    }
    files = {facts["key"]: path}
    if thumbnail is not None:
        facts["thumbnail"] = output_key(generation_id, "small", ".jpg")
        files[facts["thumbnail"]] = thumbnail
    try:
        outputs.put(files)
    except OSError as error:
        sentence = f"the result could not be stored ({type(error).__name__})"
        raise EngineError(sentence, code="not_stored", detail=str(error)) from error
    return facts


@functools.cache
def _resolve(folder: Path) -> Path:
    return folder.resolve()


def _check_inside(path: Any, folder: Path, what: str) -> Path:
    """Return the resolved path of a file if it is in the folder (resolved)."""
    try:
        found = Path(path).resolve(strict=True)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise _bad_result(f"{what} is missing", f"{path!r}: {error}") from None
    if not found.is_relative_to(folder):
        raise _bad_result(f"{what} lies outside the job's folder", f"{path} is not in {folder}")
    if not found.is_file():
        raise _bad_result(f"{what} is not a file", str(path))
    return found


def _check_type(path: Path, content_type: Any, asset_type: str) -> tuple[int, int]:
    """Raise if a file has the wrong type; return the width and height in its header."""
    kind = str(content_type).partition("/")[0]
    if content_type not in MAGIC or kind not in _KINDS:
        hint = suggest(str(content_type), (name for name in MAGIC if name.startswith(_KINDS)))
        raise _bad_result(f"its type {content_type!r} is none that is served{hint}", str(path))
    if kind != asset_type:
        raise _bad_result(f"the model makes {asset_type}s, not {content_type}", str(path))
    with path.open("rb") as file:
        if not _has_magic(file, content_type):
            raise _bad_result(f"its content is not {content_type}", str(path))
        try:
            return _declared_size(path, file, content_type)
        except Exception as error:
            raise _bad_result("its file cannot be read", f"{path}: {error}") from error


def _declared_size(path: Path, file: IO[bytes], content_type: str) -> tuple[int, int]:
    if content_type in IMAGES:
        file.seek(0)
        with open_picture(file, [IMAGES[content_type]]) as image:
            size: tuple[int, int] = image.size
            return size
    with open_media(path) as container:
        if not container.streams.video:
            raise ValueError("it holds no video")
        stream = container.streams.video[0]
        return stream.width, stream.height


def _true_size(path: Path, facts: Mapping[str, Any], declared: tuple[int, int]) -> dict[str, int]:
    """Return the displayed width and height if they differ: rotated, and with square pixels.

    The asset's own values are usually right; then nothing is read.
    """
    if (facts["width"], facts["height"]) == declared:
        return {}
    try:
        width, height = _displayed_size(path, facts["content_type"])
    except Exception as error:
        raise _bad_result("its file cannot be read", f"{path}: {error}") from error
    return {"width": width, "height": height}


def _displayed_size(path: Path, content_type: str) -> tuple[int, int]:
    if content_type in IMAGES:
        from PIL import ExifTags

        with open_picture(path, [IMAGES[content_type]]) as image:
            is_rotated = image.getexif().get(ExifTags.Base.Orientation, 1) in _ROTATED
            return (image.height, image.width) if is_rotated else image.size
    from kit.engines.media.footage import Footage

    with Footage(path) as footage:
        return footage.width, footage.height


def _has_magic(file: IO[bytes], content_type: str) -> bool:
    head = file.read(32)
    return any(head[at : at + len(mark)] == mark for at, mark in MAGIC[content_type])


def _read_facts(asset: Asset) -> dict[str, Any]:
    """Return the facts of an asset as Python numbers; it may contain numpy numbers."""
    facts: dict[str, Any] = {"content_type": asset.content_type}
    for name, read in _READERS.items():
        try:
            facts[name] = read(asset)
        except (TypeError, ValueError, OverflowError) as error:
            raise _bad_result(f"its {name} makes no sense", str(error)) from error
    return facts


def _duration(asset: Asset) -> float | None:
    """Return the length of a video in seconds, if the engine gives it."""
    if asset.duration_seconds is None:
        return None
    if asset.content_type in IMAGES:
        raise _bad_result("a picture has no length", f"duration_seconds={asset.duration_seconds!r}")
    seconds = float(asset.duration_seconds)
    if not 0 <= seconds < math.inf:
        raise ValueError(f"duration_seconds={seconds}")
    return seconds


def _to_json(metadata: Mapping[str, Any]) -> Any:
    if not metadata:
        return {}
    text = orjson.dumps(dict(metadata), option=_JSON_OPTIONS)
    if len(text) > _MAX_METADATA_BYTES:
        most = f"{_MAX_METADATA_BYTES // 1000} KB"
        raise _bad_result(f"its metadata is longer than {most}", f"it has {len(text):,} bytes")
    return orjson.loads(text)


_READERS: dict[str, Callable[[Asset], Any]] = {
    "width": lambda asset: operator.index(asset.width),
    "height": lambda asset: operator.index(asset.height),
    "duration_seconds": _duration,
    "metadata": lambda asset: _to_json(asset.metadata),
}


def _thumbnail(asset: Asset, path: Path, folder: Path, facts: Mapping[str, Any]) -> Path | None:
    """Return the asset's thumbnail, or one made from its file; None for a small picture."""
    if asset.thumbnail is not None:
        found = _check_inside(asset.thumbnail, folder, "its thumbnail")
        with found.open("rb") as file:
            if found != path and _has_magic(file, "image/jpeg"):
                return found
    if asset.content_type in IMAGES and max(facts["width"], facts["height"]) <= _SMALL_SIDE:
        return None
    # Imported here: the kit's own engines provide a thumbnail.
    from kit.engines.media import picture

    own = folder / f"{path.stem}.thumbnail"
    own.mkdir()
    try:
        return picture.write_thumbnail(_pixels(path, asset), own)
    except Exception as error:
        raise _bad_result("its file cannot be read", f"{path}: {error}") from error


def _pixels(path: Path, asset: Asset) -> Any:
    if asset.content_type in IMAGES:
        from kit.engines.media import stills

        return stills.open_still(path, side=1024).pixels
    from kit.engines.media.footage import Footage

    with Footage(path) as footage:
        rate = footage.fps or 24
        at = float(footage.seconds or 0.0) * _POSTER_FRACTION
        found = next(iter(footage.frames(rate, start=at)), None)
        return next(iter(footage.frames(rate))) if found is None else found


def _bad_result(reason: str, detail: str) -> EngineError:
    sentence = f"the engine's result cannot be used: {reason}"
    return EngineError(sentence, code="bad_result", detail=detail)
