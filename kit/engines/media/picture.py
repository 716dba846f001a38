"""Still pictures, written to a file with a small preview."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cv2
from PIL import Image

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes
from kit.engines.media.scaling import fit_size, resize

#: Format -> (content type, file ending, default quality).
FORMATS = {
    "png": ("image/png", ".png", 100),
    "jpeg": ("image/jpeg", ".jpg", 92),
    "webp": ("image/webp", ".webp", 90),
}
THUMBNAIL_SIDE = 512
_FULL_CHROMA = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444
_HALF_CHROMA = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420
#: One filter for all rows: to try five takes twice the time for a few percent.
_PNG = [cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE]
_PNG += [cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_AVG]


def encode(
    pixels: Bytes, kind: str, *, quality: int | None = None, fine_color: bool = True
) -> bytes:
    """Return a picture encoded in one of `FORMATS`; equal pixels give equal bytes.

    A JPEG has full color resolution unless `fine_color` is off, which makes it a fifth smaller.
    """
    _, ending, usual = FORMATS[kind]
    quality = usual if quality is None else quality
    if kind == "webp":  # OpenCV would take twice the time
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, "WEBP", quality=quality, method=2)
        return buffer.getvalue()
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    options += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, _FULL_CHROMA if fine_color else _HALF_CHROMA]
    code = cv2.COLOR_RGB2BGR if pixels.shape[2] == 3 else cv2.COLOR_RGBA2BGRA
    # OpenCV takes half of Pillow's time for a PNG, and its file is a tenth smaller.
    options = _PNG if kind == "png" else options
    return cv2.imencode(ending, cv2.cvtColor(pixels, code), options)[1].tobytes()


def write_thumbnail(pixels: Bytes, folder: Path, *, side: int = THUMBNAIL_SIDE) -> Path:
    """Write a JPEG of at most `side` pixels a side into a folder, and return its path."""
    pixels = resize(pixels, *fit_size(pixels.shape, side))
    path = folder / "thumbnail.jpg"
    path.write_bytes(encode(pixels, "jpeg", quality=85, fine_color=False))
    return path


#: Share of the progress that is reached when the file is written.
_ENCODED_SHARE = 0.75


def write_still(
    pixels: Bytes,
    job: Job,
    name: str,
    progress: Progress,
    *,
    facts: Mapping[str, Any],
    fine_color: bool = True,
    preview: Callable[[], Bytes] | None = None,
) -> Asset:
    """Write a picture in the format and quality that a job asks for, and its preview.

    It may have alpha as a fourth channel. `name` is the file name without an ending; `facts` are
    the metadata of the asset; `preview` returns the preview's pixels, if they differ. If
    `progress` raises, no file is written.
    """
    kind = job.parameters.get("format", "png")
    quality = job.parameters.get("quality")
    content_type, ending, _ = FORMATS[kind]
    data = encode(pixels, kind, quality=quality, fine_color=fine_color)
    progress.report(_ENCODED_SHARE)
    progress.check()
    path = job.folder / f"{name}{ending}"
    path.write_bytes(data)
    thumbnail = write_thumbnail(preview() if preview else pixels, job.folder)
    progress.report(1.0)
    height, width = pixels.shape[:2]
    return Asset(
        path=path,
        content_type=content_type,
        width=width,
        height=height,
        thumbnail=thumbnail,
        metadata=dict(facts),
    )
