"""Pictures for models that edit some: a painted lake with a balloon over it.

The balloon is there so that a picture has a subject: something to crop to, to cut out, to move
before its background, and to erase.
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.scene.brief import read
from kit.engines.scene.families import paint

#: Pixels of the picture.
SIZE = (1200, 800)
_PROMPT = "a calm mountain lake in the morning, clear sky, summer"
_SEED = 11
#: The balloon's middle and half width, as shares of the picture's height.
_BALLOON = (0.62, 0.40, 0.145)
_STRIPES = ((214, 66, 48), (246, 196, 74))
_BASKET = (112, 74, 46)


def view() -> Bytes:
    """Return the picture, shape (800, 1200, 3), RGB, uint8."""
    return with_balloon(land(), *_BALLOON)


def balloon_mask() -> Bytes:
    """Return the mask of the balloon, shape (800, 1200, 3), white where it is and a little more."""
    cover = _balloon(SIZE[1], SIZE[0], *_BALLOON)[1]
    grown = cv2.dilate((cover > 0.02).astype(np.uint8) * 255, np.ones((13, 13), np.uint8))
    return np.repeat(np.asarray(grown)[..., None], 3, axis=2)


def grainy() -> Bytes:
    """Return the picture at half its size with the noise of a small sensor in poor light."""
    small = cv2.resize(view(), (SIZE[0] // 2, SIZE[1] // 2), interpolation=cv2.INTER_AREA)
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 15, small.shape) + rng.normal(0, 9, (*small.shape[:2], 1))
    return np.asarray(np.clip(small * 0.9 + noise, 0, 255), np.uint8)


def land() -> Bytes:
    """Return the lake without the balloon."""
    return painted(_PROMPT, SIZE[0], _SEED)


@cache
def painted(prompt: str, longer: int, seed: int) -> Bytes:
    """Return a painted scene in the shape 3:2, its longer side as given; do not change it."""
    values = {"aspect_ratio": "3:2", "size": longer, "detail": "standard"}
    return paint(read(prompt, values, seed), Progress())


def with_balloon(pixels: Bytes, x: float, y: float, size: float) -> Bytes:
    """Return a picture with a balloon over it.

    Parameters
    ----------
    x, y, size : float
        Its middle and half of its width, as shares of the picture's height; x from the left.
    """
    height, width = pixels.shape[:2]
    color, cover = _balloon(height, width, x, y, size)
    mixed = pixels + (color - pixels) * cover[..., None]
    return np.asarray(np.clip(mixed + 0.5, 0, 255), np.uint8)


def _balloon(height: int, width: int, x: float, y: float, size: float) -> tuple[Floats, Floats]:
    """Return the balloon's color and how far it covers each pixel."""
    half = size * height
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    u, v = (columns - x * height) / half, (rows - y * height) / half
    edge = 1.4 / half
    narrow = np.where(v > 0, 1 - 0.62 * np.clip(v / 1.25, 0, 1) ** 1.7, 1.0)
    far = np.hypot(u / narrow, np.where(v > 0, v / 1.25, v))
    envelope = np.clip((1 - far) / edge + 0.5, 0, 1)
    depth = np.sqrt(np.clip(1 - far**2, 0, 1))
    turn = np.arcsin(np.clip(u / np.maximum(narrow * np.sqrt(np.clip(1 - v**2 * 0.5, 0.2, 1)), 0.1), -1, 1))
    stripe = (np.floor(turn / np.pi * 9 + 0.5) % 2)[..., None]
    color = np.array(_STRIPES[0]) + (np.array(_STRIPES[1]) - np.array(_STRIPES[0])) * stripe
    light = 0.55 + 0.5 * np.clip(-0.45 * u - 0.35 * v + 0.75 * depth, 0, 1)
    color = color * light[..., None]
    basket = _box(u, v, 0.0, 1.62, 0.15, 0.12, edge)
    ropes = sum(
        np.clip((0.012 + edge / 2 - np.abs(u - side * (0.30 - 0.16 * (v - 1.1) / 0.4))) / edge, 0, 1)
        for side in (-1, 1)
    ) * ((v > 1.1) & (v < 1.52))
    lower = np.clip(ropes, 0, 1) * (1 - envelope)
    color = np.where((np.maximum(basket, lower) > envelope)[..., None], np.array(_BASKET), color)
    cover = np.maximum(envelope, np.maximum(basket, lower))
    return np.asarray(color, np.float32), np.asarray(cover, np.float32)


def _box(u: Floats, v: Floats, x: float, y: float, wide: float, high: float, edge: float) -> Floats:
    far = np.maximum(np.abs(u - x) - wide, np.abs(v - y) - high)
    return np.asarray(np.clip(0.5 - far / edge, 0, 1), np.float32)
