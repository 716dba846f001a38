"""Plants: groves on the crests of ridges, as filled outlines."""

from __future__ import annotations

from functools import lru_cache
from itertools import cycle
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes
from kit.engines.media.noise import line
from kit.engines.painting.poster.planes import fill

Array: TypeAlias = NDArray[np.float64]

#: Plant -> half of the narrowest and the widest, variation of corners across and up and down, and
#: thickness of snow on it, in shares of its height.
_PLANTS = {
    "conifer": ((0.15, 0.215), (0.20, 0.012), 0.05),
    "broadleaf": ((0.33, 0.41), (0.05, 0.02), 0.14),
    "poplar": ((0.075, 0.105), (0.15, 0.0), 0.03),
    "cactus": ((0.95, 1.05), (0.12, 0.09), 0.03),
}
_CACTUS = (
    *((0.0, 1.0), (0.035, 0.985), (0.052, 0.95), (0.055, 0.53), (0.11, 0.53), (0.12, 0.55)),
    *((0.12, 0.74), (0.13, 0.765), (0.16, 0.78), (0.19, 0.765), (0.2, 0.74), (0.2, 0.49)),
    *((0.185, 0.45), (0.15, 0.435), (0.055, 0.435), (0.06, 0.0)),
)


def spread(rng: np.random.Generator, columns: int, tall: float, density: float) -> Array:
    """Return columns and heights of plants, shape (2, n): clumps, with mixed sizes."""
    # Spaced by the width of the thinnest tree: groves and sizes change slowly.
    at = np.arange(0.0, columns + tall, max(1.0, tall * 0.1))
    groves = line(rng, at, tall * 9.0, octaves=3) + 2.2 * density - 1.0
    sizes = line(rng, at, tall * 4.0, octaves=2)
    shortest = tall * 0.108 / min(1.0, 0.35 + density)
    steps = shortest * (1.0 + 4.7 * rng.random(int(columns / shortest) + 2) ** 2.2)
    x = rng.uniform(0.0, tall) + np.cumsum(steps) - steps[0]
    x = x[x < columns]
    if density < 1.0:
        x = x[np.interp(x, at, groves) > 0.0]
    share = 0.62 + 0.30 * np.interp(x, at, sizes) + rng.uniform(-0.3, 0.3, len(x))
    return np.stack([x, tall * np.clip(share, 0.22, 1.25)])


def draw_plants(
    rng: np.random.Generator, kind: str, stand: Array, mask: Bytes, snow: Bytes | None, top: int
) -> None:
    """Draw plants, shape (3, n) of x, y of the foot and height, and in winter their snow."""
    widths, rough, laden = _PLANTS[kind]
    # An even number, so that more of them are equal and can be drawn together.
    tiers = np.clip(2 * np.rint(stand[2] / (14 if kind == "conifer" else 20)), 4, 14).astype(int)
    for count in np.unique(tiers).tolist():
        x, y, tall = stand[:, tiers == count, None]
        half, up, knobs = _template(kind, count)
        random = 2.0 * rng.random((2, len(x), len(half))) - 1.0
        aside, upward = random if kind in ("conifer", "poplar") else random[..., knobs]
        half = half * rng.uniform(*widths, x.shape) * (1.0 + rough[0] * aside)
        up = up * (1.0 + rough[1] * upward)
        outlines = np.stack([x + tall * half, y + 2.0 - tall * up], axis=2)
        fill(mask, outlines, top=top)
        if snow is not None:
            # Snow is the part left when each plant is drawn again a little lower.
            large = laden * tall[:, 0] > 0.6
            both = np.stack([outlines[large]] * 2, axis=1)
            both[:, 1, :, 1] += np.maximum(laden * tall[large], 1.0)
            fill(snow, both.reshape(-1, half.shape[1], 2), top=top, values=cycle((255, 0)))


@lru_cache(32)
def _template(kind: str, tiers: int) -> tuple[Array, Array, NDArray[np.intp]]:
    if kind == "poplar":
        up = np.linspace(1.0, 0.0, 12)
        half, knobs = np.sin(np.pi * up**0.62) ** 0.8, np.arange(12)
    elif kind == "cactus":  # a column with arms that bend upward
        half, up = np.array(_CACTUS).T
        knobs = np.r_[[0] * 3, [4] * 12, 0]
    elif kind == "broadleaf":  # lobes around a crown, on a trunk
        turn = np.linspace(np.pi / 2, -0.42 * np.pi, 8 * (tiers // 2) + 1)
        knobs = np.arange(len(turn) + 2) // 8
        lobes = 0.95 + 0.17 * np.abs(np.sin(np.arange(len(turn)) * np.pi / 8)) ** 0.7
        half = np.append(lobes * np.cos(turn), [0.1, 0.12])
        up = np.append(0.64 + 0.31 * lobes * np.sin(turn), [0.38, 0.0])
    else:  # a fir: each tier extends along a hanging bough and back
        step = np.arange(1, tiers + 1) / tiers
        wide, low = 0.14 + 0.86 * step**0.9, 1.0 - 0.93 * (step - 0.5 / tiers)
        half, up = np.zeros(2 * tiers + 2), np.zeros(2 * tiers + 2)
        half[1:-1:2], half[2:-1:2], half[-1] = 0.93 * wide, 0.43 * wide, 0.07
        up[0], up[1:-1:2], up[2:-1:2] = 1.0, low - 0.46 / tiers, low - 0.16 / tiers
        knobs = np.arange(len(half))
    mirrored = np.append(knobs, np.where(knobs, len(half) + knobs, 0)[::-1])  # one crown
    return np.append(half, -half[::-1]), np.append(up, up[::-1]), mirrored
