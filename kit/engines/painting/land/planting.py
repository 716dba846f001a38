"""Planting: which plants stand where on a relief, how they are lit there, and drawing them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.painting.land.ground import Mix
from kit.engines.painting.land.landscape import Landscape
from kit.engines.painting.land.plants import Sprite, sprites
from kit.engines.painting.noise import Plane
from kit.engines.painting.relief import SPAN, look_up
from kit.engines.painting.tone import light

_REPORTED = 64  # plants that are drawn between two reports
_NEARER = 0.985  # what is nearer than this share of a plant's distance hides it
_LEAST = 3  # pixels; smaller plants do not show
_BARK = np.array([1.25, 0.98, 0.74], np.float32)


@dataclass(frozen=True, slots=True)
class Plants:
    """Plants of a kind, arrays of one length, in any order.

    Parameters
    ----------
    x, z, foot, tall : ndarray
        Where each stands, the height of its foot, and its own height.
    color : ndarray, shape (3, n)
        Light that its foliage sends.
    flip : ndarray of bool
        Seen in a mirror.
    """

    x: Floats
    z: Floats
    foot: Floats
    tall: Floats
    color: Floats
    flip: NDArray[np.bool_]

    def kept(self, which: NDArray[np.bool_]) -> Plants:
        """Return those of the plants that a flag for each tells."""
        return Plants(*(getattr(self, one.name)[..., which] for one in fields(self)))

    def joined(self, other: Plants) -> Plants:
        """Return these and others."""
        names = [one.name for one in fields(self)]
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return Plants(*(np.concatenate(pair, axis=-1) for pair in pairs))


def spread(scene: Landscape, rng: np.random.Generator, z: Plane, margin: float = 2.0) -> Floats:
    """Return x for plants at distances, all over the width of the frame."""
    x = rng.uniform(-1.05, 1.05, len(z)) * (scene.camera.widest * z + margin)
    return np.asarray(x, np.float32)


def by_rows(rng: np.random.Generator, near: float, far: float, count: int) -> Plane:
    """Return distances of which as many fall on each row of the frame."""
    return 1.0 / rng.uniform(1 / far, 1 / near, count)


def stand(
    scene: Landscape,
    rng: np.random.Generator,
    x: Plane,
    z: Plane,
    tall: Plane,
    colors: Mix,
    *,
    keep: NDArray[np.bool_] | None = None,
    shade: tuple[float, float] = (0.75, 1.2),
    light_of: tuple[float, float] = (0.40, 0.78),
    least: float = 0.0,
) -> Plants:
    """Return plants as they stand at places in the light.

    Parameters
    ----------
    keep : ndarray of bool, optional
        Which of them are kept.
    shade : tuple of float
        Between which their brightness lies.
    light_of : tuple of float
        Shares of the light of sun and sky that they send back.
    least : float
        Sunlight that reaches at least their crowns.
    """
    x, z = np.asarray(x, np.float32), np.asarray(z, np.float32)
    traits = scene.land.at(x, z)
    shares = np.array([share for _, share in colors])
    which = rng.choice(len(colors), len(x), p=shares / shares.sum())
    own = np.stack([light(color)[:, 0, 0] for color, _ in colors], axis=1)[:, which]
    look = scene.look
    sunny = light(look.sun, light_of[0] * look.sun_power)[:, 0]
    shady = light(look.shade, light_of[1] * look.shade_power)[:, 0]
    lit = sunny * np.maximum(traits[:, 3], least) + shady * traits[:, 2]
    color = np.asarray(own * rng.uniform(*shade, len(x)) * lit, np.float32)
    flip = np.full(len(x), scene.toward[0] > 0)
    foot = scene.land.height(x, z)
    plants = Plants(x, z, foot, np.asarray(tall, np.float32), color, flip)
    return plants if keep is None else plants.kept(keep)


def forest(
    scene: Landscape,
    colors: Mix,
    rng: np.random.Generator,
    *,
    count: int,
    tall: tuple[float, float],
    nearest: float,
    line: float,
    lowest: float = 1.2,
    shy: float = 0.0,
    clearing: float = 0.55,
    density: Floats,
) -> Plants:
    """Return trees on the gentle ground that the camera may see, in clumps.

    Parameters
    ----------
    line, lowest : float
        Heights between which they grow.
    shy : float
        How far trees keep away from the clearing before the camera: 0 they stand around it.
    clearing : float
        How wide the clearing before the camera is, 1 for the whole view, less than 0 for none.
    density : ndarray
        A map of how willingly trees grow, 0 to 1.
    """
    z = nearest + (640.0 - nearest) * rng.uniform(0, 1, count) ** 1.45
    x = spread(scene, rng, z)
    height, traits = scene.land.height(x, z), scene.land.at(x, z)
    luck = rng.random(count)
    keep = (height > lowest) & (height < line * (0.8 + 0.35 * luck))
    keep &= np.hypot(traits[:, 0], traits[:, 1]) < 0.95
    outward = np.abs(x) / (scene.camera.widest * z)
    # A clearing before the camera, at whose border trees stand apart.
    keep &= outward > (clearing + 0.5 * shy * rng.random(count)) - z / 200
    keep &= luck < look_up(density, x, z)
    high = rng.uniform(*tall, count) * (1.0 - 0.4 * np.clip(height / (1.3 * line), 0, 1))
    return stand(scene, rng, x, z, high, colors, keep=keep, shade=(0.72, 1.22))


def strew(
    scene: Landscape,
    colors: Mix,
    rng: np.random.Generator,
    *,
    count: int,
    tall: float,
    between: tuple[float, float] = (0.22, 120.0),
    even: float = 1.5,
    lowest: float = 0.5,
) -> Plants:
    """Return small things on the ground in front of the camera.

    Parameters
    ----------
    between : tuple of float
        How near, as a share of the distance of the lowest row, and how far, in meters.
    even : float
        The more, the fewer of them are tall.
    lowest : float
        Height of the ground from which they lie.
    """
    z = by_rows(rng, scene.camera.nearest * between[0], between[1], count)
    x = spread(scene, rng, z, 0.5)
    height, traits = scene.land.height(x, z), scene.land.at(x, z)
    keep = height > lowest + 0.9 * rng.random(count)
    keep &= np.hypot(traits[:, 0], traits[:, 1]) < 0.9
    high = tall * rng.uniform(0.35, 1.15, count) ** even
    # Grass that reaches up to the eye would be a wall.
    high = np.minimum(high, np.maximum(0.4 * (scene.camera.height - height), 0.25 * high))
    return stand(scene, rng, x, z, high, colors, keep=keep)


def palms(
    scene: Landscape, x: Plane, z: Plane, tall: Plane, keep: NDArray[np.bool_], lean: float
) -> Plants:
    """Return palms at those of some places where they fit into the frame.

    Parameters
    ----------
    lean : float
        The side to which most of them lean: -1 left, 1 right.
    """
    rng, camera = scene.dice(38), scene.camera
    room = 0.95 * camera.rise * z + camera.height - scene.land.height(x, z)
    tall = np.minimum(tall, room)
    colors: Mix = (((0.46, 0.085, 128), 0.6), ((0.52, 0.092, 118), 0.4))
    plants = stand(scene, rng, x, z, tall, colors, shade=(0.8, 1.2), least=0.85)
    backlit = scene.sun.shown and not scene.sun.moon
    flip = (rng.random(len(x)) < 0.22) == (lean > 0)
    color = plants.color * np.float32(0.22 if backlit else 1.0)
    keep = keep & (room > 6.0)
    return replace(plants, flip=flip, color=color).kept(keep)


def cast_shadows(scene: Landscape, plants: Plants) -> None:
    """Lay the shadows of palms on the ground."""
    points = scene.points
    dense = points / SPAN
    mask, up = np.zeros((points, points), np.float32), max(scene.toward[2], 0.30)
    for x, z, tall in zip(plants.x, plants.z, plants.tall, strict=True):
        foot = np.array([x + SPAN / 2, z]) * dense
        crown = foot - 0.72 * tall * dense / up * np.array(scene.toward[:2])
        low, high = ((round(16 * spot[0]), round(16 * spot[1])) for spot in (foot, crown))
        cv2.line(mask, low, high, 0.35, 1, cv2.LINE_AA, 4)
        cv2.circle(mask, high, round(0.20 * tall * dense * 16), 0.75, -1, cv2.LINE_AA, 4)
    scene.land.traits[..., 3] *= 1.0 - cv2.GaussianBlur(mask, (0, 0), max(0.5, 0.8 * dense))


def plant(scene: Landscape, plants: Plants, kind: str | tuple[Sprite, ...], end: float) -> None:
    """Draw plants from far to near; they enter the depth, so that later ones are hidden.

    Parameters
    ----------
    end : float
        Share of the whole progress when it is done.
    """
    shapes = sprites(kind) if isinstance(kind, str) else kind
    camera, depth = scene.camera, scene.depth
    scene.planted += 1
    which = scene.dice(40 + scene.planted).integers(0, len(shapes), len(plants.z))
    lost = scene.haze(plants.z, plants.foot + 0.5 * plants.tall)
    talls = plants.tall * camera.focal / plants.z
    columns = camera.columns / 2 + plants.x * camera.focal / plants.z
    feet = camera.horizon - (plants.foot - camera.height) * camera.focal / plants.z
    middles = np.clip(columns, 0, camera.columns - 1).astype(int)
    airs = scene.air[:, 0, middles] * lost
    leaves = plants.color * (1.0 - lost)
    barks = plants.color.mean(axis=0) * _BARK[:, None] * (1.0 - lost)
    order = np.argsort(-plants.z)
    for step, number in enumerate(order[talls[order] >= _LEAST]):
        if step % _REPORTED == 0:
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
        if behind.max() <= z * _NEARER:
            continue
        size = (across.stop - across.start, rows.stop - rows.start)
        planes = shape.cut(tall, across.start - left, rows.start - top, size, flip=flip)
        planes *= (behind > z * _NEARER)[..., None]
        cover, leaf, bark = cv2.split(planes)
        patch = scene.light[:, rows, across]
        patch *= 1.0 - cover
        for plane, own, stem, air in zip(
            patch, leaves[:, number], barks[:, number], airs[:, number], strict=True
        ):
            plane += leaf * own
            plane += cover * air
            if shape.woody:
                plane += bark * stem
        behind[cover > 0.5] = z


def apart(across: Plane, keep: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Return which of the places that are kept are kept still: the first ones that stand apart."""
    chosen: list[int] = []
    for number in np.flatnonzero(keep):
        if all(abs(across[number] - across[other]) > 0.06 for other in chosen):
            chosen.append(int(number))
    return np.isin(np.arange(len(keep)), chosen[:most])
