"""Pictures for picture editors: a painted lake with a balloon over it.

The balloon provides a subject: to crop to, to cut out, to move before its background, and to
erase.
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.families import paint
from kit.engines.prompt.reading import read

_SIZE = (1200, 800)
#: The balloon's center and half width, as shares of the picture's height.
_BALLOON = (0.62, 0.40, 0.145)
_STRIPES = np.array([(214, 66, 48), (246, 196, 74)], np.float32)
_BASKET = (112, 74, 46)


@cache
def paint_place(prompt: str, longer: int, seed: int) -> Bytes:
    """Return a painted scene of aspect 3:2, its longer side as given; read-only."""
    values = {"aspect_ratio": "3:2", "size": longer, "detail": "standard"}
    return paint(read(prompt, values, seed), Progress()).pixels()


def paint_lake() -> Bytes:
    """Return the lake without the balloon, shape (800, 1200, 3), RGB; read-only."""
    return paint_place("a mountain lake at noon, clear sky, summer", _SIZE[0], 8)


def draw_lake() -> Bytes:
    """Return the lake with the balloon."""
    return add_balloon(paint_lake(), *_BALLOON)


def draw_mask() -> Bytes:
    """Return the mask of the balloon, white there and slightly beyond."""
    x, y, size = (share * _SIZE[1] for share in _BALLOON)
    cover = _balloon(*_SIZE, x, y, size)[1]
    grown = cv2.dilate((cover > 0.02).astype(np.uint8) * 255, np.ones((13, 13), np.uint8))
    return np.repeat(np.asarray(grown)[..., None], 3, axis=2)


def draw_small(share: float = 0.25) -> Bytes:
    """Return the lake with the balloon at a share of its size."""
    small = cv2.resize(draw_lake(), None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return np.asarray(small)


def draw_grainy() -> Bytes:
    """Return the lake at half its size with the noise of a small sensor in low light."""
    half = draw_small(0.5)
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 10, half.shape) + rng.normal(0, 7, (*half.shape[:2], 1))
    return np.asarray(np.clip(half * 0.9 + noise, 0, 255), np.uint8)


def add_balloon(pixels: Bytes, x: float, y: float, size: float) -> Bytes:
    """Return a picture with a balloon: center and half width in shares of the picture's height."""
    height, width = pixels.shape[:2]
    half = size * height
    left, right = (round(np.clip(x * height + side * 1.1 * half, 0, width)) for side in (-1, 1))
    top, bottom = (round(np.clip(y * height + far * half, 0, height)) for far in (-1.1, 1.9))
    color, cover = _balloon(right - left, bottom - top, x * height - left, y * height - top, half)
    out = pixels.copy()
    part = out[top:bottom, left:right]
    part[:] = np.clip(part + (color - part) * cover[..., None] + 0.5, 0, 255)
    return out


def _balloon(width: int, height: int, x: float, y: float, half: float) -> tuple[Floats, Floats]:
    """Return a balloon's color and coverage of each pixel; all lengths in pixels."""
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    u, v, edge = (columns - x) / half, (rows - y) / half, 1.4 / half
    narrow = 1 - 0.62 * np.clip(v / 1.25, 0, 1) ** 1.7
    far = np.hypot(u / narrow, np.where(v > 0, v / 1.25, v))
    envelope = np.clip((1 - far) / edge + 0.5, 0, 1)
    girth = narrow * np.sqrt(np.clip(1 - v**2 * 0.5, 0.2, 1))
    turn = np.arcsin(np.clip(u / girth, -1, 1))
    share = np.clip(0.5 + 5 * np.sin(turn * 9), 0, 1)[..., None]
    depth = np.sqrt(np.clip(1 - far**2, 0, 1))
    light = 0.55 + 0.5 * np.clip(-0.45 * u - 0.35 * v + 0.75 * depth, 0, 1)
    color = (_STRIPES[0] + (_STRIPES[1] - _STRIPES[0]) * share) * light[..., None]
    basket = np.clip(0.5 - np.maximum(np.abs(u) - 0.15, np.abs(v - 1.62) - 0.12) / edge, 0, 1)
    aside = np.abs(np.abs(u) - 0.30 + 0.4 * (v - 1.1))
    ropes = np.clip((0.012 + edge / 2 - aside) / edge, 0, 1) * ((v > 1.1) & (v < 1.52))
    below = np.maximum(basket, ropes * (1 - envelope))
    color = np.where((below > envelope)[..., None], np.array(_BASKET), color)
    return np.asarray(color, np.float32), np.asarray(np.maximum(envelope, below), np.float32)
