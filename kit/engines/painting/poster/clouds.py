"""Clouds: streaks, heaps and ceilings, and the curtains of northern lights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import mix, paint, ramp
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting.poster.palettes import Palette
from kit.engines.painting.poster.plane import Plane, Stage, disc, enlarged, fill_all, solid
from kit.engines.painting.poster.sky import Light

_COARSE = 128  # smooth things are painted this small and enlarged
_COVERS = (87, 138)  # of 255: how much streaks cover, the farther ones less
_MOST_LENSES = 4  # of a streak
_ALONG = np.linspace(-1.0, 1.0, 33)
_BODY = (1 - _ALONG**2) ** 0.8


def aurora(rng: np.random.Generator, stage: Stage, horizon: float) -> Iterator[Plane]:
    """Yield curtains of northern lights, green below and violet above.

    All share one gradient, so that three of them are laid over each other while they are small.
    """
    bottom = int(horizon)
    small = np.arange(320, dtype=np.float64)
    heights = np.linspace(0.0, 1.0, _COARSE, dtype=np.float32)[:, None]
    dark = np.ones((_COARSE, 320), np.float32)
    for number in range(3):
        bend = cv2.GaussianBlur(field(rng, 2, 320, cells=(2, 4), octaves=3)[:1], (0, 0), 6)
        foot = 0.78 - 0.17 * number + 0.16 * bend
        rays = 0.55 + 0.45 * field(rng, 2, 320, cells=(2, 40), octaves=3)[:1]
        reach = 0.34 + 0.10 * rays
        above = (foot - heights) / reach
        curtain = np.exp(np.minimum(above * -2.1, above * 16))
        curtain *= np.clip(rays, 0.1, 1.4) * (0.6 + 0.4 * np.sin(small / 320 * np.pi))
        dark *= 1.0 - np.minimum(curtain * ((150 - 30 * number) / 255), 1.0)
    alpha = enlarged((1.0 - dark) * 255, (stage.columns, bottom))
    tint = np.linspace(0.0, 1.0, bottom)
    color = ramp(
        [(0.0, (0.62, 0.17, 300)), (0.45, (0.76, 0.15, 172)), (1.0, (0.86, 0.18, 155))], tint
    )
    yield Plane("cloud", 0.0, 0, color[:, :, None], alpha)


def streaks(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Iterator[Plane]:
    """Yield long flat clouds like brush strokes, lit by a low sun."""
    lit = mix(palette.cloud, palette.glow, 0.45)
    for layer in range(2):
        top, bottom = stage.margin_y, int(horizon)
        mask = stage.blank(top, bottom)
        for _ in range(4 + 2 * layer):
            y = stage.margin_y + (horizon - stage.margin_y) * rng.uniform(0.16, 0.9)
            x = stage.columns * rng.uniform(-0.05, 1.05)
            if abs(y - light.y) > 1.3 * light.radius:
                fill_all(mask, _streak(rng, stage, x, y), top=top, values=repeat(_COVERS[layer]))
        color = paint(lit if layer else palette.cloud)
        yield Plane(
            "cloud",
            0.05 + 0.03 * layer,
            top,
            solid(color),
            mask,
        )


def cumulus(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Iterator[Plane]:
    """Yield heaped clouds with flat feet that fade out below."""
    for layer in range(2):
        count = 3 + layer
        for number in range(count):
            tall = stage.unit * (0.05 + 0.03 * layer) * rng.uniform(0.7, 1.2)
            share = 0.74 - 0.38 * layer + rng.uniform(-0.13, 0.10)
            foot = stage.margin_y + (horizon - stage.margin_y) * share
            x = stage.columns * (number + rng.uniform(0.1, 0.9)) / count
            yield _heap(rng, stage, palette, (x, foot), tall, 0.04 + 0.04 * layer)


def overcast(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Iterator[Plane]:
    """Yield a heavy ceiling of cloud."""
    bottom = int(horizon)
    texture = field(rng, _COARSE, _COARSE, cells=(7, 4), octaves=5, gain=0.55)
    down = np.linspace(0.0, 1.0, _COARSE, dtype=np.float32)[:, None]
    cover = smooth_step(-0.9, 1.5, texture + 1.1 * (1 - down)) * smooth_step(1.0, 0.25, down)
    alpha = enlarged(cover * 190, (stage.columns, bottom))
    color = mix(palette.sky[0], palette.land[1], 0.4)
    yield Plane("cloud", 0.04, 0, solid(paint(color)), alpha)


CLOUDS: dict[str, Callable[..., Iterator[Plane]]] = {
    "streaks": streaks,
    "cumulus": cumulus,
    "overcast": overcast,
}


def _streak(rng: np.random.Generator, stage: Stage, x: float, y: float) -> NDArray[np.float64]:
    """Return one cloud of a few overlapping lenses, pointed at both ends, shape (n, points, 2)."""
    long = stage.unit * rng.uniform(0.10, 0.30)
    dice = rng.random((6, _MOST_LENSES, 1))[:, : int(rng.integers(2, _MOST_LENSES + 1))]
    middle, low = x + (dice[0] - 0.5) * long, y + stage.unit * 0.018 * (dice[1] - 0.5)
    across = middle + long * (0.45 + 0.55 * dice[2]) * _ALONG
    body = stage.unit * (0.0025 + 0.004 * dice[3]) * _BODY
    ripple = 1 + 0.35 * np.sin(_ALONG * (5 + 4 * dice[4]) + 6 * dice[5])
    outlines = np.empty((len(across), 2 * len(_ALONG), 2))
    outlines[:, :, 0] = np.concatenate([across, across[:, ::-1]], axis=1)
    outlines[:, :, 1] = np.concatenate([low - body * ripple, low + 0.55 * body], axis=1)
    return outlines


def _heap(
    rng: np.random.Generator,
    stage: Stage,
    palette: Palette,
    foot: tuple[float, float],
    tall: float,
    depth: float,
) -> Plane:
    x, y = foot
    top = int(max(0, y - 2.2 * tall))
    mask = stage.blank(top, max(top + 2, int(y)))
    wide = tall * rng.uniform(1.7, 3.0)
    for share in np.linspace(-1.0, 1.0, 9):
        bulk = tall * (0.30 + 0.55 * (1 - share**2)) * rng.uniform(0.75, 1.15)
        disc(mask, x + wide * share, y - bulk * 0.55, bulk, top=top)
    rows = np.arange(top, top + mask.shape[0])
    fade = smooth_step(y, y - 1.25 * tall, rows)
    alpha = mask * (fade * np.float32(0.86))[:, None]
    return Plane("cloud", depth, top, solid(paint(palette.cloud)), alpha.astype(np.uint8))
