"""Palmeries: groves are planted: trunks, crowns and shrubs in the light, shadows on the ground."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.painting.land import air, planting
from kit.engines.painting.land.grove import Flags, Grove, ground_at, hand_of
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.palms import palms
from kit.engines.painting.land.relief import SPAN, Relief
from kit.engines.painting.land.seasons import Mix, mixed_to
from kit.engines.painting.land.stand import Trees, plant
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import Plane
from kit.engines.painting.tints import of_land

_FRONDS: Mix = (((0.46, 0.085, 128), 0.6), ((0.52, 0.092, 118), 0.4))
_SHRUBS: Mix = (((0.40, 0.070, 136), 0.6), ((0.47, 0.080, 122), 0.4))
_BARK = np.array([1.25, 0.98, 0.74], np.float32)[:, None]
_AGAINST = 0.22  # share of its light that a palm before a low sun keeps
_STEM = 0.36  # of a round tree, its height below the crown: a shrub has none


def shaded(land: Relief, grove: Grove, toward: tuple[float, float, float]) -> None:
    """Lay the shadows of palms on the ground, in place.

    Parameters
    ----------
    toward : tuple of float
        Direction to the light: right, along z, up.
    """
    points = land.heights.shape[0]
    dense = points / SPAN
    mask = np.zeros((points, points), np.float32)
    up = max(toward[2], 0.30)
    for x, z, tall in zip(grove.x, grove.z, grove.tall, strict=True):
        foot = ((x + SPAN / 2) * dense, z * dense)
        over = 0.72 * tall * dense / up
        crown = (foot[0] - over * toward[0], foot[1] - over * toward[1])
        low, high = ((round(spot[0] * 16), round(spot[1] * 16)) for spot in (foot, crown))
        cv2.line(mask, low, high, 0.35, 1, cv2.LINE_AA, 4)
        cv2.circle(mask, high, round(0.20 * tall * dense * 16), 0.75, -1, cv2.LINE_AA, 4)
    land.traits[..., 3] *= 1.0 - cv2.GaussianBlur(mask, (0, 0), max(0.5, 0.8 * dense))


def planted(
    scene: Vista, planes: Floats, depth: Floats, land: Relief, grove: Grove, progress: Progress
) -> None:
    """Plant a grove with its shrubs, in place.

    Parameters
    ----------
    depth : ndarray
        Distance of each pixel; plants enter it.
    """
    rng = scene.dice(38)
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    below = _lit(scene, land, *grove.shrubs, _SHRUBS, rng)
    below = replace(below, foot=below.foot - _STEM * below.tall)
    right = scene.toward[0] > 0
    told = progress.part(0.0, 0.3)
    shapes = sprites("broadleaf")
    plant(planes, depth, below, shapes, scene.camera, color, rng, told, mirrored=right)
    trees = _lit(scene, land, grove.x, grove.z, grove.tall, _FRONDS, rng)
    _set(scene, planes, depth, trees, grove.leaning, progress.part(0.3, 1.0))


def _set(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    trees: Trees,
    leaning: float,
    progress: Progress,
) -> None:
    """Plant palms of which most lean to one side and some to the other, in place.

    Parameters
    ----------
    trees : Trees
        In the color of their fronds.
    """
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    backlit = scene.sun.shown and not scene.sun.moon
    trees = replace(trees, color=trees.color * np.float32(_AGAINST if backlit else 1.0))
    other = scene.dice(39).random(len(trees.z)) < 0.22
    for step, part in enumerate((other, ~other)):
        some = _some(trees, part)
        bark = replace(some, color=some.color.mean(axis=0) * _BARK)
        told = progress.part(0.5 * step, 0.5 * step + 0.5)
        for number, (shapes, own) in enumerate(
            ((palms().trunks, bark), (palms().crowns, some)),
        ):
            plant(
                planes,
                depth,
                own,
                shapes,
                scene.camera,
                color,
                scene.dice(40 + step),  # of the same dice: each crown on its own trunk
                told.part(0.5 * number, 0.5 * number + 0.5),
                mirrored=(leaning < 0) == bool(step),
            )


def in_valley(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    land: Relief,
    density: Floats,
    progress: Progress,
) -> None:
    """Plant palms around a lake or a meadow and up the slopes, in place.

    Parameters
    ----------
    density : ndarray
        A map of how willingly trees grow, 0 to 1.
    """
    trees = planting.forest(
        scene,
        land,
        _FRONDS,
        scene.dice(36),
        count=1300,
        tall=(7.0, 12.0),
        line=45.0,
        nearest=62.0,
        density=density,
    )
    _set(scene, planes, depth, trees, -hand_of(scene), progress)


def _lit(
    scene: Vista,
    land: Relief,
    x: Plane,
    z: Plane,
    tall: Plane,
    colors: Mix,
    rng: np.random.Generator,
) -> Trees:
    """Return plants in the light of the places where they stand."""
    x, z = x.astype(np.float32), z.astype(np.float32)
    height = ground_at(land, x, z)
    traits = land.at(x[None], z[None])[0] if len(x) else np.zeros((0, 4), np.float32)
    traits[:, 3] = np.maximum(traits[:, 3], 0.85)  # crowns reach out of each other's shadows
    tints = planting.drawn(
        mixed_to(colors, of_land(scene.brief)), rng.uniform(0.8, 1.2, len(x)), rng
    )
    every = np.ones(len(x), bool)
    return planting.standing(scene, every, x, z, height, tall, traits, tints)


def _some(trees: Trees, part: Flags) -> Trees:
    return Trees(
        trees.x[part],
        trees.z[part],
        trees.foot[part],
        trees.tall[part],
        trees.color[:, part],
        trees.lost[part],
    )
