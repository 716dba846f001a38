"""Stirring: what moves by itself in a landscape, told by its painters to whoever films it.

A painting is made of pixels alone. Who wants to see smoke rise or water fall in it listens while
it is painted; nobody else pays for that, and a picture that nobody films is the same as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats

#: Rows and columns of a painting.
Window: TypeAlias = tuple[slice, slice]


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoke:
    """A plume over a crater, in pixels of the painting.

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
        How high it is, and how far it goes aside on its way up, for each pixel of its height.
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
    """Glowing stones that a crater throws, in pixels of the painting; they are not painted.

    Parameters
    ----------
    stones : ndarray of float64
        See `kit.engines.painting.land.eruption.Stones`.
    power : float
        Of their light, where 1 is white paper.
    """

    crater: tuple[float, float]
    unit: float
    stones: NDArray[np.float64]
    power: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lava:
    """What glows on a mountain.

    Parameters
    ----------
    window : tuple of slice
        Where it is in the painting.
    heat, glow : ndarray of float32
        Of the streams, and of the ground that they light, 0 to 1.
    along, around : ndarray of float32
        Distance from the crater in radii of the foot, and direction in turns.
    crater : tuple of float
        Column and row.
    unit : float
        Radius of the crater, in pixels.
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
    """Water that drops.

    Parameters
    ----------
    window : tuple of slice
        Where it is in the painting.
    across, down : ndarray of float32
        Place in the fall: -1 to 1 from side to side, 0 to 1 from lip to foot.
    noise : ndarray of float32
        Tile that its threads are made of.
    shift : float
        Where in the tile it begins.
    seconds : float
        That a drop takes from the lip to the foot.
    away : float
        How far away it is; see `Depths`.
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
    """Mist over the foot of a fall.

    Parameters
    ----------
    window : tuple of slice
        Where it is in the painting.
    across, up : ndarray of float32
        Place in it, in its own breadths.
    thick : ndarray of float32
        How much it covers where its noise is even, 0 to 1.
    noise, shift, away
        See `Fall`.
    """

    window: Window
    across: Floats
    up: Floats
    thick: Floats
    noise: Floats
    shift: float
    away: float


@dataclass(frozen=True, slots=True)
class Depths:
    """How far away each pixel of a painting is, of the painting's shape.

    What is painted later is still put in: it is to be read when the painting is done.
    """

    away: Floats


@dataclass(frozen=True, slots=True)
class Curtains:
    """Linear light of northern lights, of the painting's columns, from its upper edge down."""

    light: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Water:
    """Still water, and which place of a painting each of its pixels mirrors.

    Parameters
    ----------
    rows : slice
        Where it is in the painting; all else has their shape.
    columns, lines : ndarray of float32
        What is mirrored, in pixels of the painting.
    share : ndarray of float32
        How much of its light is seen, 0 to 1.
    away, level : ndarray of float32
        How far away each pixel is, see `Depths`, and how far the water in it is.
    """

    rows: slice
    columns: Floats
    lines: Floats
    share: Floats
    away: Floats
    level: Floats


@dataclass(frozen=True, slots=True)
class Sky:
    """Where a painting shows sky, with all that hangs in it, of the painting's shape."""

    shown: NDArray[np.bool_]


#: Anything that moves by itself, or tells what stands before it.
Stir: TypeAlias = Smoke | Fountain | Lava | Fall | Spray | Curtains | Depths | Sky | Water

_HEARD: ContextVar[list[Stir] | None] = ContextVar("stirring", default=None)


@contextmanager
def heard() -> Iterator[list[Stir]]:
    """Listen to what painters tell in this context, in a list that grows while they paint.

    Examples
    --------
    >>> with heard() as stirs:
    ...     listened()
    True
    >>> listened(), stirs
    (False, [])
    """
    stirs: list[Stir] = []
    token = _HEARD.set(stirs)
    try:
        yield stirs
    finally:
        _HEARD.reset(token)


def listened() -> bool:
    """Return whether anyone films what is painted, and draws what moves by itself."""
    return _HEARD.get() is not None


def tell(stir: Stir) -> None:
    """Tell whoever listens of something that moves by itself."""
    stirs = _HEARD.get()
    if stirs is not None:
        stirs.append(stir)
