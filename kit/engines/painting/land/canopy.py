"""Canopies: a forest from above, crown by crown, up to hills in the haze."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import air, planting, sky
from kit.engines.painting.land.cover import covered
from kit.engines.painting.land.ground import Ground, grain, overgrown
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.relief import Relief, grid, relief
from kit.engines.painting.land.sprites import Sprite
from kit.engines.painting.land.stand import Trees, plant
from kit.engines.painting.land.vista import FAR, Vista, finished, vista
from kit.engines.painting.land.voxel import seen
from kit.engines.painting.land.woods import leaves_of, wood_of
from kit.engines.painting.noise import SIDE, eroded, octave, sample, tile
from kit.engines.painting.painting import Painting
from kit.engines.prompt.brief import Brief

_COUNTS = {"low": 2600, "standard": 4000, "high": 6400}
_AIR = 0.62  # of the haze on the ground that is left high above it
_SHADOW = 0.80  # of the sunlight that a cloud takes away
_SPREAD = 700.0  # world units over which the map of stands lies
_DARKER, _PALER = (0.54, 0.74, 0.80), (1.70, 1.50, 0.95)  # what they do to red, green and blue
_DEPTH = 0.72  # lightness of what is seen between crowns, as a share of theirs


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted forest, seen from above.

    Parameters
    ----------
    brief : Brief
        Names of trees choose needles or leaves.
    """
    wood = wood_of(brief)
    leaves = leaves_of(brief, wood)
    scene = vista(brief, horizon=0.42, height=20.0, raised=2.4)
    scene = replace(scene, look=replace(scene.look, haze=_AIR * scene.look.haze))
    painting = progress.part(0.0, 0.15)
    planes = sky.painted(
        scene.look, scene.camera, scene.sun, scene.dice(3), painting, scene.motions
    )
    progress.report(0.15)
    land = relief(_hills(scene), scene.toward)
    _cloud_shadows(scene, land)
    progress.report(0.35)
    view = seen(land.height, scene.camera, progress.part(0.35, 0.45), far=FAR, slices=scene.slices)
    progress.report(0.45)
    ground, grains = _shade(leaves, brief.season), grain(scene.dice(5))
    covered(scene, progress.part(0.45, 0.6), planes, view, land, ground, grains, mist=0.25)
    shapes = sprites("spruce" if wood.needles else "broadleaf")
    depth = view.z.copy()
    _grow(scene, planes, depth, land, leaves, shapes, progress.part(0.6, 0.88))
    progress.report(0.88)
    return finished(scene, progress.part(0.88, 1.0), planes, depth, view.sky)


def _hills(scene: Vista) -> Floats:
    """Return rolling country, low before the camera and rising to ranges far off."""
    rng, points = scene.dice(4), scene.points
    x, z = grid(points)
    worn = eroded(rng, points, cells=6.0)
    swell = octave(rng, points, 5) + 0.6 * octave(rng, points, 11)
    side = x / (scene.camera.widest * (z + 60.0))
    heights = 26.0 * (worn - 0.5) + 15.0 * swell
    heights += (70.0 * worn + 34.0 * swell) * smooth_step(300, 720, z)
    heights += 22.0 * np.abs(side) ** 1.5 * smooth_step(60, 260, z)
    # The eye looks down on what is near.
    most = 0.30 * scene.camera.height + 0.13 * z
    return np.asarray(np.minimum(heights, most - 0.25 * np.maximum(most - heights, 0.0)))


def _cloud_shadows(scene: Vista, land: Relief) -> None:
    """Let clouds lay their shadows over the woods, in place."""
    rng, points = scene.dice(9), scene.points
    gaps = octave(rng, points, 8) + 0.5 * octave(rng, points, 19)
    land.traits[..., 3] *= 1.0 - _SHADOW * smooth_step(0.35, -0.45, gaps)


def _stands(rng: np.random.Generator, trees: Trees) -> Trees:
    """Return trees in stands of their own kind and age: darker and bluer, or paler and warmer."""
    across, along = (np.float32(SIDE / _SPREAD) * part for part in (trees.x, trees.z))
    kind, age = (sample(tile(rng, cells=cells, octaves=3), across, along)[0] for cells in (16, 64))
    pale = smooth_step(-0.25, 0.55, kind + 0.35 * age)
    tone = np.array(_DARKER)[:, None] * (1 - pale) + np.array(_PALER)[:, None] * pale
    color = trees.color * tone * (1.0 + 0.22 * np.clip(age, -1.0, 1.0))
    return replace(trees, color=np.asarray(color, np.float32))


def _shade(leaves: tuple[Oklch, ...], season: str) -> Ground:
    """Return what shows between crowns: other leaves in their shadow, or snow."""
    if season == "winter":
        deep, other = (0.80, 0.014, 245.0), (0.88, 0.010, 245.0)
    else:
        deep, other = ((one[0] * _DEPTH, one[1] * 0.8, one[2]) for one in (leaves[0], leaves[-1]))
        other = (other[0] + 0.10, 1.3 * other[1], other[2] - 18.0)
    return overgrown(deep, other, rough=1.6, fine=1.2)


def _grow(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    land: Relief,
    leaves: tuple[Oklch, ...],
    shapes: tuple[Sprite, ...],
    progress: Progress,
) -> None:
    """Plant the hills all over, in place, with gaps here and there."""
    rng = scene.dice(6)
    gaps = np.clip(0.80 + 1.1 * octave(rng, 256, 22), 0.06, 1.0).astype(np.float32)
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
    if scene.brief.season != "winter":  # snow is alike on all of them
        trees = _stands(scene.dice(11), trees)
    # Only crowns show: their feet are in the ground, which stands for what is under them.
    trees = replace(trees, foot=trees.foot - np.float32(0.32) * trees.tall)
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    right = scene.toward[0] > 0
    plant(planes, depth, trees, shapes, scene.camera, color, rng, progress, mirrored=right)
