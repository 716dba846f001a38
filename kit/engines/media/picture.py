"""Still pictures: pixels become a file, and a small preview beside it."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import cv2
from PIL import Image

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes

#: Format -> (content type, file ending, how Pillow calls it, how it is asked to write).
FORMATS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "png": ("image/png", ".png", "PNG", {"compress_level": 3}),
    "jpeg": ("image/jpeg", ".jpg", "JPEG", {"quality": 92}),
    "webp": ("image/webp", ".webp", "WEBP", {"quality": 90, "method": 2}),
}
THUMBNAIL_SIDE = 512
_FINE = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444
_COARSE = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420
_Report: TypeAlias = Callable[[float], object]


class _ReportingFile(io.BytesIO):
    """A file in memory that reports how far it has grown whenever something is written to it."""

    def __init__(self, report: _Report, most: int) -> None:
        super().__init__()
        self._report, self._most = report, most

    def write(self, data: Any, /) -> int:
        """Write, and return how many bytes."""
        self._report(min(1.0, self.tell() / self._most))
        return super().write(data)


def encode(
    pixels: Bytes,
    kind: str,
    *,
    quality: int | None = None,
    fine_color: bool = True,
    on_write: _Report = lambda _: None,
) -> bytes:
    """Return a picture as the bytes of a file of one of `FORMATS`; equal pixels give equal bytes.

    Parameters
    ----------
    quality : int, optional
        1 to 100, for formats that lose detail.
    fine_color : bool
        Whether a JPEG keeps color as fine as light; at half of it, it is a fifth smaller.
    on_write : callable, optional
        Called with how much has been written of what it may be at most, 0 to 1, where a format is
        written bit by bit; what it raises ends the writing.
    """
    _, _, name, options = FORMATS[kind]
    if quality is not None and "quality" in options:
        options = {**options, "quality": quality}
    if kind == "jpeg":
        # OpenCV writes the bytes that Pillow would, in three quarters of its time.
        factor = _FINE if fine_color else _COARSE
        asked = [cv2.IMWRITE_JPEG_QUALITY, options["quality"]]
        asked += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factor]
        _, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), asked)
        return data.tobytes()
    buffer = _ReportingFile(on_write, pixels.nbytes)
    Image.fromarray(pixels).save(buffer, name, **options)
    return buffer.getvalue()


def write_thumbnail(pixels: Bytes, folder: Path, *, side: int = THUMBNAIL_SIDE) -> Path:
    """Write a JPEG of at most `side` pixels a side into a folder, and return its path."""
    height, width = pixels.shape[:2]
    scale = min(1.0, side / max(height, width))
    if scale < 1.0:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    path = folder / "thumbnail.jpg"
    path.write_bytes(encode(pixels, "jpeg", quality=85, fine_color=False))
    return path


#: Part of the work that is done when the file is written.
_ENCODED = 0.75


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
    """Write a picture in the format and the quality that a job asks for, and its preview.

    It may have alpha as a fourth channel. `name` is the file's, without an ending; `facts` are the
    metadata of the asset; `preview` returns what the preview shows, where that is something else.
    Where `progress` raises there is no file.
    """
    kind = job.parameters.get("format", "png")
    quality = job.parameters.get("quality")
    content_type, ending, _, _ = FORMATS[kind]
    report = progress.part(0.0, _ENCODED).report
    data = encode(pixels, kind, quality=quality, fine_color=fine_color, on_write=report)
    progress.report(_ENCODED)
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
