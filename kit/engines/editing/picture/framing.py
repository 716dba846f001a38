"""How a picture is reframed: cropped, laid over a blurred copy, or stretched at its edges."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.grading import finished, flat, source
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.stills import Still
from kit.engines.media.subject import find
from kit.engines.sizes import longest_side

_SMALL = 160  # pixels a side of the copy that is blurred
_DIM = 0.72  # brightness of the blurred copy: the picture stays the lightest thing
_SHADOW = 0.012  # reach of the shadow around the picture, of the longer side
_KEPT = 2.2  # how much of the middle keeps its proportions; larger keeps more


def reframe(job: Job, progress: Progress) -> Asset:
    """Render a job of the reframe model."""
    progress.report(0.0)
    values = job.parameters
    width, height = longest_side(values["aspect_ratio"], values["size"])
    still = source(job)
    # On white where it is see-through: what is hidden there must not bleed into edges.
    still = Still(flat(still), still.alpha)
    progress.report(0.3)
    framed = _MODES[values["mode"]](still, width, height)
    progress.report(0.8)
    facts = {"mode": values["mode"]}
    return finished(job, progress, "reframe", framed.pixels, alpha=framed.alpha, facts=facts)


def scaled(pixels: Bytes, width: int, height: int) -> Bytes:
    """Return a picture in a size, by area when it shrinks."""
    shrinks = width < pixels.shape[1]
    kind = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=kind))


def _crop(still: Still, width: int, height: int) -> Still:
    x, y, wide, high = find(still.pixels).window(width / height)
    place = (slice(y, y + high), slice(x, x + wide))
    return _each(still, lambda plane: scaled(plane[place], width, height))


def _each(still: Still, work: Callable[[Bytes], Bytes]) -> Still:
    """Return a picture whose pixels and alpha went the same way."""
    return Still(work(still.pixels), None if still.alpha is None else work(still.alpha))


def _blurred_fill(still: Still, width: int, height: int) -> Still:
    pixels = still.pixels
    rows, columns = pixels.shape[:2]
    scale = min(width / columns, height / rows)
    inner = scaled(pixels, max(1, round(columns * scale)), max(1, round(rows * scale)))
    frame = _blurred(pixels, width, height)
    top, left = (height - inner.shape[0]) // 2, (width - inner.shape[1]) // 2
    place = (slice(top, top + inner.shape[0]), slice(left, left + inner.shape[1]))
    shade = np.full((height, width), 255, np.uint8)
    shade[place] = 140
    shade = _softened(shade, max(1.0, _SHADOW * max(width, height)))
    frame = cv2.multiply(frame, cv2.merge([shade, shade, shade]), scale=1 / 255)
    frame[place] = inner
    return Still(np.asarray(frame))


def _softened(gray: Bytes, sigma: float) -> Bytes:
    """Return a picture blurred; a wide blur is done at a reduced size, where it costs little."""
    height, width = gray.shape
    step = max(1, int(sigma / 4))
    small = cv2.resize(gray, (-(-width // step), -(-height // step)), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / step)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC))


def _blurred(pixels: Bytes, width: int, height: int) -> Bytes:
    """Return the picture, covering a frame, too soft to compete with what lies on it."""
    small = _SMALL / max(width, height)
    size = (max(8, round(width * small)), max(8, round(height * small)))
    rows, columns = pixels.shape[:2]
    wide = min(columns, max(1, round(rows * width / height)))
    tall = min(rows, max(1, round(columns * height / width)))
    top, left = (rows - tall) // 2, (columns - wide) // 2
    middle = pixels[top : top + tall, left : left + wide]
    tiny = cv2.resize(middle, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    tiny = cv2.GaussianBlur(tiny, (0, 0), 0.04 * _SMALL, borderType=cv2.BORDER_REFLECT)
    tiny = cv2.transform(tiny, _DIM * _livelier(1.15))
    large = cv2.resize(tiny, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.rint(large).clip(0, 255), np.uint8)


def _livelier(amount: float) -> Floats:
    gray = np.tile(np.array([0.299, 0.587, 0.114], np.float32), (3, 1))
    return np.asarray(amount * np.eye(3) + (1 - amount) * gray, np.float32)


def _stretch(still: Still, width: int, height: int) -> Still:
    return _each(still, lambda plane: _stretched(plane, width, height))


def _stretched(pixels: Bytes, width: int, height: int) -> Bytes:
    rows, columns = pixels.shape[:2]
    scale = min(width / columns, height / rows)
    # One of the two sides fits now; the lookup only bends the other.
    inner = scaled(pixels, max(1, round(columns * scale)), max(1, round(rows * scale)))
    across = _lookup(width, inner.shape[1])
    down = _lookup(height, inner.shape[0])
    map_x = np.repeat(across[None, :], height, axis=0)
    map_y = np.repeat(down[:, None], width, axis=1)
    border = cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(inner, map_x, map_y, cv2.INTER_CUBIC, borderMode=border))


def _lookup(length: int, there: int) -> Floats:
    """Return for each pixel of a longer side where it lies on a shorter one.

    Near the middle a step is a step; towards the ends it shrinks, which stretches the picture.
    """
    at = (np.arange(length) + 0.5) / length * 2.0 - 1.0
    share = min(1.0, there / length)
    power = max(1.0, min(_KEPT, 0.92 / max(1.0 - share, 1e-6)))
    bent = np.abs(at) - (1.0 - share) * np.abs(at) ** power
    return np.asarray((np.sign(at) * bent / share + 1.0) / 2.0 * there - 0.5, np.float32)


_MODES: dict[str, Callable[[Still, int, int], Still]] = {
    "smart_crop": _crop,
    "blurred_fill": _blurred_fill,
    "stretch_edges": _stretch,
}
