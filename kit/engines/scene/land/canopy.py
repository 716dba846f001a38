"""Canopies: a forest from above, crown by crown, up to hills in the haze."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.scene.brief import Brief
from kit.engines.scene.land import air, planting, sky
from kit.engines.scene.land.cover import covered
from kit.engines.scene.land.fields import eroded, smooth
from kit.engines.scene.land.ground import Ground, grain
from kit.engines.scene.land.library import sprites
from kit.engines.scene.land.relief import Relief, grid, relief
from kit.engines.scene.land.sprites import Sprite
from kit.engines.scene.land.stand import plant
from kit.engines.scene.land.vista import FAR, Vista, finished, vista
from kit.engines.scene.land.voxel import seen
from kit.engines.scene.land.woods import leaves_of, wood_of

_COUNTS = {"low": 2600, "standard": 4000, "high": 6400}
_DEPTH = 0.72  # lightness of what is seen between crowns, as a share of theirs


def paint(brief: Brief, progress: Progress) -> Bytes:
    """Return a painted forest, seen from above.

    Parameters
    ----------
    brief : Brief
        Names of trees choose needles or leaves.

    Returns
    -------
    ndarray of uint8, shape (brief.height, brief.width, 3), sRGB
    """
    wood = wood_of(brief)
    leaves = leaves_of(brief, wood)
    scene = vista(brief, horizon=0.42, height=20.0, raised=2.4)
    planes = sky.painted(scene.look, scene.camera, scene.sun, scene.dice(3))
    progress.report(0.15)
    land = relief(_hills(scene), scene.toward)
    progress.report(0.35)
    view = seen(land.height, scene.camera, far=FAR, slices=scene.slices)
    progress.report(0.45)
    ground, grains = _shade(leaves, brief.season), grain(scene.dice(5))
    covered(scene, progress.part(0.45, 0.6), planes, view, land, ground, grains, mist=0.25)
    shapes = sprites("spruce" if wood.needles else "broadleaf")
    _grow(scene, planes, view.z.copy(), land, leaves, shapes)
    progress.report(0.88)
    return finished(scene, progress.part(0.88, 1.0), planes, view.sky)


def _hills(scene: Vista) -> Floats:
    """Return rolling country, low before the camera and rising to ranges far off."""
    rng, points = scene.dice(4), scene.points
    x, z = grid(points)
    worn = eroded(rng, points, cells=6.0)
    swell = smooth(rng, points, 5) + 0.6 * smooth(rng, points, 11)
    side = x / (scene.camera.widest * (z + 60.0))
    heights = 26.0 * (worn - 0.5) + 15.0 * swell
    heights += (70.0 * worn + 34.0 * swell) * smooth_step(300, 720, z)
    heights += 22.0 * np.abs(side) ** 1.5 * smooth_step(60, 260, z)
    # The eye looks down on what is near.
    most = 0.30 * scene.camera.height + 0.13 * z
    return np.asarray(np.minimum(heights, most - 0.25 * np.maximum(most - heights, 0.0)))


def _shade(leaves: tuple[Oklch, ...], season: str) -> Ground:
    """Return what shows between crowns: other leaves in their shadow, or snow."""
    if season == "winter":
        deep, other = (0.80, 0.014, 245.0), (0.88, 0.010, 245.0)
    else:
        deep, other = ((one[0] * _DEPTH, one[1] * 0.8, one[2]) for one in (leaves[0], leaves[-1]))
    return Ground(
        low=deep,
        low_other=other,
        rock=deep,
        rock_other=other,
        top=other,
        shore=deep,
        top_line=1e4,
        rough=1.6,
        fine=1.2,
    )


def _grow(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    land: Relief,
    leaves: tuple[Oklch, ...],
    shapes: tuple[Sprite, ...],
) -> None:
    """Plant the hills all over, in place, with gaps here and there."""
    rng = scene.dice(6)
    gaps = np.clip(0.86 + 0.7 * smooth(rng, 256, 26), 0.25, 1.0).astype(np.float32)
    trees = planting.forest(
        scene,
        land,
        tuple((leaf, 1.0) for leaf in leaves),
        rng,
        count=_COUNTS[scene.brief.detail],
        tall=(8.5, 15.0),
        line=1e3,
        lowest=-1e3,
        nearest=0.45 * scene.camera.nearest,
        clearing=-9.0,
        density=gaps,
    )
    # Only crowns show: their feet are in the ground, which stands for what is under them.
    trees = replace(trees, foot=trees.foot - np.float32(0.32) * trees.tall)
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    right = scene.toward[0] > 0
    plant(planes, depth, trees, shapes, scene.camera, color, rng, mirrored=right)
