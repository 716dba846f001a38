"""Stars: thousands of points by a power law of brightness, and a few with a lens's spikes."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import gradient, light

#: From cool to hot.
_COLORS: list[tuple[float, Oklch]] = [
    (0.0, (0.80, 0.11, 50)),
    (0.35, (0.93, 0.05, 80)),
    (0.6, (0.98, 0.01, 200)),
    (1.0, (0.86, 0.085, 262)),
]


def field_of_stars(rng: np.random.Generator, hidden: Plane, amount: float) -> Plane:
    """Return the light of a field of stars, shape (3, height, width).

    Parameters
    ----------
    hidden : ndarray of float32
        Share of the starlight that something in front takes away, 0 to 1.
    amount : float
        1 for a clear night, 2 for the middle of the Milky Way.
    """
    height, width = hidden.shape
    size = max(height, width)
    # Counted by the frame, not by the pixel: a larger picture shows the same sky, sharper.
    count = int(5200 * amount * height * width / size**2)
    x, y = (rng.random((2, count)) * ((width,), (height,))).astype(np.int64)
    bright = np.minimum(rng.pareto(1.3, count) * 0.04 + 0.015, 3.5).astype(np.float32)
    bright *= 1.0 - 0.93 * hidden[y, x]
    color = gradient(_COLORS, rng.beta(1.6, 1.4, count)) * bright
    scale = (size / 1024) ** 1.5
    return np.stack([_spread(plane, (x, y), (height, width), scale) for plane in color])


def _spread(
    bright: Plane,
    at: tuple[NDArray[np.int64], NDArray[np.int64]],
    shape: tuple[int, int],
    scale: float,
) -> Plane:
    """Return points of light as small discs, the brightest with a halo."""
    plane = np.zeros(shape, np.float32)
    np.add.at(plane, (at[1], at[0]), bright)
    reach = max(shape) / 1024
    halo = cv2.GaussianBlur(np.maximum(plane - 0.5, 0.0), (0, 0), 2.2 * reach)
    sharp = cv2.GaussianBlur(plane, (0, 0), 0.45 + 0.28 * reach)
    return np.asarray(sharp * np.float32(3.4 * scale) + halo * np.float32(4.0 * scale))


def add_flares(
    rng: np.random.Generator, picture: Plane, count: int, *, strongest: float = 1.0
) -> None:
    """Add stars so bright that the lens draws spikes around them."""
    height, width = picture.shape[1:]
    for _ in range(count):
        warm = rng.random() < 0.35
        color = light((0.92, 0.07 * rng.random(), 65.0 if warm else 258.0))
        at = (rng.uniform(0.02, 0.98) * width, rng.uniform(0.02, 0.98) * height)
        scale = (0.22 + 0.9 * rng.random() ** 3.5 * strongest) * max(height, width) / 1024
        add_flare(picture, at, scale, color * np.float32(0.9))


def add_flare(picture: Plane, at: tuple[float, float], scale: float, color: Plane) -> None:
    """Add one star with a halo and four spikes; at scale 1 the spikes are about 60 pixels long."""
    height, width = picture.shape[1:]
    reach = int(90 * scale) + 2
    left, right = max(0, int(at[0]) - reach), min(width, int(at[0]) + reach + 1)
    top, bottom = max(0, int(at[1]) - reach), min(height, int(at[1]) + reach + 1)
    if left >= right or top >= bottom:
        return
    y, x = np.ogrid[top:bottom, left:right]
    dx = np.abs(x - at[0]).astype(np.float32) / scale
    dy = np.abs(y - at[1]).astype(np.float32) / scale
    far = np.sqrt(dx * dx + dy * dy)
    slim = np.float32(0.6 + 0.25 / scale)
    spikes = np.exp(-dy / slim - dx / 17.0) + np.exp(-dx / slim - dy / 17.0)
    shine = 3.2 * np.exp(-far / 1.7) + 0.2 * np.exp(-far / 9.0) + 0.75 * spikes
    shine *= 1.0 - smooth_step(50.0, 88.0, far)
    picture[:, top:bottom, left:right] += shine.astype(np.float32) * color
