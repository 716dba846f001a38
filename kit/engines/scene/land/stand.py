"""Stands: trees placed on the ground, hidden by hills, lit and hazed where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.scene.land.sprites import Patch, Sprite
from kit.engines.scene.land.voxel import Camera

_LEAST = 3  # pixels; smaller trees do not show


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees to plant, arrays of one length, in any order.

    Parameters
    ----------
    x, z, foot, tall : ndarray
        Where each stands, the height of the ground there, and its own height.
    color : ndarray, shape (3, n)
        Light that its foliage sends.
    lost : ndarray
        Share of it that is lost in the air.
    """

    x: Floats
    z: Floats
    foot: Floats
    tall: Floats
    color: Floats
    lost: Floats


def plant(
    planes: Floats,
    depth: Floats,
    trees: Trees,
    sprites: Sequence[Sprite],
    camera: Camera,
    air: Floats,
    rng: np.random.Generator,
    *,
    mirrored: bool,
) -> None:
    """Draw trees from far to near into planes, in place.

    Parameters
    ----------
    depth : ndarray
        Distance of each pixel; trees enter it, so that later ones know what is hidden.
    air : ndarray, shape (3, 1, columns)
        Color of the haze.
    mirrored : bool
        The light comes from the right.
    """
    which = rng.integers(0, len(sprites), len(trees.z))
    for number in np.argsort(-trees.z):
        z = float(trees.z[number])
        tall = round(float(trees.tall[number]) * camera.focal / z)
        if tall < _LEAST:
            continue
        wide = sprites[which[number]].wide(tall)
        left = round(camera.column(float(trees.x[number]), z) - wide / 2)
        top = round(camera.row(float(trees.foot[number]), z)) - tall + 1
        window = _window((left, top), (wide, tall), camera)
        if window is None:
            continue
        cover, shade = _cut(sprites[which[number]], (left, top), tall, window, mirrored)
        lost = float(trees.lost[number])
        middle = min(max(left + wide // 2, 0), camera.columns - 1)
        color = trees.color[:, number] * (1 - lost)
        _draw(planes, depth, window, cover, shade, (color, air[:, 0, middle] * lost), z)


def _window(
    corner: tuple[int, int], size: tuple[int, int], camera: Camera
) -> tuple[slice, slice] | None:
    """Return the rows and columns of the frame that a plant covers, if any."""
    rows = slice(max(corner[1], 0), min(corner[1] + size[1], camera.rows))
    columns = slice(max(corner[0], 0), min(corner[0] + size[0], camera.columns))
    return (rows, columns) if rows.start < rows.stop and columns.start < columns.stop else None


def _cut(
    plant_: Sprite,
    corner: tuple[int, int],
    tall: int,
    window: tuple[slice, slice],
    mirrored: bool,
) -> Patch:
    """Return what of a plant lies in the window; a large one is enlarged there alone."""
    rows, columns = window
    high, wide = rows.stop - rows.start, columns.stop - columns.start
    left, top = columns.start - corner[0], rows.start - corner[1]
    if mirrored:
        left = plant_.wide(tall) - left - wide
    if tall > plant_.levels[0][0].shape[0]:
        cover, shade = plant_.window(tall, (left, top), (wide, high))
    else:
        cut = (slice(top, top + high), slice(left, left + wide))
        cover, shade = (part[cut] for part in plant_.at(tall))
    return (cover[:, ::-1], shade[:, ::-1]) if mirrored else (cover, shade)


def _draw(
    planes: Floats,
    depth: Floats,
    window: tuple[slice, slice],
    cover: Floats,
    shade: Floats,
    lights: tuple[Floats, Floats],
    z: float,
) -> None:
    """Blend a plant over the planes where it is not hidden."""
    behind = depth[window]
    alpha = cover * (behind > z * 0.985)
    for plane, own, air in zip(planes, *lights, strict=True):
        patch = plane[window]
        patch += (shade * own + air - patch) * alpha
    behind[alpha > 0.5] = z
