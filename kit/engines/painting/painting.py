"""Paintings: what a painter hands out: light, how to develop it, and what it knows of the place.

Whoever films a painting reads depth, sky, water and motions from it and guesses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import Film, develop
from kit.engines.prompt.brief import Brief

#: Rows and columns of a painting.
Window: TypeAlias = tuple[slice, slice]

#: Detail -> how much larger than asked for a picture is painted.
_SCALES = {"low": 0.7, "standard": 1.0, "high": 1.4}
_LARGEST = 2048  # pixels of the longer side, beyond which nothing is painted larger than asked


@dataclass(frozen=True, slots=True)
class Motion:
    """What moves by itself in a window of a painting: noise runs through its light."""

    kind: str  # smoke, lava, fall, spray or curtains, which are northern lights
    window: Window
    mask: Floats  # where it does, 0 to 1; of any size, as the places are
    x: Floats
    y: Floats  # places in the noise; what is seen goes toward larger `y`
    #: Units of the noise to one of a place across and along, how many of them it runs in a second,
    #: and its share of the light.
    waves: tuple[tuple[float, float, float, float], ...]
    away: float | None = None  # meters, at which nearer things hide it; None in the sky
    beat: float = 0.0  # share of the light by which all of it wavers at once
    most: float = 0.25  # share by which light grows at the most


@dataclass(frozen=True, slots=True, kw_only=True)
class Painting:
    """A painted place.

    Parameters
    ----------
    light : ndarray of float32, shape (3, height, width)
        Linear light, where 1 is paper white.
    film : Film
        How it is developed.
    depth : ndarray of float32, shape (height, width), or None
        Meters to what each pixel shows, infinite in the sky; None of a flat picture.
    sky, water, emitters : ndarray of float32 or None
        Share of each pixel that is sky, open water, or a lamp, window, sign or star, 0 to 1.
    still : bool
        Whether the water mirrors what stands around it, as that of a lake does.
    motions : tuple of Motion
        What moves by itself, the farthest first.
    """

    light: Floats
    film: Film = field(default_factory=Film)
    depth: Floats | None = None
    sky: Floats | None = None
    water: Floats | None = None
    emitters: Floats | None = None
    motions: tuple[Motion, ...] = ()
    still: bool = False

    def pixels(self) -> Bytes:
        """Return the picture, sRGB, shape (height, width, 3), uint8."""
        return develop(self.light, self.film)

    def resized(self, width: int, height: int) -> Painting:
        """Return a painting of another size; only one without motions can be resized."""
        size = (width, height)
        if self.light.shape[1:] == (height, width):
            return self
        smaller = width < self.light.shape[2]
        how = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR

        def masked(plane: Floats | None) -> Floats | None:
            found = None if plane is None else cv2.resize(plane, size, interpolation=how)
            return None if found is None else np.asarray(found, np.float32)

        # Enlarged as an eye sees it, or dark rings would lie around what is bright.
        light = self.light if smaller else np.sqrt(np.maximum(self.light, 0.0))
        wide = how if smaller else cv2.INTER_CUBIC
        light = np.stack([cv2.resize(plane, size, interpolation=wide) for plane in light])
        light = light if smaller else light * light
        depth = self.depth
        if depth is not None:
            depth = np.asarray(cv2.resize(depth, size, interpolation=cv2.INTER_NEAREST))
        sky, water, emitters = (masked(one) for one in (self.sky, self.water, self.emitters))
        return replace(self, light=light, depth=depth, sky=sky, water=water, emitters=emitters)


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


def paint_in_detail(
    brief: Brief, progress: Progress, painter: Callable[[Brief, Progress], Painting]
) -> Painting:
    """Return a painting in the brief's size, painted smaller or larger as its detail asks for."""
    scale = min(_SCALES[brief.detail], max(1.0, _LARGEST / max(brief.width, brief.height)))
    width, height = max(48, round(brief.width * scale)), max(48, round(brief.height * scale))
    painting = painter(replace(brief, width=width, height=height), progress)
    return painting.resized(brief.width, brief.height)
