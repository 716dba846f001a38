"""Staging: how large and how near the camera's words show the subject, and how much besides it.

The camera itself stands in `kit.engines.painting.land.vista`; this is what each land makes of the
same words, and how it stays out of the way of a sun that is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.land.sky import radius_of

if TYPE_CHECKING:
    from kit.engines.painting.land.vista import Vista

_NEAREST = 60.0  # world units: nearer ground is left as it is under a sun
_ROOM, _BESIDE = 1.25, 1.7  # radii of the disc kept free below it and beside it
_STEEP = 0.75  # how steeply the land may rise away from it, in the frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """Factors on a land, 1 where no word changes it.

    Parameters
    ----------
    part : float
        Height of the subject in the frame.
    main : float
        How far it stands out from what is around it.
    others : float
        Height of all else.
    near : float
        How much nearer the land lies than it would.
    plants : float
        Number of trees, ferns and stones.
    grown : float
        Their size.
    swell : float
        Height of the waves.
    """

    part: float = 1.0
    main: float = 1.0
    others: float = 1.0
    near: float = 1.0
    plants: float = 1.0
    grown: float = 1.0
    swell: float = 1.0


_WORDS = {
    "wide": Staging(part=0.62, plants=1.25, grown=0.6, swell=0.7),
    "close": Staging(part=1.3, main=1.6, near=1.9, plants=0.7, grown=1.5, swell=1.2),
    "low": Staging(part=1.15, grown=1.1),
    "minimal": Staging(part=0.62, main=2.0, others=0.10, plants=0.04, swell=0.3),
    "dramatic": Staging(part=1.32, main=2.2, others=0.72, plants=1.2, grown=0.66, swell=1.5),
}


def staging_of(framing: Collection[str]) -> Staging:
    """Return what a brief's composition makes of a land."""
    told = [_WORDS[word] for word in framing if word in _WORDS]
    return Staging(
        **{one.name: math.prod(getattr(word, one.name) for word in told) for one in fields(Staging)}
    )


def parted(heights: Floats, scene: Vista, x: Floats, z: Floats) -> Floats:
    """Return a land that leaves a sun or moon free that is asked for: a saddle lies below it.

    Parameters
    ----------
    x, z : ndarray
        Of the map, in shapes that fit the heights.
    """
    sun, camera = scene.sun, scene.camera
    if not sun.named:
        return heights
    radius = radius_of(sun, camera)
    column = camera.columns / 2 + x * camera.focal / np.maximum(z, 1.0)
    beside = np.maximum(np.abs(column - sun.x) - _BESIDE * radius, 0.0) * np.float32(_STEEP)
    row = np.minimum(sun.y + _ROOM * radius, camera.horizon) - beside
    free = camera.height + (camera.horizon - row) * z / np.float32(camera.focal)
    lower = heights - 0.94 * np.maximum(heights - free, 0.0)
    return np.asarray(np.where(z > _NEAREST, lower, heights), np.float32)
