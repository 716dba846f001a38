"""Groves: where palms and shrubs stand on a shore, on a bank or around water."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.painting.land.relief import Relief
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import Plane

Flags: TypeAlias = NDArray[np.bool_]

_NEAREST, _FARTHEST = 15.0, 250.0


@dataclass(frozen=True, slots=True)
class Grove:
    """Palms: where each stands, and how tall; and where shrubs may grow below them.

    Parameters
    ----------
    x, z, tall : ndarray
        Of the palms.
    leaning : float
        The side to which most of them lean: -1 left, 1 right.
    shrubs : tuple of ndarray
        x, z and height of the shrubs.
    """

    x: Plane
    z: Plane
    tall: Plane
    leaning: float
    shrubs: tuple[Plane, Plane, Plane]

    def parted(self, away: float) -> tuple[Grove, Grove]:
        """Return what stands farther off than a distance, and what stands nearer."""
        parts = []
        for far in (True, False):
            own, low = (self.z >= away) == far, (self.shrubs[1] >= away) == far
            x, z, tall = (one[low] for one in self.shrubs)
            parts.append(
                Grove(self.x[own], self.z[own], self.tall[own], self.leaning, (x, z, tall))
            )
        return parts[0], parts[1]


def on_beach(scene: Vista, land: Relief, hand: float) -> Grove:
    """Return palms along a beach: a few near by that lean to the sea, a grove that runs off.

    Parameters
    ----------
    hand : float
        The side of the land: -1 left, 1 right.
    """
    rng, sparse = scene.dice(36), "minimal" in scene.brief.composition
    near, far = 60, 0 if sparse else 130
    z = np.concatenate([rng.uniform(_NEAREST, 62.0, near), _off(rng, 55.0, _FARTHEST, far)])
    away = np.concatenate([rng.uniform(0.12, 0.96, near), 0.12 + 1.0 * rng.random(far) ** 0.75])
    x = hand * away * scene.camera.widest * z
    tall = np.concatenate([rng.uniform(10.0, 13.5, near), rng.uniform(8.0, 12.0, far)])
    keep, tall = _fitting(scene, land, x, z, tall)
    keep &= ground_at(land, x, z) > 0.75
    keep[:near] = _apart(x[:near] / z[:near], keep[:near], 2 if sparse else int(rng.integers(4, 7)))
    count = 0 if sparse else 420
    low = _off(rng, 26.0, _FARTHEST, count)
    aside = hand * (0.35 + 0.9 * rng.random(count)) * scene.camera.widest * (low + 4.0)
    ground = ground_at(land, aside, low)
    grown = ground > 2.2
    shrubs = (aside[grown], low[grown], rng.uniform(0.9, 2.6, count)[grown])
    return Grove(x[keep], z[keep], tall[keep], -hand, shrubs)


def around(scene: Vista, land: Relief, spot: tuple[float, float], reach: float) -> Grove:
    """Return palms around water in a desert.

    Parameters
    ----------
    spot, reach : float
        Its middle, x and z, and how far away from it the shore is.
    """
    rng, sparse = scene.dice(36), "minimal" in scene.brief.composition
    count, low = (9, 30) if sparse else (40, 110)
    x, z = _ring(rng, spot, reach, (1.10, 1.75), count)
    keep, tall = _fitting(scene, land, x, z, rng.uniform(10.0, 17.0, count))
    keep &= ground_at(land, x, z) < 7.0
    # The view over the water stays open.
    keep &= (z > spot[1] - 0.35 * reach) | (np.abs(x - spot[0]) > 0.95 * reach)
    aside, away = _ring(rng, spot, reach, (1.02, 1.8), low)
    grown = ground_at(land, aside, away) < 5.0
    shrubs = (aside[grown], away[grown], rng.uniform(0.9, 3.2, low)[grown])
    return Grove(x[keep], z[keep], tall[keep], float(np.sign(rng.uniform(-1, 1))), shrubs)


def on_bank(scene: Vista, land: Relief) -> Grove:
    """Return a few palms that stand between the eye and a lake."""
    rng, most = scene.dice(41), 2 if "minimal" in scene.brief.composition else 6
    z = rng.uniform(_NEAREST, 60.0, 90)
    # The middle of the view stays open.
    x = rng.choice([-1.0, 1.0], 90) * rng.uniform(0.35, 0.95, 90) * scene.camera.widest * z
    keep, tall = _fitting(scene, land, x, z, rng.uniform(9.0, 13.0, 90))
    keep &= ground_at(land, x, z) > 0.4
    keep = _apart(x / z, keep, most)
    none = np.zeros(0)
    return Grove(x[keep], z[keep], tall[keep], -hand_of(scene), (none, none, none))


def hand_of(scene: Vista) -> float:
    """Return the side of the nearest land: -1 left, 1 right."""
    return -float(np.sign(scene.subject or 1.0))


def ground_at(land: Relief, x: Plane, z: Plane) -> Floats:
    """Return the height of the ground at places, of which there may be none."""
    if not len(x):
        return np.zeros(0, np.float32)
    return np.asarray(land.height(x[None], z[None])[0], np.float32)


def _apart(across: Plane, keep: Flags, most: int) -> Flags:
    """Return which of the places that are kept are kept still: the first ones that stand apart."""
    chosen: list[int] = []
    for number in np.flatnonzero(keep):
        if all(abs(across[number] - across[other]) > 0.06 for other in chosen):
            chosen.append(int(number))
    return np.isin(np.arange(len(keep)), chosen[:most])


def _off(rng: np.random.Generator, near: float, far: float, count: int) -> Plane:
    """Return distances, more of them near by."""
    return near + (far - near) * rng.random(count) ** 1.5


def _ring(
    rng: np.random.Generator,
    spot: tuple[float, float],
    reach: float,
    between: tuple[float, float],
    count: int,
) -> tuple[Plane, Plane]:
    turn = rng.uniform(0.0, 2 * np.pi, count)
    away = reach * (between[0] + (between[1] - between[0]) * rng.random(count) ** 1.6)
    return spot[0] + away * np.cos(turn), spot[1] + away * np.sin(turn)


def _fitting(scene: Vista, land: Relief, x: Plane, z: Plane, tall: Plane) -> tuple[Flags, Plane]:
    """Return which palms end below the upper edge of the frame, and how tall they are then."""
    camera = scene.camera
    foot = ground_at(land, x, z)
    room = 0.95 * camera.horizon / camera.focal * z + camera.height - foot
    return room > 0.55 * tall, np.minimum(tall, room)
