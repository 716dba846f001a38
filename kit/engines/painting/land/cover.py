"""Cover: ground is painted over the sky, with the air between."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.painting.land import air
from kit.engines.painting.land.ground import Grain, Ground, shaded
from kit.engines.painting.land.relief import Relief
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.land.voxel import Seen, softened

_BAND = 200_000  # pixels that are shaded at a time


def land_rows(view: Seen) -> slice:
    """Return the rows in which anything but sky is seen."""
    covered_rows = np.flatnonzero(~view.sky.all(axis=1))
    first = int(covered_rows[0]) if len(covered_rows) else view.sky.shape[0] - 1
    return slice(first, view.sky.shape[0])


def bands(rows: slice, columns: int) -> list[slice]:
    """Return rows in stretches that fit a processor's cache and take a moment each."""
    step = max(16, _BAND // columns)
    starts = range(rows.start, rows.stop, step)
    return [slice(start, min(start + step, rows.stop)) for start in starts]


def covered(
    scene: Vista,
    progress: Progress,
    planes: Floats,
    view: Seen,
    land: Relief,
    ground: Ground,
    grains: Grain,
    *,
    water: float = -1e3,
    mist: float = 0.3,
    start: float = 25.0,
) -> None:
    """Paint the ground that is seen over the sky, in place.

    Parameters
    ----------
    water : float
        Height of the water, whose shore has a color of its own.
    mist : float
        How much of it lies in low places, 0 to 1.
    start : float
        Distance up to which the air is clear.
    """
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    for rows in progress.over(bands(land_rows(view), scene.camera.columns)):
        own = shaded(
            view, rows, land, ground, grains, scene.look, scene.toward, scene.camera, water=water
        )
        lost = air.haze(scene.look, view.z[rows], view.height[rows], mist=mist, start=start)
        own = air.hazed(own, lost, color)
        planes[:, rows] = np.where(view.sky[rows], planes[:, rows], own)
    softened(planes, view.edge)
