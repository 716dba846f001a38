"""Water: what stands above the shore, mirrored, broken by ripples and brightened by the light."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, mix, paint
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting.poster.mixing import blend, spread
from kit.engines.painting.poster.palettes import Palette
from kit.engines.painting.poster.plane import Stage, fill_all, solid
from kit.engines.painting.poster.sky import Light

#: A mirrored mountain looks shorter than the mountain.
SQUASH = 1.12
_NARROW = 20  # columns that waves are computed in
_DASHES = 190
_AROUND = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)


@dataclass(frozen=True, slots=True)
class Water:
    """A sheet of water from a shore down to the bottom of the stage.

    Parameters
    ----------
    shore : int
        Row where it begins.
    swell : ndarray of float32
        A wave: how far it shifts each pixel of the mirror image, in pixels.
    against : ndarray of float32
        A second one, a few columns wide; see `counter`.
    glitter : ndarray of uint8
        Where the light dances.
    """

    shore: int
    swell: Floats
    against: Floats
    glitter: Bytes

    @property
    def counter(self) -> Floats:
        """The second wave in full: a moving picture swings between the two."""
        return _widened(self.against, self.swell.shape[1])


def water(rng: np.random.Generator, stage: Stage, light: Light, shore: int, rough: float) -> Water:
    """Return a sheet of water; `rough` is 0 for a mirror and 1 for open sea."""
    rows = stage.rows - shore
    near = np.linspace(0.0, 1.0, rows, dtype=np.float32)[:, None]
    deep = (np.log1p(near * 9.0) / np.log(10.0) * 500.0).astype(np.float32)
    reach = stage.unit * (0.0014 + 0.0105 * near) * (0.45 + rough)
    swell, against = (_wave(rng, deep) * reach for _ in range(2))
    glitter = _glitter(rng, stage, light, shore, rows)
    return Water(shore, _widened(swell, stage.columns), against, glitter)


class Mirror:
    """A picture with water: what stands above the shore, and below it its image on the waves.

    Parameters
    ----------
    above : ndarray of float32
        What is seen above the shore: encoded sRGB, 0 to 1, shape (3, shore, columns).
    """

    def __init__(self, above: Floats, stage: Stage, sheet: Water, palette: Palette) -> None:
        self._above, self._sheet = above, sheet
        self._columns = np.arange(stage.columns, dtype=np.float32)[None]
        self._deep, self._haze = veil(stage, sheet)
        self._own = solid(own_color(palette))
        self._sun, self._mist = solid(paint(palette.sun)), solid(paint(palette.mist))

    def fill(self, canvas: Floats, first: int) -> None:
        """Fill a canvas of shape (3, rows, columns) that begins at a row of the stage."""
        shore = self._sheet.shore
        dry = int(np.clip(shore - first, 0, canvas.shape[1]))
        canvas[:, :dry] = self._above[:, first : first + dry]
        if dry < canvas.shape[1]:
            self._wet(canvas[:, dry:], first + dry - shore)

    def _wet(self, canvas: Floats, first: int) -> None:
        rows = slice(first, first + canvas.shape[1])
        swell = self._sheet.swell[rows]
        down = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None]
        at_y = spread(self._sheet.shore - 1 - down * SQUASH, swell.shape)
        cv2.scaleAdd(swell, 0.6, at_y, dst=at_y)
        at_x = self._columns + swell
        for source, target in zip(self._above, canvas, strict=True):
            cv2.remap(
                source, at_x, at_y, cv2.INTER_LINEAR, dst=target, borderMode=cv2.BORDER_REFLECT
            )
        blend(canvas, self._own, self._deep[rows])
        self._lit(canvas, self._sheet.glitter[rows])
        if self._haze[rows].any():
            blend(canvas, self._mist, self._haze[rows])

    def _lit(self, canvas: Floats, glitter: Bytes) -> None:
        left, above, wide, tall = cv2.boundingRect(glitter)
        if wide:
            place = (slice(above, above + tall), slice(left, left + wide))
            blend(canvas[:, *place], self._sun, glitter[place])


def veil(stage: Stage, sheet: Water) -> tuple[Floats, Floats]:
    """Return how strongly the water's own color and the haze of the shore cover each row."""
    rows = stage.rows - sheet.shore
    near = np.linspace(0.0, 1.0, rows, dtype=np.float32)
    shore = smooth_step(0.012 * stage.height, 0.0, np.arange(rows, dtype=np.float32)) * 0.5
    return (0.14 + 0.34 * near)[:, None], np.asarray(shore, np.float32)[:, None]


def own_color(palette: Palette) -> Floats:
    """Return the color of deep water under this sky, shape (3,)."""
    return paint(mix(palette.sky[1], palette.land[1], 0.5))


def _wave(rng: np.random.Generator, deep: Floats) -> Floats:
    # Ripples are fine at the far shore and coarse in front: rows are sampled in perspective,
    # while they are as narrow as their widest ripple lets them be.
    flat = field(rng, 512, _NARROW, cells=(40, 5), octaves=3, gain=0.55)
    columns = np.arange(_NARROW, dtype=np.float32)[None]
    grid = (np.repeat(columns, len(deep), axis=0), np.repeat(deep, _NARROW, axis=1))
    return np.asarray(cv2.remap(flat, *grid, cv2.INTER_LINEAR))


def _widened(wave: Floats, columns: int) -> Floats:
    size = (columns, len(wave))
    return np.asarray(cv2.resize(wave, size, interpolation=cv2.INTER_CUBIC))


def _glitter(rng: np.random.Generator, stage: Stage, light: Light, shore: int, rows: int) -> Bytes:
    """Dashes of light under the sun, a path that widens toward the viewer."""
    mask = np.zeros((rows, stage.columns), np.uint8)
    near = rng.random(_DASHES) ** 1.25
    x = light.x + rng.normal(0.0, 0.55, _DASHES) * stage.unit * (0.020 + 0.075 * near)
    half = stage.unit * (0.005 + 0.026 * near) * rng.uniform(0.35, 1.2, _DASHES)
    thick = stage.unit * (0.0006 + 0.0016 * near)
    values = rng.uniform(60, 205, _DASHES) * (1 - 0.55 * near)
    across = x[:, None] + half[:, None] * np.cos(_AROUND)
    down = (near * rows)[:, None] + thick[:, None] * np.sin(_AROUND)
    dashes = np.stack([across, down], axis=2)
    fill_all(mask, dashes, values=values.astype(int).tolist(), convex=True)
    return mask
