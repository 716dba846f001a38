"""Water in motion: mirrors the rows above the shore of every frame, swinging between two waves."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.film.sheets import Matrix, back, lay, sheet, warped
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats, paint
from kit.engines.painting.poster.compose import Picture
from kit.engines.painting.poster.plane import Plane, Stage, solid
from kit.engines.painting.poster.water import SQUASH, Water, own_color, veil


class Ripples:
    """The water of a picture, drawn into one frame after another.

    The mirror works in the frame; waves lie on the stage and go where a camera moves it.
    """

    def __init__(self, picture: Picture, water: Water, rng: np.random.Generator) -> None:
        stage = picture.stage
        self._stage, self._shore = stage, water.shore
        self._waves = (water.swell, water.counter)
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
        edge = float(np.clip(matrix[1, 1] * self._shore + matrix[1, 2], 2, height - 4))
        # Rows of color come in twos, but a shore that moved in such steps would be seen to jump.
        shore = int(edge) & ~1
        rows = height - shore
        turn = 2 * math.pi * phase
        stirred = cv2.addWeighted(self._waves[0], math.cos(turn), self._waves[1], math.sin(turn), 0)
        swell = warped(stirred, back(matrix, self._shore, shore, 1.0), (width, rows))
        down = np.arange(shore - edge, height - edge, dtype=np.float32)[:rows, None]
        at_y = edge - 1 - SQUASH * down + 0.6 * swell
        np.minimum(at_y, np.float32(shore - 1), out=at_y)
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
