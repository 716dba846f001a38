"""What a job gives: a picture as its file, with a preview beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes
from kit.engines.media.picture import FORMATS, encoded, write_thumbnail

#: Part of the work that is done when the file is written.
_ENCODED = 0.75


def still(
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

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), sRGB, or with alpha as a fourth channel.
    name : str
        Of the file, without an ending.
    facts : mapping
        The metadata of the asset.
    fine_color : bool
        See `kit.engines.media.picture.encoded`.
    preview : callable, optional
        Returns what the preview shows, where that is something else than the picture.

    Raises
    ------
    CanceledError
        Raised by `progress`; there is no file then.
    """
    kind = job.parameters.get("format", "png")
    quality = job.parameters.get("quality")
    content_type, ending, _, _ = FORMATS[kind]
    told = progress.part(0.0, _ENCODED).report
    data = encoded(pixels, kind, quality=quality, fine_color=fine_color, told=told)
    progress.report(_ENCODED)
    progress.check()  # whoever leaves now finds no file
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
