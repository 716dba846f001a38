"""Paintings: what a painter hands out: light, how to develop it, and what it knows of the place.

Whoever films a painting reads depth, sky, water and motions from it and guesses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.tone import Film, develop
from kit.engines.prompt.brief import Brief

#: Rows and columns of a painting.
Window: TypeAlias = tuple[slice, slice]

#: Detail -> how much larger than asked for a picture is painted.
_SCALES = {"low": 0.7, "standard": 1.0, "high": 1.4}
_LARGEST = 2048  # pixels of the longer side, beyond which nothing is painted larger than asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoke:
    """A plume over a crater; places and lengths are pixels of the painting.

    Parameters
    ----------
    cover : ndarray of float32
        How much of the sky it hides, 0 to 1, from the painting's upper edge down; small.
    step : int
        Pixels of the painting for one of the cover.
    crater : tuple of float
        Column and row from which it rises.
    unit : float
        Radius of the crater.
    tall, lean : float
        How high it is, and how far it goes aside for each pixel of its height.
    start, grown : float
        Its breadth at the crater, and what it gains on its way up, in units.
    """

    cover: Floats
    step: int
    crater: tuple[float, float]
    unit: float
    tall: float
    lean: float
    start: float
    grown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fountain:
    """Glowing stones that a crater throws; painted only where what falls is.

    Parameters
    ----------
    stones : ndarray of float64, shape (n, 7)
        Where they start, in units aside; lean; speed in units; when they are seen first and for
        how long, see `trails`; heat; how thick.
    power : float
        Of their light, where 1 is white paper.
    """

    crater: tuple[float, float]
    unit: float
    stones: NDArray[np.float64]
    power: float


def trails(
    stones: NDArray[np.float64],
    times: NDArray[np.float64],
    spot: tuple[float, float],
    unit: float,
) -> NDArray[np.float64]:
    """Return where stones are at times of their flight, in pixels, shape (n, moments, 2).

    Parameters
    ----------
    times : ndarray of float64
        Shape (n, moments), 0 where one leaves the crater, 4/3 where it is as low again.
    spot, unit : float
        Column and row of the crater, and its radius, in pixels.
    """
    aside, lean, pace = (part[:, None] for part in stones.T[:3])
    speed = unit * pace
    x = spot[0] + 0.25 * unit * aside + 1.6 * speed * lean * times
    y = spot[1] + 0.15 * unit - 2.6 * speed * times * (1.0 - 0.75 * times)
    return np.stack([x, y], axis=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lava:
    """What glows on a mountain, in a window of the painting.

    Parameters
    ----------
    heat, glow : ndarray of float32
        Of the streams, and of the ground that they light, 0 to 1.
    along, around : ndarray of float32
        Distance from the crater in radii of the foot, and direction in turns.
    """

    window: Window
    heat: Floats
    glow: Floats
    along: Floats
    around: Floats
    crater: tuple[float, float]
    unit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """Water that drops, in a window of the painting.

    Parameters
    ----------
    across, down : ndarray of float32
        Place in the fall: -1 to 1 from side to side, 0 to 1 from lip to foot.
    noise : ndarray of float32
        Tile that its threads are made of, and `shift` where in the tile it begins.
    seconds : float
        That a drop takes from the lip to the foot.
    away : float
        Meters to it.
    """

    window: Window
    across: Floats
    down: Floats
    noise: Floats
    shift: float
    seconds: float
    away: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spray:
    """Mist over the foot of a fall, in a window of the painting.

    Parameters
    ----------
    across, up : ndarray of float32
        Place in it, in its own breadths.
    thick : ndarray of float32
        How much it covers where its noise is even, 0 to 1.
    """

    window: Window
    across: Floats
    up: Floats
    thick: Floats
    noise: Floats
    shift: float
    away: float


@dataclass(frozen=True, slots=True)
class Curtains:
    """Linear light of northern lights, of the painting's columns, from its upper edge down."""

    light: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """Still water, and which place of a painting each of its pixels mirrors.

    Parameters
    ----------
    rows : slice
        Where it is in the painting; all else has their shape.
    columns, lines : ndarray of float32
        What is mirrored, in pixels of the painting.
    share : ndarray of float32
        How much of its light is seen, 0 to 1.
    level : ndarray of float32
        Meters to the water in each pixel.
    """

    rows: slice
    columns: Floats
    lines: Floats
    share: Floats
    level: Floats


#: Anything that moves by itself, or shows what does.
Motion: TypeAlias = Smoke | Fountain | Lava | Fall | Spray | Curtains | Mirrored


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


def paint_in_detail(
    brief: Brief, progress: Progress, painter: Callable[[Brief, Progress], Painting]
) -> Painting:
    """Return a painting in the brief's size, painted smaller or larger as its detail asks for.

    Parameters
    ----------
    painter : callable
        Paints a brief at its width and height; it must show the same scene at every size.
    """
    scale = min(_SCALES[brief.detail], max(1.0, _LARGEST / max(brief.width, brief.height)))
    width, height = max(48, round(brief.width * scale)), max(48, round(brief.height * scale))
    painting = painter(replace(brief, width=width, height=height), progress)
    return painting.resized(brief.width, brief.height)
