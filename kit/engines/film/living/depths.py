"""Depths: how far away each part of a painted scene is, guessed from what families have in common.

Painters hand out pixels, not depth. A guess that is smooth and roughly right moves well; one that
is sharp and wrong tears.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

_SIDE = 192
_EVEN = 2  # steps of 8 bits between neighbors within a sky

#: From a small picture and its sky, 0 to 1 each, to a depth of the same size.
Guess: TypeAlias = Callable[[Floats, Floats], Floats]


def small(pixels: Bytes) -> Bytes:
    """Return a picture at the size at which depth is guessed."""
    scale = _SIDE / max(pixels.shape[:2])
    return np.asarray(cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))


def sky_of(picture: Bytes, ground: float = 1.0) -> Floats:
    """Return where there is sky, 0 to 1: what runs evenly from the upper edge, and what is in it.

    Parameters
    ----------
    picture : ndarray of uint8
        A small one, see `small`.
    ground : float
        Share of the height below which there is none: water mirrors the sky, and haze runs evenly
        down to it.
    """
    height, width = picture.shape[:2]
    soft = cv2.GaussianBlur(picture, (0, 0), 1.6)
    reached = np.zeros((height + 2, width + 2), np.uint8)
    stop = 1 + max(2, round(ground * height))
    reached[stop:] = 1  # what is marked already is not flooded
    flags = 4 | cv2.FLOODFILL_MASK_ONLY | (1 << 8)
    for column in range(1, width, 6):
        if not reached[2, column + 1]:
            steps = (_EVEN,) * 3
            cv2.floodFill(soft, reached, (column, 1), 0, steps, steps, flags)
    reached[stop:] = 0
    other = 1 - reached[1:-1, 1:-1]
    # Land comes up from below; what floats in the sky, like a sun or a cloud, belongs to it.
    count, labels = cv2.connectedComponents(other, connectivity=4)
    grounded = np.zeros(count, np.uint8)
    grounded[np.unique(labels[-1])] = 1
    grounded[0] = 0
    land = grounded[labels]
    return np.asarray(1.0 - cv2.GaussianBlur(land.astype(np.float32), (0, 0), 0.8))


def depth_of(family: str, picture: Bytes, sky: Floats) -> Floats:
    """Return the depth of a small picture, 0 for far and 1 for near."""
    luma = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    return np.asarray(np.clip(_GUESSES.get(family, _open)(luma, sky), 0.0, 1.0), np.float32)


def horizon_of(sky: Floats) -> float:
    """Return how far down the land begins, as a share of the height."""
    rows = (sky > 0.5).sum(axis=0)
    return float(np.clip(np.median(rows) / sky.shape[0], 0.15, 0.75))


def _open(luma: Floats, sky: Floats) -> Floats:
    """Land that comes toward the viewer from a skyline."""
    height, width = luma.shape
    down = np.linspace(0.0, 1.0, height, dtype=np.float32)[:, None]
    start = horizon_of(sky)
    ramp = np.clip((down - start) / (1.0 - start), 0.0, 1.0) ** 0.85
    # What stands out dark against the haze is nearer than what lies behind it.
    haze = cv2.GaussianBlur(luma, (0, 0), 4.0)
    dark = smooth_step(0.36, 0.10, haze) * 0.35
    land = 0.12 + 0.80 * ramp + dark * (1.0 - ramp)
    return np.asarray(np.where(sky > 0.5, 0.03, land), np.float32) + np.zeros(
        (1, width), np.float32
    )


def _wood(luma: Floats, sky: Floats) -> Floats:
    """Trunks in haze: the paler, the farther; the ground comes toward the viewer."""
    height = luma.shape[0]
    pale = cv2.GaussianBlur(luma, (0, 0), 2.5)
    low, high = np.percentile(pale, (5, 95))
    near = 1.0 - np.clip((pale - low) / max(0.1, high - low), 0.0, 1.0)
    down = np.linspace(0.0, 1.0, height, dtype=np.float32)[:, None]
    return np.asarray(0.12 + 0.5 * near + 0.4 * smooth_step(0.55, 1.0, down))


def _street(luma: Floats, sky: Floats) -> Floats:
    """Walls and ground that meet in one point: the farther from it, the nearer to the viewer."""
    height, width = luma.shape
    across = np.linspace(-1.0, 1.0, width, dtype=np.float32)[None]
    down = np.linspace(-0.9, 1.1, height, dtype=np.float32)[:, None]
    return np.asarray(0.05 + 0.85 * np.clip(np.maximum(np.abs(across), np.abs(down)), 0.0, 1.0))


def _cosmos(luma: Floats, sky: Floats) -> Floats:
    """Large bright bodies hang before the stars."""
    bodies = cv2.GaussianBlur(cv2.medianBlur((luma * 255).astype(np.uint8), 5), (0, 0), 5.0)
    share = bodies.astype(np.float32) / max(40.0, float(bodies.max()))
    return np.asarray(0.12 + 0.65 * share)


def _flat(luma: Floats, sky: Floats) -> Floats:
    return np.full_like(luma, 0.5)


_GUESSES: dict[str, Guess] = {
    "forest": _wood,
    "city": _street,
    "space": _cosmos,
    "liquid": _flat,
    "flow": _flat,
}
