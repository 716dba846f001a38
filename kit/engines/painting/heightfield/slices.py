"""Slices: at which distances a flight looks for ground, so that what stands on it can be told.

Between two slices ground is seen as if it rose evenly. A tree stands out where slices lie closer
together than trees do; what no frame sees, close below the camera, needs none at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.painting.heightfield.patches import FAR
from kit.engines.painting.heightfield.terrain import Land, Station

#: Up to which distance heights have how many texels to a unit.
Fineness: TypeAlias = tuple[tuple[float, float], ...]

NEAR = 5.0
#: Slices up to a distance are looked up in heights of so many texels to a unit: far slices lie
#: apart, and finer heights between them would make crests flicker.
FINENESS: Fineness = ((130.0, 2.0), (420.0, 1.0), (FAR + 1.0, 0.5))
#: The same where trees stand: each has the shape of its crown as far as its slices tell it.
WOODED: Fineness = ((45.0, 4.0), (280.0, 2.0), (560.0, 1.0), (FAR + 1.0, 0.5))
#: Of the slices: by how fast ground grows smaller, by how far it is, and evenly.
_BARE_SHARES = (0.34, 0.38, 0.28)
_WOODED_SHARES = (0.14, 0.22, 0.18)
#: Units up to which the others are spread where trees stand, and over which they grow fewer.
_TREES, _FEWER = 300.0, 150.0
_TREELESS = ("desert", "canyon")  # nothing that stands there is as high as a tree
_SKIPPED = 6  # frames, in which a flight does not come far
_SEARCHED = 60.0  # units up to which the nearest ground in sight is looked for
_SPARED = 0.8  # share of that distance that is surely out of sight
_STANDING = 1.5  # units that something may stand above what was found
_LEANING = 0.03  # tangent by which a side of the frame may dip when the camera leans


def sliced(
    ground: Land, stations: Sequence[Station], widest: float, down: float, count: int
) -> tuple[Floats, Fineness]:
    """Return at which distances a flight looks for ground, shape (count,), and how fine it is.

    Parameters
    ----------
    stations : sequence of Station
        Of each frame.
    widest, down : float
        See `nearest`.
    """
    if ground.kind in _TREELESS:
        return bare(count), FINENESS
    return wooded(count, nearest(ground, stations[::_SKIPPED], widest, down)), WOODED


def bare(count: int) -> Floats:
    """Return distances that spread slices so that near ground and far ridges get their part."""
    return _spread(count, NEAR, _BARE_SHARES)


def wooded(count: int, near: float) -> Floats:
    """Return distances of slices from the nearest one on, most where trees can be told apart."""
    return _spread(count, near, _WOODED_SHARES)


def nearest(ground: Land, stations: Sequence[Station], widest: float, down: float) -> float:
    """Return a distance that is nearer than any ground in sight, in units.

    Parameters
    ----------
    widest : float
        Tangent from the middle of the view to its sides.
    down : float
        Height of a frame as a tangent.
    """
    away = np.geomspace(NEAR, _SEARCHED, 28)[:, None, None]
    across = np.linspace(-widest, widest, 15)[:, None]
    x, y, heading, height, horizon = (
        np.array([getattr(at, name) for at in stations])
        for name in ("x", "y", "heading", "height", "horizon")
    )
    forward, aside = np.sin(heading), np.cos(heading)
    top = ground.top(x + away * (forward + across * aside), y + away * (aside - across * forward))
    lowest = height - away * ((1.0 - horizon) * down + _LEANING)
    found = np.flatnonzero((top + _STANDING > lowest).any(axis=(1, 2)))
    reach = float(away[found[0], 0, 0]) if len(found) else _SEARCHED
    return max(NEAR, _SPARED * reach)


def _spread(count: int, near: float, shares: tuple[float, float, float]) -> Floats:
    fine = np.geomspace(near, FAR, 4096)
    density = shares[0] / fine**2 / (1 / near - 1 / FAR) + shares[1] / fine / math.log(FAR / near)
    density += shares[2] / (FAR - near)
    if (left := 1.0 - sum(shares)) > 1e-6:
        density += left * _among_trees(fine)
    share = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    return np.interp(np.linspace(0.0, share[-1], count), share, fine).astype(np.float32)


def _among_trees(fine: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a density of sum 1 that is even up to where trees grow too small to be told."""
    even = np.clip((_TREES - fine) / _FEWER, 0.0, 1.0)
    return np.asarray(even / (even * np.gradient(fine)).sum())
