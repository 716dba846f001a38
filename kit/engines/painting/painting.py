"""Paintings: the output of painters: light, its development, and maps of the place.

Films read depth, sky, water and motions from a painting, and need no estimates.
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

#: Detail -> factor on the size of the painting relative to the output.
_SCALES = {"low": 0.7, "standard": 1.0, "high": 1.4}
_MAX_SIDE = 2048  # maximum longer side in pixels of a painting larger than its output


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion in a window of a painting: moving noise modulates its light."""

    kind: str  # smoke, lava, fall, spray or curtains (northern lights)
    window: Window
    mask: Floats  # its amplitude, 0 to 1; of any size, like the positions
    x: Floats
    y: Floats  # positions in the noise; features move toward larger `y`
    #: Noise units per position unit across and along, speed in noise units per second, and share of
    #: the light.
    waves: tuple[tuple[float, float, float, float], ...]
    distance: float | None = None  # meters, for occlusion by nearer objects; None in the sky
    flicker: float = 0.0  # share of the light by which all of it flickers together
    max_gain: float = 0.25  # maximum relative increase of light


@dataclass(frozen=True, slots=True, kw_only=True)
class Painting:
    """A painted place.

    Parameters
    ----------
    light : ndarray of float32, shape (3, height, width)
        Linear light, where 1 is paper white.
    film : Film
        Its development.
    depth : ndarray of float32, shape (height, width), or None
        Distance of each pixel in meters, infinite in the sky; None for a flat picture.
    sky, water, emitters : ndarray of float32 or None
        Coverage of each pixel by sky, open water, or lamps, windows, signs and stars, 0 to 1.
    still : bool
        Whether the water reflects its surroundings, like a lake.
    motions : tuple of Motion
        Its motions, farthest first.
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

    def resize(self, width: int, height: int) -> Painting:
        """Return a painting in another size, which must not have motions."""
        size = (width, height)
        if self.light.shape[1:] == (height, width):
            return self
        smaller = width < self.light.shape[2]
        how = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR

        def resize_mask(plane: Floats | None) -> Floats | None:
            found = None if plane is None else cv2.resize(plane, size, interpolation=how)
            return None if found is None else np.asarray(found, np.float32)

        # Enlarged in perceptual scale, or bright spots would get dark rings.
        light = self.light if smaller else np.sqrt(np.maximum(self.light, 0.0))
        wide = how if smaller else cv2.INTER_CUBIC
        light = np.stack([cv2.resize(plane, size, interpolation=wide) for plane in light])
        light = light if smaller else light * light
        depth = self.depth
        if depth is not None:
            depth = np.asarray(cv2.resize(depth, size, interpolation=cv2.INTER_NEAREST))
        sky, water, emitters = (resize_mask(one) for one in (self.sky, self.water, self.emitters))
        return replace(self, light=light, depth=depth, sky=sky, water=water, emitters=emitters)


@dataclass(frozen=True, slots=True)
class Canvas:
    """Planes that painters draw on, in place."""

    light: Plane  # shape (3, height, width)
    depth: Plane  # from the camera, infinite in the sky
    sky: Plane  # coverage by sky
    emitters: Plane  # coverage by light sources

    @classmethod
    def of_sky(cls, light: Plane) -> Self:
        """Return a canvas with only a sky."""
        depth = np.full(light.shape[1:], np.inf, np.float32)
        return cls(light, depth, np.ones_like(depth), np.zeros_like(depth))

    def painting(self, film: Film) -> Painting:
        """Return the painting of the canvas."""
        emitters = np.clip(self.emitters, 0.0, 1.0)
        return Painting(
            light=self.light, film=film, depth=self.depth, sky=self.sky, emitters=emitters
        )

    def blend(
        self,
        at: tuple[slice, slice],
        color: Plane,
        cover: Plane,
        depth: Plane | float,
        shining: Plane | float = 0.0,
    ) -> None:
        """Composite a drawing on a part of the canvas; `shining` is its emitted share."""
        below, emitters = self.light[:, *at], self.emitters[at]
        below += (color - below) * cover
        emitters += (shining - emitters) * cover
        self.sky[at] *= 1.0 - cover
        np.copyto(self.depth[at], np.asarray(depth, np.float32), where=cover > 0.5)

    def clip(
        self, left: int, top: int, tall: int, wide: int
    ) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """Return the rows and columns of a sheet on the canvas, and the part of it inside."""
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
    """Return a painting in the brief's size, rendered smaller or larger by its detail."""
    scale = min(_SCALES[brief.detail], max(1.0, _MAX_SIDE / max(brief.width, brief.height)))
    width, height = max(48, round(brief.width * scale)), max(48, round(brief.height * scale))
    painting = painter(replace(brief, width=width, height=height), progress)
    return painting.resize(brief.width, brief.height)
