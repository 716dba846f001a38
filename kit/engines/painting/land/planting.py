"""Planting: which trees and tufts stand where on a relief, and how they are lit there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats, Oklch
from kit.engines.painting.land import air
from kit.engines.painting.land.relief import Relief
from kit.engines.painting.land.stand import Trees
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import Plane, sample
from kit.engines.painting.tone import light

Mix = Sequence[tuple[Oklch, float]]


def forest(
    scene: Vista,
    relief: Relief,
    colors: Mix,
    rng: np.random.Generator,
    *,
    count: int,
    tall: tuple[float, float] = (4.0, 7.5),
    line: float = 66.0,
    lowest: float = 1.2,
    nearest: float = 30.0,
    shy: float = 0.0,
    clearing: float = 0.55,
    density: Floats | None = None,
) -> Trees:
    """Return trees on the gentle ground that the camera may see, in clumps.

    Parameters
    ----------
    line : float
        Height above which no tree grows.
    shy : float
        How far trees keep away from the clearing before the camera: 0 they stand around it.
    clearing : float
        How wide the clearing before the camera is, 1 for the whole view, less than 0 for none.
    density : ndarray, optional
        A map of how willingly trees grow, 0 to 1, as large as the relief's.
    """
    x, z = _scattered(scene, rng, count, nearest, 640.0)
    height, traits = relief.height(x, z)[0], relief.at(x, z)[0]
    steep = np.hypot(traits[:, 0], traits[:, 1])
    luck = rng.random(count)
    keep = (height > lowest) & (height < line * (0.8 + 0.35 * luck)) & (steep < 0.95)
    outward = np.abs(x[0]) / (scene.camera.widest * z[0])
    # A clearing before the camera, at whose border trees stand apart.
    keep &= outward > (clearing + 0.5 * shy * rng.random(count)) - z[0] * np.float32(1 / 200)
    if density is not None:
        keep &= luck < Relief(density, density).height(x, z)[0]
    high = rng.uniform(*tall, count) * (1.0 - 0.4 * np.clip(height / (1.3 * line), 0, 1))
    shade = rng.uniform(0.72, 1.22, count)
    return standing(scene, keep, x[0], z[0], height, high, traits, drawn(colors, shade, rng))


def strewn(
    scene: Vista,
    relief: Relief,
    colors: Mix,
    rng: np.random.Generator,
    *,
    count: int,
    tall: float,
    between: tuple[float, float] = (0.22, 120.0),
    even: float = 1.5,
    lowest: float = 0.5,
) -> Trees:
    """Return small things on the ground in front of the camera, as many to each row of the frame.

    Parameters
    ----------
    between : tuple of float
        How near, as a share of the distance of the lowest row, and how far, in world units.
    even : float
        The more, the fewer of them are tall.
    lowest : float
        Height of the ground from which they lie.
    """
    near, far = scene.camera.nearest * between[0], between[1]
    away = 1.0 / rng.uniform(1 / far, 1 / near, count)  # as many to each row of the frame
    x, z = _spread(scene, rng, away, 0.5)
    height, traits = relief.height(x, z)[0], relief.at(x, z)[0]
    steep = np.hypot(traits[:, 0], traits[:, 1])
    keep = (height > lowest + 0.9 * rng.random(count)) & (steep < 0.9)
    high = tall * rng.uniform(0.35, 1.15, count) ** even
    # Grass that reaches up to the eye would be a wall.
    high = np.minimum(high, np.maximum(0.4 * (scene.camera.height - height), 0.25 * high))
    shade = rng.uniform(0.75, 1.2, count)
    light_on = drawn(colors, shade, rng)
    return standing(scene, keep, x[0], z[0], height, high, traits, light_on)


def _scattered(
    scene: Vista, rng: np.random.Generator, count: int, near: float, far: float
) -> tuple[Floats, Floats]:
    return _spread(scene, rng, near + (far - near) * rng.uniform(0, 1, count) ** 1.45, 2.0)


def _spread(
    scene: Vista, rng: np.random.Generator, z: Plane, margin: float
) -> tuple[Floats, Floats]:
    x = rng.uniform(-1.05, 1.05, len(z)) * (scene.camera.widest * z + margin)
    return x.astype(np.float32)[None], z.astype(np.float32)[None]


def drawn(colors: Mix, shade: Plane, rng: np.random.Generator) -> Floats:
    """Return a color for each of some plants, shape (3, n), as bright as their shades tell."""
    shares = np.array([share for _, share in colors])
    which = rng.choice(len(colors), len(shade), p=shares / shares.sum())
    palette = np.stack([light(color)[:, 0, 0] for color, _ in colors], axis=1)
    return np.asarray(palette[:, which] * shade)


def standing(
    scene: Vista,
    keep: NDArray[np.bool_],
    x: Floats,
    z: Floats,
    height: Floats,
    high: Plane,
    traits: Floats,
    color: Floats,
) -> Trees:
    """Return plants as they stand in the light, those of them that are kept.

    Parameters
    ----------
    keep : ndarray of bool
        By plant, as all that follow.
    height, high : ndarray
        Of the ground, and of the plants themselves.
    traits : ndarray, shape (n, 4)
        Of the ground; see `Relief`.
    color : ndarray, shape (3, n)
        Of the plants, as linear light.
    """
    look = scene.look
    sunny = light(look.sun, 0.40 * look.sun_power)[:, 0]
    shady = light(look.shade, 0.78 * look.shade_power)[:, 0]
    lit = color[:, keep] * (sunny * traits[keep, 3] + shady * traits[keep, 2])
    tops = np.asarray(height[keep] + 0.5 * high[keep], np.float32)
    lost = air.haze(look, z[keep], tops)
    return Trees(
        x[keep],
        z[keep],
        height[keep],
        high[keep].astype(np.float32),
        np.asarray(lit, np.float32),
        lost,
    )


def tussocks(bumps: Floats, x: Floats, z: Floats) -> Floats:
    """Return small heights of the ground near by: tussocks, and here and there a stone."""
    fine = sample(bumps, x * np.float32(9.0), z * np.float32(9.0))
    stones = sample(bumps, x * np.float32(4.3) + 100, z * np.float32(4.3))
    fade = np.clip((120.0 - z) * np.float32(1 / 80), 0.0, 1.0)
    return np.asarray((0.13 * fine + 0.9 * np.maximum(stones - 1.9, 0.0)) * fade, np.float32)
