"""Input and output pictures: opening, masks, compositing, writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes
from kit.engines.media.picture import THUMBNAIL_SIDE, write_still
from kit.engines.media.scaling import fit_size, resize
from kit.engines.media.stills import Still, info_of, open_still, scale_down
from kit.engines.prompt.colors import no_color, rgb_of
from kit.engines.sizes import MAX_SIDE
from kit.errors import EngineError

_MAX_DIFFERENCE = 0.02  # maximum difference between the aspects of a mask and its picture


def read_picture(
    job: Job,
    name: str = "image",
    *,
    side: int = MAX_SIDE,
    clear: int | None = None,
    cover: tuple[int, int] | None = None,
) -> Still:
    """Return an input picture, upright and at most `side` pixels a side; with alpha if `clear`."""
    files = job.media.get(name)
    if not files:
        raise EngineError(f"this needs a picture as {name!r}", code="medium_missing")
    still = open_still(files[0], side=side, cover=cover)
    return still if clear is None or still.alpha is None else scale_down(still, clear)


def read_mask(job: Job, shape: tuple[int, int], shares: tuple[float, float], where: str) -> Bytes:
    """Return 255 where the input "mask" marks something and 0 elsewhere, in a picture's shape.

    A mask that covers too little or too much (`shares`) is refused; it must be white `where`.
    """
    given, (height, width) = read_picture(job, "mask"), shape
    tall, wide = given.pixels.shape[:2]
    if abs(wide / tall / (width / height) - 1.0) > _MAX_DIFFERENCE:
        mask_of, picture = (info_of(job.media[name][0]) for name in ("mask", "image"))
        raise EngineError(
            f"the mask of {mask_of.width} x {mask_of.height} pixels has another shape than the"
            f" picture of {picture.width} x {picture.height}",
            code="mask_shape",
        )
    # Red or blue paint counts as well.
    dark = cv2.inRange(resize(given.flatten(0), width, height), (0, 0, 0), (127, 127, 127))
    mask = cv2.bitwise_not(dark, dst=dark)
    share = cv2.countNonZero(mask) / mask.size
    if shares[0] < share < shares[1]:
        return np.asarray(mask)
    sentence = f"the mask covers {share:.0%} of the picture; it must be white {where}"
    if share > shares[0]:
        sentence += f", on less than {shares[1]:.0%}: invert the mask if black marks it"
    elif given.alpha is not None:
        sentence += ", and transparent parts count as black"
    raise EngineError(sentence, code="mask_full" if share > shares[0] else "mask_empty")


def write_result(
    job: Job,
    progress: Progress,
    name: str,
    pixels: Bytes,
    *,
    alpha: Bytes | None = None,
    facts: Mapping[str, Any] | None = None,
    fine: bool = False,
) -> Asset:
    """Write the result, composited over white if a jpeg needs it, and its preview.

    A jpeg has full color resolution, unless the input's was half and it need not be `fine`.
    Metadata include the input's original size, and whether only its first frame was used.
    """
    facts, picture = {**(facts or {})}, pixels
    if alpha is not None:
        if job.parameters["format"] == "jpeg":
            picture = Still(pixels, alpha).flatten()
        else:  # a ninth of NumPy's time
            picture = cv2.insertChannel(alpha, cv2.cvtColor(pixels, cv2.COLOR_RGB2RGBA), 3)
    if job.media.get("image"):
        found = info_of(job.media["image"][0])
        facts["from"] = [found.width, found.height]
        fine = fine or not found.coarse or pixels.shape[1] < found.width
        if found.frames > 1:
            facts["used"] = f"the first of {found.frames} pictures"
    progress.check()
    last, preview = progress.part(0.9, 1.0), lambda: _preview(pixels, alpha)
    return write_still(picture, job, name, last, facts=facts, fine_color=fine, preview=preview)


def _preview(pixels: Bytes, alpha: Bytes | None) -> Bytes:
    if alpha is None:
        return np.ascontiguousarray(pixels)
    size = fit_size(alpha.shape, THUMBNAIL_SIDE)
    small, cover = (resize(part, *size) for part in (pixels, alpha))
    rows, columns = np.ogrid[0 : size[1], 0 : size[0]]
    side = max(16, max(size) // 32)
    light = np.where((rows // side + columns // side) % 2, np.uint8(205), np.uint8(235))
    return composite(cv2.merge([light] * 3), np.asarray(small), np.asarray(cover))


def composite(below: Bytes, above: Bytes, alpha: Bytes) -> Bytes:
    """Return one picture composited over another; `alpha` has shape (height, width)."""
    cover = cv2.merge([alpha] * 3)
    out = cv2.multiply(above, cover, scale=1 / 255)
    rest = cv2.multiply(below, cv2.bitwise_not(cover, dst=cover), dst=cover, scale=1 / 255)
    return np.asarray(cv2.add(out, rest, dst=out))


def row_bands(height: int, rows: int, overlap: int = 0) -> Iterator[tuple[slice, slice, slice]]:
    """Yield a picture's rows in bands, so that long work can report progress and be stopped.

    Each is the rows to read, with `overlap` more on both sides, to write, and their part of those.
    """
    for top in range(0, height, rows):
        bottom = min(height, top + rows)
        first, last = max(0, top - overlap), min(height, bottom + overlap)
        yield slice(first, last), slice(top, bottom), slice(top - first, bottom - first)


def color_of(text: str) -> tuple[int, int, int]:
    """Return the color of a CSS name or a hexadecimal number."""
    color = rgb_of(text)
    if color is None:
        raise EngineError(no_color(text), code="unknown_color")
    return color
