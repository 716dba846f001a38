"""What an engine hands over, looked at before it is kept: nothing of it is taken at its word.

An engine may come from anywhere, and its files are moved: one that named a file outside its job's
folder would take it away from whoever it belongs to.
"""

from __future__ import annotations

import functools
import hashlib
import math
import operator
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from kit.containers import open_media
from kit.engines.base import Asset
from kit.engines.media.inspection import IMAGES, MAGIC
from kit.errors import EngineError
from kit.pictures import open_picture
from kit.service.storage.keys import SUFFIXES, output_key
from kit.service.storage.output_folder import OutputFolder

_TOLERANT = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
_KINDS = ("image", "video")
#: The orientations of a photograph whose rows are stored as columns.
_ON_ITS_SIDE = range(5, 9)
_POSTER_AT = 0.4  # of the length
#: Pixels a side up to which a picture needs no smaller one beside it.
_SMALL = 512
#: Bytes of an asset's metadata as JSON: they stand in the row, and in every answer about it.
_METADATA = 64_000


def keep_files(
    asset: Asset, asset_type: str, generation_id: str, folder: Path, shelf: OutputFolder
) -> dict[str, Any]:
    """Put a job's files on the shelf and return what its generation's row says of them.

    Parameters
    ----------
    asset_type : str
        ``image`` or ``video``: what the model makes.
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
    # The folder is not followed: an engine could have put a link in its place.
    folder = _resolved(folder.parent) / folder.name
    path = _inside(asset.path, folder, "its file")
    size = _looked_at(path, asset.content_type, asset_type)
    facts = _facts(asset)
    facts |= _measures(path, facts, size)
    thumbnail = _thumbnail(asset, path, folder, facts)
    digest, length = _measured(path)
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
        shelf.put(files)
    except OSError as error:
        sentence = f"the result could not be stored ({type(error).__name__})"
        raise EngineError(sentence, code="not_stored", detail=str(error)) from error
    return facts


@functools.cache
def _resolved(folder: Path) -> Path:
    return folder.resolve()


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


def _looked_at(path: Path, content_type: Any, asset_type: str) -> tuple[int, int]:
    """Refuse a file that is not what it has to be; return the width and height it tells.

    Only its beginning is read. A picture may lie on its side, see `_measures`.
    """
    kind = str(content_type).partition("/")[0]
    if content_type not in MAGIC or kind not in _KINDS:
        raise _refusal(f"its type {content_type!r} is none that is served", str(path))
    if kind != asset_type:
        raise _refusal(f"the model makes {asset_type}s, and this is {content_type}", str(path))
    with path.open("rb") as file:
        if not _begins_as(file, content_type):
            raise _refusal(f"its content is not {content_type}", str(path))
        try:
            return _told_size(path, file, content_type)
        except Exception as error:
            raise _refusal("its file cannot be read", f"{path}: {error}") from error


def _told_size(path: Path, file: IO[bytes], content_type: str) -> tuple[int, int]:
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


def _measures(path: Path, facts: Mapping[str, Any], told: tuple[int, int]) -> dict[str, int]:
    """Return the true width and height.

    What an asset says is right in nearly every case, and then this costs nothing. Where it says
    something else than its file, the file is looked at as it is shown: turned, with square pixels.
    """
    if (facts["width"], facts["height"]) == told:
        return {}
    try:
        width, height = _shown_size(path, facts["content_type"])
    except Exception as error:
        raise _refusal("its file cannot be read", f"{path}: {error}") from error
    return {"width": width, "height": height}


def _shown_size(path: Path, content_type: str) -> tuple[int, int]:
    if content_type in IMAGES:
        from PIL import ExifTags

        with open_picture(path, [IMAGES[content_type]]) as image:
            lies = image.getexif().get(ExifTags.Base.Orientation, 1) in _ON_ITS_SIDE
            return (image.height, image.width) if lies else image.size
    from kit.engines.media.footage import Footage

    with Footage(path) as footage:
        return footage.width, footage.height


def _begins_as(file: IO[bytes], content_type: str) -> bool:
    head = file.read(32)
    return any(head[at : at + len(mark)] == mark for at, mark in MAGIC[content_type])


def _facts(asset: Asset) -> dict[str, Any]:
    """Return what an asset says of itself; it may say it in numbers of numpy."""
    try:
        return {
            "content_type": asset.content_type,
            "width": operator.index(asset.width),
            "height": operator.index(asset.height),
            "duration_seconds": _length(asset),
            "metadata": _plain(asset.metadata),
        }
    except (TypeError, ValueError, OverflowError) as error:
        raise _refusal("its size, length or metadata makes no sense", str(error)) from error


def _length(asset: Asset) -> float | None:
    """Return how many seconds a video lasts, as far as the engine knows."""
    if asset.duration_seconds is None:
        return None
    if asset.content_type in IMAGES:
        raise _refusal("a picture has no length", f"duration_seconds={asset.duration_seconds!r}")
    seconds = float(asset.duration_seconds)
    if not 0 <= seconds < math.inf:
        raise ValueError(f"duration_seconds={seconds}")
    return seconds


def _plain(metadata: Mapping[str, Any]) -> Any:
    """Return what an engine tells of its work as JSON has it."""
    if not metadata:
        return {}
    text = orjson.dumps(dict(metadata), option=_TOLERANT)
    if len(text) > _METADATA:
        most = f"{_METADATA // 1000} KB"
        raise _refusal(f"its metadata is longer than {most}", f"it has {len(text):,} bytes")
    return orjson.loads(text)


def _thumbnail(asset: Asset, path: Path, folder: Path, facts: Mapping[str, Any]) -> Path | None:
    """Return the asset's thumbnail, or one that is made of its file where it has none.

    A picture that is small itself goes without.
    """
    if asset.thumbnail is not None:
        found = _inside(asset.thumbnail, folder, "its thumbnail")
        with found.open("rb") as file:
            if found != path and _begins_as(file, "image/jpeg"):
                return found
    if asset.content_type in IMAGES and max(facts["width"], facts["height"]) <= _SMALL:
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
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return digest.hexdigest(), file.tell()


def _refusal(why: str, detail: str) -> EngineError:
    sentence = f"the engine's result cannot be used: {why}"
    return EngineError(sentence, code="bad_result", detail=detail)
