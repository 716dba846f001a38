"""Stands: trees placed on the ground, hidden by hills, lit and hazed where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.painting.land.sprites import Sprite, Window
from kit.engines.painting.land.voxel import Camera

_REPORTED = 64  # plants that are drawn between two reports
_NEARER = 0.985  # what is nearer than this share of a plant's distance hides it
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

    def kept(self, which: NDArray[np.bool_]) -> Trees:
        """Return those of the trees that a flag for each tells."""
        rows = (self.x, self.z, self.foot, self.tall)
        x, z, foot, tall = (row[which] for row in rows)
        return Trees(x, z, foot, tall, self.color[:, which], self.lost[which])

    def joined(self, other: Trees) -> Trees:
        """Return these and others."""
        names = ("x", "z", "foot", "tall", "color", "lost")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return Trees(*(np.concatenate(pair, axis=-1) for pair in pairs))


def plant(
    planes: Floats,
    depth: Floats,
    trees: Trees,
    sprites: Sequence[Sprite],
    camera: Camera,
    air: Floats,
    rng: np.random.Generator,
    progress: Progress,
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
    for step, number in enumerate(np.argsort(-trees.z)):
        if step % _REPORTED == 0:
            progress.report(step / len(trees.z))
        z = float(trees.z[number])
        tall = round(float(trees.tall[number]) * camera.focal / z)
        if tall < _LEAST:
            continue
        shape = sprites[which[number]]
        wide = shape.wide(tall)
        left = round(camera.column(float(trees.x[number]), z) - wide / 2)
        top = round(camera.row(float(trees.foot[number]), z)) - tall + 1
        windows = [
            window
            for window in _windows(shape, (left, top), tall, camera, mirrored)
            if depth[window].max() > z * _NEARER  # else all of it is hidden
        ]
        if not windows:
            continue
        lost = float(trees.lost[number])
        middle = min(max(left + wide // 2, 0), camera.columns - 1)
        lights = (trees.color[:, number] * (1 - lost), air[:, 0, middle] * lost)
        cut = shape.cutter(tall)
        for window in windows:
            rows = _moved(window[0], -top)
            columns = _moved(window[1], -left)
            if mirrored:
                cover, shade = (part[:, ::-1] for part in cut((rows, _turned(columns, wide))))
            else:
                cover, shade = cut((rows, columns))
            _draw(planes, depth, window, cover, shade, lights, z)


def _windows(
    shape: Sprite, corner: tuple[int, int], tall: int, camera: Camera, mirrored: bool
) -> list[Window]:
    """Return the rows and columns of the frame that the parts of a plant cover, if any."""
    left, top = corner
    wide = shape.wide(tall)
    found = []
    for own_rows, own in shape.parts(tall):
        rows = _within(_moved(own_rows, top), camera.rows)
        columns = _within(_moved(_turned(own, wide) if mirrored else own, left), camera.columns)
        if rows.start < rows.stop and columns.start < columns.stop:
            found.append((rows, columns))
    return found


def _moved(part: slice, way: int) -> slice:
    return slice(part.start + way, part.stop + way)


def _turned(part: slice, wide: int) -> slice:
    """Return the columns of a part when the plant, `wide` pixels, is seen in a mirror."""
    return slice(wide - part.stop, wide - part.start)


def _within(part: slice, length: int) -> slice:
    return slice(max(part.start, 0), min(part.stop, length))


def _draw(
    planes: Floats,
    depth: Floats,
    window: Window,
    cover: Floats,
    shade: Floats,
    lights: tuple[Floats, Floats],
    z: float,
) -> None:
    """Blend a plant over the planes where it is not hidden."""
    behind = depth[window]
    alpha = cover * (behind > z * _NEARER)
    own, air = (np.asarray(light, np.float32)[:, None, None] for light in lights)
    patch = planes[:, *window]
    change = shade * own
    change += air
    change -= patch
    change *= alpha
    patch += change
    behind[alpha > 0.5] = z
