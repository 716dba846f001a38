"""Water in motion: mirrors the rows above the shore of every frame, swinging between two waves."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.landscape.compose import Picture
from kit.engines.landscape.plane import Plane, Stage, solid
from kit.engines.landscape.water import SQUASH, Water, own_color, veil
from kit.engines.media.color import Bytes, Floats, paint
from kit.engines.video.sheets import Frame, Matrix, lay, sheet


class Ripples:
    """The water of a picture, drawn into one frame after another.

    The margin of the stage is cut off beforehand: the mirror works in the frame.
    """

    def __init__(self, picture: Picture, water: Water, rng: np.random.Generator) -> None:
        stage = picture.stage
        self._stage, self._shore = stage, water.shore
        x = slice(stage.margin_x, stage.margin_x + stage.width)
        self._waves = tuple(
            np.ascontiguousarray(wave[:, x]) for wave in (water.swell, water.counter)
        )
        self._columns = np.arange(stage.width, dtype=np.float32)[None]
        self._tint = sheet(_tints(picture, water), stage, rng)
        self._glitter = sheet(
            [Plane("glitter", 0.5, water.shore, solid(paint(picture.palette.sun)), water.glitter)],
            stage,
            rng,
        )

    def draw(self, frame: Frame, matrix: Matrix, phase: float, twinkle: Bytes) -> None:
        """Draw the water into a frame, below where the matrix puts the shore.

        Parameters
        ----------
        phase : float
            Of the waves, in turns; whole numbers look alike.
        """
        height, width = frame[0].shape
        shore = int(np.clip(matrix[1, 1] * self._shore + matrix[1, 2], 2, height - 4)) & ~1
        rows = min(height - shore, self._waves[0].shape[0])
        turn = 2 * math.pi * phase
        one, other = (wave[:rows] for wave in self._waves)
        swell = cv2.addWeighted(one, math.cos(turn), other, math.sin(turn), 0.0)
        down = np.arange(rows, dtype=np.float32)[:, None]
        at_y = shore - 1 - SQUASH * down + 0.6 * swell
        at_x = self._columns + swell
        _mirror(frame[0], shore, at_x, at_y)
        half = [
            cv2.resize(grid, (width // 2, rows // 2), interpolation=cv2.INTER_AREA) / 2
            for grid in (at_x, at_y)
        ]
        for chroma in frame[1:]:
            _mirror(chroma, shore // 2, half[0], half[1])
        for part, shine in ((self._tint, None), (self._glitter, twinkle)):
            lay(frame, part, matrix, stop=height, twinkle=shine)


def _mirror(plane: Bytes, shore: int, at_x: Floats, at_y: Floats) -> None:
    above = plane[:shore].copy()
    rows = at_x.shape[0]
    plane[shore : shore + rows] = cv2.remap(
        above, at_x, at_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )


def _tints(picture: Picture, water: Water) -> list[Plane]:
    deep, shore = veil(picture.stage, water)
    colors = (own_color(picture.palette), paint(picture.palette.mist))
    return [
        Plane("ridge", 0.5, water.shore, solid(color), _mask(picture.stage, weight))
        for color, weight in zip(colors, (deep, shore), strict=True)
    ]


def _mask(stage: Stage, weight: Floats) -> Bytes:
    return np.repeat(np.rint(weight * 255).astype(np.uint8), stage.columns, axis=1)
