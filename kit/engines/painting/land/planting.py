"""Planting: the positions of plants on a relief, their light, and their drawing."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.painting.land.ground import Mix, Woods
from kit.engines.painting.land.landscape import Landscape, look_up
from kit.engines.painting.land.plants import sprites
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

_OCCLUSION = 0.985  # pixels nearer than this share of a plant's distance hide it
_BARK = np.array([1.25, 0.98, 0.74], np.float32)[:, None]


@dataclass(frozen=True, slots=True)
class Plants:
    """Plants of a kind, arrays of equal length, in any order."""

    x: Floats
    z: Floats
    foot: Floats  # height of the ground
    tall: Floats
    color: Floats  # light of the foliage, shape (3, n)
    flip: NDArray[np.bool_]  # mirrored

    def keep(self, which: NDArray[np.bool_]) -> Plants:
        """Return the plants selected by a mask."""
        return Plants(*(getattr(self, one.name)[..., which] for one in fields(self)))

    def sink(self, share: float) -> Plants:
        """Return the plants with a share of their height below the ground."""
        return replace(self, foot=self.foot - np.float32(share) * self.tall)


def spread(
    scene: Landscape, rng: np.random.Generator, z: Plane, margin: float = 2.0
) -> tuple[Floats, Floats, Floats]:
    """Return x of plants across the frame, and the height and slope of their ground."""
    x = rng.uniform(-1.05, 1.05, len(z)) * (scene.camera.widest * z + margin)
    x = np.asarray(x, np.float32)
    traits = scene.land.at(x, z)
    return x, scene.land.height(x, z), np.hypot(traits[:, 0], traits[:, 1])


def plants_at(
    scene: Landscape,
    rng: np.random.Generator,
    x: Plane,
    z: Plane,
    tall: Plane,
    colors: Mix,
    *,
    light_of: tuple[float, float] = (0.40, 0.78),
    least: float = 0.0,
) -> Plants:
    """Return plants at places, with their light.

    They reflect shares of the light of sun and sky; at least their crowns get some sunlight.
    """
    x, z = np.asarray(x, np.float32), np.asarray(z, np.float32)
    traits, look = scene.land.at(x, z), scene.look
    shares = np.array([share for _, share in colors])
    which = rng.choice(len(colors), len(x), p=shares / shares.sum())
    own = np.stack([light(color)[:, 0, 0] for color, _ in colors], axis=1)[:, which]
    sunny = light(look.sun, light_of[0] * look.sun_power)[:, 0]
    shady = light(look.shade, light_of[1] * look.shade_power)[:, 0]
    lit = sunny * np.maximum(traits[:, 3], least) + shady * traits[:, 2]
    color = np.asarray(own * rng.uniform(0.74, 1.21, len(x)) * lit, np.float32)
    flip = np.full(len(x), scene.toward[0] > 0)
    return Plants(x, z, scene.land.height(x, z), np.asarray(tall, np.float32), color, flip)


def forest(
    scene: Landscape, woods: Woods, rng: np.random.Generator, *, count: int, shy: float = 0.0
) -> Plants:
    """Return trees on gentle visible ground, in clumps, outside the clearing."""
    z = woods.nearest + (640.0 - woods.nearest) * rng.uniform(0, 1, count) ** 1.45
    x, height, steep = spread(scene, rng, z)
    luck = rng.random(count)
    line = woods.line
    keep = (height > woods.lowest) & (height < line * (0.8 + 0.35 * luck)) & (steep < 0.95)
    keep &= luck < look_up(woods.density, x, z)
    outward = np.abs(x) / (scene.camera.widest * z)
    keep &= outward > (woods.clearing + 0.5 * shy * rng.random(count)) - z / 200
    high = rng.uniform(*woods.tall, count) * (1.0 - 0.4 * np.clip(height / (1.3 * line), 0, 1))
    if woods.kind != "palm":
        return plants_at(scene, rng, x, z, high, woods.leaves).keep(keep)
    # Palms stay in the frame, lean to either side, and are dark against the sun.
    room = 0.95 * scene.camera.rise * z + scene.camera.height - height
    palms = plants_at(scene, rng, x, z, np.minimum(high, room), woods.leaves, least=0.85)
    dark = np.float32(0.22 if scene.sun.shown and not scene.sun.moon else 1.0)
    flip = (rng.random(count) < 0.25) == (scene.subject < 0)
    return replace(palms, flip=flip, color=palms.color * dark).keep(keep & (room > 0.6 * high))


def strew(
    scene: Landscape,
    colors: Mix,
    rng: np.random.Generator,
    *,
    count: float,
    tall: float,
    between: tuple[float, float] = (0.22, 120.0),
    even: float = 1.5,
    lowest: float = 0.5,
) -> Plants:
    """Return small objects before the camera, equally many per row of the frame.

    They are between a share of the distance of the lowest row and a distance in meters, above a
    height; with a larger `even`, fewer are tall.
    """
    near = scene.camera.nearest * between[0]
    z = 1.0 / rng.uniform(1 / between[1], 1 / near, round(count))
    x, height, steep = spread(scene, rng, z, 0.5)
    keep = (height > lowest + 0.9 * rng.random(len(z))) & (steep < 0.9)
    high = tall * rng.uniform(0.35, 1.15, len(z)) ** even
    # Grass up to eye level would be a wall.
    high = np.minimum(high, np.maximum(0.4 * (scene.camera.height - height), 0.25 * high))
    return plants_at(scene, rng, x, z, high, colors).keep(keep)


def plant(scene: Landscape, plants: Plants, kind: str, end: float) -> None:
    """Draw plants from far to near; they enter the depth, so that later ones are occluded."""
    camera, depth, shapes = scene.camera, scene.depth, sprites(kind)
    scene.planted += 1
    which = scene.rng(40 + scene.planted).integers(0, len(shapes), len(plants.z))
    lost = scene.haze(plants.z, plants.foot + 0.8 * plants.tall)
    unit = np.float32(camera.focal) / plants.z
    talls, columns = plants.tall * unit, camera.columns / 2 + plants.x * unit
    feet = camera.horizon - (plants.foot - camera.height) * unit
    airs = scene.air[:, 0, np.clip(columns, 0, camera.columns - 1).astype(int)] * lost
    leaves = plants.color * (1.0 - lost)
    barks = leaves.mean(axis=0) * _BARK
    order = np.argsort(-plants.z)
    for step, number in enumerate(order[talls[order] >= 3]):
        if step % 64 == 0:
            scene.progress.report(end)
        shape, tall, flip = shapes[which[number]], float(talls[number]), bool(plants.flip[number])
        left, top, wide, high = (tall * side for side in shape.box)
        left = float(columns[number]) + (-left - wide if flip else left)
        top += float(feet[number]) + 1.0
        rows = slice(max(0, int(top)), min(camera.rows, int(top + high) + 1))
        across = slice(max(0, int(left)), min(camera.columns, int(left + wide) + 1))
        if rows.start >= rows.stop or across.start >= across.stop:
            continue
        z, behind = float(plants.z[number]), depth[rows, across]
        if behind.max() <= z * _OCCLUSION:
            continue
        size = (across.stop - across.start, rows.stop - rows.start)
        planes = shape.cut(tall, across.start - left, rows.start - top, size, flip=flip)
        free = behind > z * _OCCLUSION
        cover, *parts = (part * free for part in cv2.split(planes))
        patch = scene.light[:, rows, across]
        patch *= 1.0 - cover
        colors = (leaves[:, number], barks[:, number])
        for part, color in ((cover, airs[:, number]), *zip(parts, colors, strict=False)):
            for plane, own in zip(patch, color.tolist(), strict=True):
                cv2.scaleAdd(part, own, plane, dst=plane)
        behind[cover > 0.5] = z
