"""How a picture is reframed: cropped, laid over a blurred copy, or stretched at its edges."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.attending import attended
from kit.engines.editing.picture.files import finished, flat, scaled, source
from kit.engines.editing.picture.restyling import color_matrix
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.subject import find
from kit.engines.sizes import longest_side

_SMALL = 160  # pixels a side of the copy that is blurred
_DIM = 0.72  # brightness of the blurred copy: the picture stays the lightest thing
_SHADOW = 0.012  # reach of the shadow around the picture, of the longer side
_KEPT = 2.2  # how much of the middle keeps its proportions; larger keeps more


@attended
def reframe(job: Job, progress: Progress) -> Asset:
    """Render a job of the reframe model."""
    progress.report(0.0)
    mode = job.parameters["mode"]
    width, height = longest_side(job.parameters["aspect_ratio"], job.parameters["size"])
    still = source(job)
    # On white where it is see-through: what is hidden there must not bleed into edges.
    pixels, alpha = flat(still), still.alpha
    progress.report(0.3)
    if mode == "blurred_fill":
        pixels, alpha = _filled(pixels, width, height), None
    else:
        work = _cropping(pixels, width / height) if mode == "smart_crop" else _stretched
        pixels = work(pixels, width, height)
        alpha = None if alpha is None else work(alpha, width, height)
    progress.report(0.8)
    return finished(job, progress, "reframe", pixels, alpha=alpha, facts={"mode": mode})


def _cropping(pixels: Bytes, aspect: float) -> Callable[[Bytes, int, int], Bytes]:
    x, y, wide, high = find(pixels).window(aspect)
    return lambda plane, *size: scaled(plane[y : y + high, x : x + wide], *size)


def _filled(pixels: Bytes, width: int, height: int) -> Bytes:
    """Return the whole picture over a dim blurred copy of itself that covers the frame."""
    rows, columns = pixels.shape[:2]
    scale = min(width / columns, height / rows)
    inner = scaled(pixels, max(1, round(columns * scale)), max(1, round(rows * scale)))
    wide = min(columns, max(1, round(rows * width / height)))
    tall = min(rows, max(1, round(columns * height / width)))
    top, left = (rows - tall) // 2, (columns - wide) // 2
    small = _SMALL / max(width, height)
    size = (max(8, round(width * small)), max(8, round(height * small)))
    middle = pixels[top : top + tall, left : left + wide]
    tiny = cv2.resize(middle, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    tiny = cv2.GaussianBlur(tiny, (0, 0), 0.04 * _SMALL, borderType=cv2.BORDER_REFLECT)
    tiny = cv2.transform(tiny, _DIM * color_matrix(1.15))
    # The shadow around the picture is as soft: it is drawn in the small copy too.
    shade = np.full(size[::-1], 1.0, np.float32)
    across, down = inner.shape[1] * size[0] / width / 2, inner.shape[0] * size[1] / height / 2
    box = ((size[0] / 2, size[1] / 2), (2 * across, 2 * down), 0)
    cv2.fillPoly(shade, [np.rint(cv2.boxPoints(box)).astype(np.int32)], 0.55)
    tiny *= cv2.GaussianBlur(shade, (0, 0), max(0.8, _SHADOW * _SMALL))[..., None]
    frame = cv2.resize(tiny, (width, height), interpolation=cv2.INTER_CUBIC)
    frame = np.rint(frame.clip(0, 255)).astype(np.uint8)
    top, left = (height - inner.shape[0]) // 2, (width - inner.shape[1]) // 2
    frame[top : top + inner.shape[0], left : left + inner.shape[1]] = inner
    return np.asarray(frame)


def _stretched(pixels: Bytes, width: int, height: int) -> Bytes:
    rows, columns = pixels.shape[:2]
    scale = min(width / columns, height / rows)
    # One of the two sides fits now; the lookup only bends the other.
    inner = scaled(pixels, max(1, round(columns * scale)), max(1, round(rows * scale)))
    across = np.tile(_lookup(width, inner.shape[1]), (height, 1))
    down = np.tile(_lookup(height, inner.shape[0])[:, None], (1, width))
    border = cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(inner, across, down, cv2.INTER_CUBIC, borderMode=border))


def _lookup(length: int, there: int) -> Floats:
    """Return for each pixel of a longer side where it lies on a shorter one.

    Near the middle a step is a step; towards the ends it shrinks, which stretches the picture.
    """
    at = (np.arange(length) + 0.5) / length * 2.0 - 1.0
    share = min(1.0, there / length)
    power = max(1.0, min(_KEPT, 0.92 / max(1.0 - share, 1e-6)))
    bent = np.abs(at) - (1.0 - share) * np.abs(at) ** power
    return np.asarray((np.sign(at) * bent / share + 1.0) / 2.0 * there - 0.5, np.float32)
