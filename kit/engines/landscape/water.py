"""Water: what stands above the shore, mirrored, broken by ripples and brightened by the light."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.landscape.palettes import Palette
from kit.engines.landscape.plane import Stage, blend, fill, solid
from kit.engines.landscape.sky import Light
from kit.engines.media.color import Bytes, Floats, mix, paint
from kit.engines.media.noise import field, smooth_step

#: A mirrored mountain looks shorter than the mountain.
SQUASH = 1.12


@dataclass(frozen=True, slots=True)
class Water:
    """A sheet of water from a shore down to the bottom of the stage.

    Parameters
    ----------
    shore : int
        Row where it begins.
    swell, counter : ndarray of float32
        Two waves: how far they shift each pixel of the mirror image, in pixels. A still picture
        shows the first; a moving one swings between them.
    glitter : ndarray of uint8
        Where the light dances.
    """

    shore: int
    swell: Floats
    counter: Floats
    glitter: Bytes


def water(rng: np.random.Generator, stage: Stage, light: Light, shore: int, rough: float) -> Water:
    """Return a sheet of water; `rough` is 0 for a mirror and 1 for open sea."""
    rows = stage.rows - shore
    near = np.linspace(0.0, 1.0, rows, dtype=np.float32)[:, None]
    deep = (np.log1p(near * 9.0) / np.log(10.0) * 500.0).astype(np.float32)
    columns = np.arange(stage.columns, dtype=np.float32)[None]
    grid = (np.repeat(columns, rows, axis=0), np.repeat(deep, stage.columns, axis=1))
    reach = stage.unit * (0.0014 + 0.0105 * near) * (0.45 + rough)
    swell, counter = (_wave(rng, stage, grid) * reach for _ in range(2))
    return Water(shore, swell, counter, _glitter(rng, stage, light, shore, rows))


def add_water(canvas: Floats, stage: Stage, sheet: Water, palette: Palette) -> None:
    """Mirror what a canvas shows above the shore into its rows below, in place."""
    rows = stage.rows - sheet.shore
    down = np.arange(rows, dtype=np.float32)[:, None]
    at_y = sheet.shore - 1 - down * SQUASH + sheet.swell * 0.6
    at_x = np.arange(stage.columns, dtype=np.float32)[None] + sheet.swell
    above = canvas[:, : sheet.shore]
    below = canvas[:, sheet.shore :]
    for source, target in zip(above, below, strict=True):
        target[:] = cv2.remap(
            np.ascontiguousarray(source),
            at_x,
            at_y,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
    deep, shore = veil(stage, sheet)
    blend(below, solid(own_color(palette)), deep)
    blend(below, solid(paint(palette.sun)), sheet.glitter)
    blend(below, solid(paint(palette.mist)), shore)


def veil(stage: Stage, sheet: Water) -> tuple[Floats, Floats]:
    """Return how strongly the water's own color and the haze of the shore cover each row."""
    rows = stage.rows - sheet.shore
    near = np.linspace(0.0, 1.0, rows, dtype=np.float32)
    shore = smooth_step(0.012 * stage.height, 0.0, np.arange(rows, dtype=np.float32)) * 0.5
    return (0.14 + 0.34 * near)[:, None], np.asarray(shore, np.float32)[:, None]


def own_color(palette: Palette) -> Floats:
    """Return the color of deep water under this sky, shape (3,)."""
    return paint(mix(palette.sky[1], palette.land[1], 0.5))


def _wave(rng: np.random.Generator, stage: Stage, grid: tuple[Floats, Floats]) -> Floats:
    # Ripples are fine at the far shore and coarse in front: rows are sampled in perspective.
    flat = field(rng, 512, stage.columns, cells=(40, 5), octaves=3, gain=0.55)
    return np.asarray(cv2.remap(flat, *grid, cv2.INTER_LINEAR))


def _glitter(rng: np.random.Generator, stage: Stage, light: Light, shore: int, rows: int) -> Bytes:
    """Dashes of light under the sun, a path that widens toward the viewer."""
    mask = np.zeros((rows, stage.columns), np.uint8)
    share = np.linspace(-1.0, 1.0, 9)
    body = np.sqrt(1 - share**2)
    for _ in range(190):
        near = rng.random() ** 1.25
        wide = stage.unit * (0.020 + 0.075 * near)
        x = light.x + rng.normal(0.0, 0.55) * wide
        y = near * rows
        half = stage.unit * (0.005 + 0.026 * near) * rng.uniform(0.35, 1.2)
        thick = stage.unit * (0.0006 + 0.0016 * near)
        upper = np.stack([x + half * share, y - thick * body], axis=1)
        lower = np.stack([x + half * share, y + thick * body], axis=1)
        value = int(rng.uniform(60, 205) * (1 - 0.55 * near))
        fill(mask, np.concatenate([upper, lower[::-1]]), value=value)
    return mask
