"""A canvas: light and what is known of it, laid over one another from the back to the front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kit.engines.painting.noise import Plane
from kit.engines.painting.painting import Painting
from kit.engines.painting.tone import Film


@dataclass(frozen=True, slots=True)
class Canvas:
    """Planes that painters add to, in place."""

    light: Plane  # shape (3, height, width)
    depth: Plane  # meters from the camera, infinite in the sky
    sky: Plane  # share of each pixel that is sky
    emitters: Plane  # share that shines by itself

    @classmethod
    def over(cls, light: Plane) -> Self:
        """Return a canvas on which there is a sky alone."""
        depth = np.full(light.shape[1:], np.inf, np.float32)
        return cls(light, depth, np.ones_like(depth), np.zeros_like(depth))

    def painting(self, film: Film) -> Painting:
        """Return it as a painting."""
        emitters = np.clip(self.emitters, 0.0, 1.0)
        return Painting(
            light=self.light, film=film, depth=self.depth, sky=self.sky, emitters=emitters
        )

    def lay(
        self,
        at: tuple[slice, slice],
        color: Plane,
        cover: Plane,
        depth: Plane | float,
        shining: Plane | float = 0.0,
    ) -> None:
        """Lay a thing over a part of the canvas; `shining` is the share of its own light."""
        below, emitters = self.light[:, *at], self.emitters[at]
        below += (color - below) * cover
        emitters += (shining - emitters) * cover
        self.sky[at] *= 1.0 - cover
        np.copyto(self.depth[at], np.asarray(depth, np.float32), where=cover > 0.5)

    def clip(
        self, left: int, top: int, tall: int, wide: int
    ) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """Return rows and columns that a sheet covers, and the part of it that lies inside."""
        height, width = self.depth.shape
        rows = slice(min(max(0, top), height), min(max(0, top + tall), height))
        columns = slice(min(max(0, left), width), min(max(0, left + wide), width))
        part = (
            slice(rows.start - top, rows.stop - top),
            slice(columns.start - left, columns.stop - left),
        )
        return (rows, columns), part


def distances(
    shape: tuple[int, ...], x: float, y: float, unit: float = 1.0, turn: float = 0.0
) -> tuple[Plane, Plane]:
    """Return how far pixels lie right of a place and below it, in units, turned by an angle."""
    right = (np.arange(shape[1], dtype=np.float32)[None] - np.float32(x)) / np.float32(unit)
    below = (np.arange(shape[0], dtype=np.float32)[:, None] - np.float32(y)) / np.float32(unit)
    if not turn:
        return right, below
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    return right * cos + below * sin, below * cos - right * sin
