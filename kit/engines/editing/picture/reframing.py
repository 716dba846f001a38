"""Reframing: cropping, placing over a blurred copy, or stretching at the edges."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.edit_thread import keep_reporting
from kit.engines.editing.picture.files import read_picture, write_result
from kit.engines.editing.picture.restyling import color_matrix
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.scaling import resize
from kit.engines.media.subject import find
from kit.engines.sizes import longest_side

_SIDE = 160  # pixels a side of the blurred copy
_COPY_LIGHT = 0.72  # brightness of the blurred copy: the picture stays brighter
_SHADOW_RADIUS = 0.012  # radius of the shadow around the picture, of the longer side
_KEPT_MIDDLE = 2.2  # how much of the middle keeps its proportions; larger keeps more


@keep_reporting
def reframe(job: Job, progress: Progress) -> Asset:
    """Render a job of the reframe model."""
    progress.report(0.0)
    mode = job.parameters["mode"]
    width, height = longest_side(job.parameters["aspect_ratio"], job.parameters["size"])
    # Shown whole, it need not cover the longer side.
    fit = (width, 1) if width < height else (1, height)
    still = read_picture(job, cover=(width, height) if mode == "smart_crop" else fit)
    # Composited over white: hidden pixels must not bleed into edges.
    pixels, alpha = still.flatten(), still.alpha
    progress.report(0.3)
    if mode == "blurred_fill":
        pixels, alpha = _lay_over_blur(pixels, width, height), None
    else:
        work = _stretch
        if mode == "smart_crop":
            x, y, wide, high = find(pixels).window(width / height)
            rows, columns, work = slice(y, y + high), slice(x, x + wide), resize
            pixels, alpha = pixels[rows, columns], None if alpha is None else alpha[rows, columns]
        pixels = work(pixels, width, height)
        alpha = None if alpha is None else work(alpha, width, height)
    progress.report(0.8)
    return write_result(job, progress, "reframe", pixels, alpha=alpha, facts={"mode": mode})


def _lay_over_blur(pixels: Bytes, width: int, height: int) -> Bytes:
    """Return the whole picture over a dim blurred copy of itself that covers the frame."""
    rows, columns = pixels.shape[:2]
    scale = min(width / columns, height / rows)
    inner = resize(pixels, max(1, round(columns * scale)), max(1, round(rows * scale)))
    tall, wide = inner.shape[:2]
    top, left = (height - tall) // 2, (width - wide) // 2
    # The picture's shadow is as soft as the copy: both are drawn small.
    share = _SIDE / max(width, height)
    size = max(8, round(width * share)), max(8, round(height * share))
    part = np.rint([tall * width / height, wide * height / width])
    part = part.clip(1, (wide, tall)).astype(int).tolist()
    tiny = resize(cv2.getRectSubPix(inner, part, ((wide - 1) / 2, (tall - 1) / 2)), *size)
    tiny = cv2.GaussianBlur(np.float32(tiny), (0, 0), 0.04 * _SIDE, borderType=cv2.BORDER_REFLECT)
    tiny = cv2.transform(tiny, _COPY_LIGHT * color_matrix(1.15))
    shade = np.full(size[::-1], 1.0, np.float32)
    box = (round(left * share), round(top * share), round(wide * share), round(tall * share))
    cv2.rectangle(shade, box, 0.55, -1)
    tiny *= cv2.GaussianBlur(shade, (0, 0), max(0.8, _SHADOW_RADIUS * _SIDE))[..., None]
    tiny = cv2.convertScaleAbs(np.maximum(tiny, 0.0))
    frame = cv2.resize(tiny, (width, height), interpolation=cv2.INTER_CUBIC)
    frame[top : top + tall, left : left + wide] = inner
    return np.asarray(frame)


def _stretch(pixels: Bytes, width: int, height: int) -> Bytes:
    rows, columns = pixels.shape[:2]
    scale = min(width / columns, height / rows)
    # One of the two sides fits now; the remap only changes the other.
    inner = resize(pixels, max(1, round(columns * scale)), max(1, round(rows * scale)))
    across = np.tile(_bend(width, inner.shape[1]), (height, 1))
    down = np.tile(_bend(height, inner.shape[0])[:, None], (1, width))
    border = cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(inner, across, down, cv2.INTER_CUBIC, borderMode=border))


def _bend(length: int, there: int) -> Floats:
    """Return for each pixel of a longer side its position on a shorter one.

    Near the middle the scale is 1; towards the ends it falls, which stretches the picture.
    """
    at = (np.arange(length) + 0.5) / length * 2.0 - 1.0
    share = min(1.0, there / length)
    power = max(1.0, min(_KEPT_MIDDLE, 0.92 / max(1.0 - share, 1e-6)))
    bent = np.abs(at) - (1.0 - share) * np.abs(at) ** power
    return np.asarray((np.sign(at) * bent / share + 1.0) / 2.0 * there - 0.5, np.float32)
