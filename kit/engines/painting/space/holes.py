"""Black holes: light goes around them, so that the disk behind is seen over and under.

Paths of light are worked out once as a table, from how far aside a ray passes and how far around
the hole it has come to its distance from it; each pixel then looks up where its ray meets the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, sample, tile
from kit.engines.painting.tone import gradient, light

#: Lengths are in masses of the hole: its horizon is at 2, light circles at 3, matter down to 6.
_INNER, _OUTER = 5.2, 19.0
_CRITICAL = float(3 * np.sqrt(3))  # rays that pass nearer fall in
_WIDEST = 30.0  # how far aside rays are followed
_TURNS = 2.6 * np.pi  # how far around the hole they are followed
_RAYS, _STEPS = 720, 900
_RINGS = 3  # images of the disk, each nearer to the ring of light than the one before


@dataclass(frozen=True, slots=True)
class Hole:
    """A black hole with a disk of hot gas.

    Parameters
    ----------
    x, y, mass : float
        In pixels: the middle, and the unit of length; the dark disc is 5.2 of them wide.
    tilt : float
        Of the disk against the level, in radians.
    above : float
        Angle between the line of sight and the disk's axis, in radians: a half pi is edge on.
    hues : tuple of float
        Of the gas within and without, degrees.
    chroma : float
        Factor on the strength of its colors.
    open : bool
        It is the mouth of a wormhole: another sky is seen in it, and no gas lies around it.
    """

    x: float
    y: float
    mass: float
    tilt: float
    above: float
    hues: tuple[float, float]
    chroma: float
    open: bool = False


def lensed(picture: Plane, hole: Hole) -> Plane:
    """Return a sky as it is seen past a hole: bent away from it, rings around it, none in it.

    Parameters
    ----------
    picture : ndarray of float32
        Shape (3, height, width).
    """
    aside, over, away = _places(picture, hole)
    ring = np.float32(9.5)  # the radius at which a star behind the hole is a ring
    source = away - ring * ring / np.maximum(away, np.float32(0.5 * _CRITICAL))
    share = np.asarray(source / np.maximum(away, 1e-3) * hole.mass, np.float32)
    cos, sin = np.float32(np.cos(hole.tilt)), np.float32(np.sin(hole.tilt))
    x = np.asarray(hole.x + share * (aside * cos + over * sin), np.float32)
    y = np.asarray(hole.y + share * (aside * sin - over * cos), np.float32)
    border = cv2.BORDER_REFLECT_101
    seen = [cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=border) for plane in picture]
    rim = smooth_step(_CRITICAL - 0.05, _CRITICAL + 0.35, away)
    outside = np.stack(seen) * rim
    if hole.open:
        outside += _beyond(picture, hole, aside, over, away) * (1.0 - rim)
        _add_ring(outside, hole, aside, away)
    return np.asarray(outside, np.float32)


def _beyond(picture: Plane, hole: Hole, aside: Plane, over: Plane, away: Plane) -> Plane:
    """Return the sky at a wormhole's other end, drawn together as in a ball of glass."""
    _, height, width = picture.shape
    share = away * np.float32(1 / _CRITICAL)
    # Toward the rim all directions crowd together.
    reach = (
        np.float32(0.36 * max(height, width))
        * share
        / np.sqrt(np.maximum(1.06 - share * share, 0.02))
    )
    ways = np.maximum(away, 1e-3)
    x = np.asarray(0.5 * width - reach * aside / ways, np.float32)
    y = np.asarray(0.5 * height - reach * over / ways, np.float32)
    border = cv2.BORDER_REFLECT_101
    seen = [cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=border) for plane in picture]
    glow = light((0.62, 0.10 * hole.chroma, hole.hues[1])) * (0.10 + 0.55 * share**6)
    # Another sky has other colors.
    return np.asarray(1.5 * np.stack([seen[2], seen[0], seen[1]]) + glow, np.float32)


def add_disk(rng: np.random.Generator, picture: Plane, hole: Hole, progress: Progress) -> None:
    """Paint the gas around a hole over a sky, in place, from the farthest image to the nearest."""
    reach = (_OUTER + 3.0) * hole.mass
    height, width = picture.shape[1:]
    rows = slice(max(0, int(hole.y - reach)), min(height, int(hole.y + reach) + 1))
    columns = slice(max(0, int(hole.x - reach)), min(width, int(hole.x + reach) + 1))
    aside, over, away = (part[rows, columns] for part in _places(picture, hole))
    gas = tile(rng, cells=4, octaves=8, gain=0.62), tile(rng, cells=32, octaves=5, gain=0.7)
    part = picture[:, rows, columns]
    for order in range(_RINGS - 1, -1, -1):
        progress.report((_RINGS - order) / (_RINGS + 1))
        if not order:
            _add_ring(part, hole, aside, away)
        cover, shine = _image(hole, gas, (aside, over, away), order)
        part *= 1.0 - cover
        part += shine
    progress.report(1.0)


def _places(picture: Plane, hole: Hole) -> tuple[Plane, Plane, Plane]:
    """Return how far each pixel lies to the right of a hole, over it and away from it, in masses.

    Right and over are those of the disk, which may be tilted.
    """
    _, height, width = picture.shape
    x = (np.arange(width, dtype=np.float32)[None] - np.float32(hole.x)) / np.float32(hole.mass)
    y = (np.arange(height, dtype=np.float32)[:, None] - np.float32(hole.y)) / np.float32(hole.mass)
    cos, sin = np.float32(np.cos(hole.tilt)), np.float32(np.sin(hole.tilt))
    aside, over = x * cos + y * sin, x * sin - y * cos
    return aside, over, np.sqrt(aside * aside + over * over)


def _image(
    hole: Hole, gas: tuple[Plane, Plane], at: tuple[Plane, Plane, Plane], order: int
) -> tuple[Plane, Plane]:
    """Return one image of the disk: how much it covers, and its light.

    The first image is the disk itself, its far side lifted over the hole; light of the next one has
    come from below and around, and so on.

    Source: J.-P. Luminet, "Image of a spherical black hole with thin accretion disk" (1979).
    """
    aside, over, away = at
    ways = np.maximum(away, 1e-3)
    cos, sin = aside / ways, over / ways
    tall, flat = np.float32(np.cos(hole.above)), np.float32(np.sin(hole.above))
    turn = np.arctan2(tall, -flat * sin)
    far = _distance(away, turn + np.float32(order * np.pi))
    swung = -1.0 if order % 2 else 1.0
    right = np.sin(turn) * cos * swung
    deep = (np.sin(turn) * sin * tall - np.cos(turn) * flat) * swung
    around = np.arctan2(deep, right)
    # Gas that comes toward the eye is brighter and hotter; see the source for the shift.
    orbit = far ** np.float32(-1.5)
    slowed = np.sqrt(np.maximum(1.0 - 3.0 / np.maximum(far, 3.2), 0.02))
    shift = slowed / np.maximum(1.0 + orbit * flat * aside, 0.2)
    dense = _density(gas, far, around)
    heat = np.clip(1.02 * (_INNER / np.maximum(far, _INNER)) ** 0.85 * shift, 0.0, 1.0)
    bright = (_INNER / np.maximum(far, _INNER)) ** 1.7 * shift**2.3
    cover = np.clip(dense * 1.35, 0.0, 0.96)
    shine = gradient(_stops(hole), heat) * (dense * bright * np.float32(3.0))
    return np.asarray(cover, np.float32), np.asarray(shine, np.float32)


def _density(gas: tuple[Plane, Plane], far: Plane, around: Plane) -> Plane:
    """Return how dense the disk is: streaks that its turning has drawn out, ragged at the rim."""
    # The inner gas turns faster: clumps become spirals.
    turn = around + np.float32(5.0) * np.sqrt(np.float32(_INNER) / np.maximum(far, 1.0))
    along = turn * np.float32(512 / (2 * np.pi))
    broad = sample(gas[0], along, far * 14.0)
    fine = sample(gas[1], along, far * 34.0)
    rim = far + 0.9 * broad + 0.35 * fine
    dense = smooth_step(_INNER, _INNER + 0.9, far) * smooth_step(_OUTER, 0.48 * _OUTER, rim)
    return np.asarray(dense * np.clip(0.62 + 0.30 * broad + 0.24 * fine, 0.06, 1.5), np.float32)


def _add_ring(part: Plane, hole: Hole, aside: Plane, away: Plane) -> None:
    """Add the light that has gone around the hole many times, a thread at the rim of the dark."""
    thin = np.float32(max(0.06, 0.75 / hole.mass))
    thread = np.exp(-(((away - np.float32(_CRITICAL + 0.12)) / thin) ** 2))
    side = np.clip(1.0 - 0.6 * aside / np.maximum(away, 1e-3) * np.sin(hole.above), 0.2, 1.8)
    color = light((0.93, 0.06 * hole.chroma, hole.hues[0]))
    part += color * (thread * side * np.float32(0.4 if hole.open else 0.75))


def _stops(hole: Hole) -> list[tuple[float, Oklch]]:
    inner, outer = hole.hues
    chroma = hole.chroma
    return [
        (0.0, (0.22, 0.09 * chroma, outer)),
        (0.3, (0.50, 0.155 * chroma, outer)),
        (0.58, (0.74, 0.145 * chroma, inner)),
        (0.82, (0.92, 0.075 * chroma, inner + 16)),
        (1.0, (0.99, 0.015 * chroma, inner + 30)),
    ]


def _distance(away: Plane, turn: Plane) -> Plane:
    """Return how far from the hole rays are when they have come around it by an angle.

    Huge where they have left by then, or have fallen in.
    """
    table = _paths()
    u = away * np.float32((_RAYS - 1) / _WIDEST)
    v = turn * np.float32((_STEPS - 1) / _TURNS)
    inverse = cv2.remap(
        table, u.astype(np.float32), v.astype(np.float32), cv2.INTER_LINEAR, borderValue=0.0
    )
    return np.asarray(1.0 / np.maximum(inverse, np.float32(1e-3)), np.float32)


@lru_cache(1)
def _paths() -> Plane:
    """Tabulate 1 / distance by angle (down) and by how far aside a ray passes (right)."""
    aside = np.maximum(np.linspace(0.0, _WIDEST, _RAYS), 1e-2)
    step = _TURNS / (_STEPS - 1)
    inverse, change = np.zeros(_RAYS), 1.0 / aside
    table = np.zeros((_STEPS, _RAYS))
    moving = np.ones(_RAYS, bool)
    for row in range(_STEPS):
        table[row] = inverse
        # The middle of the step, then the step: u'' = 3 u^2 - u.
        middle = inverse + 0.5 * step * change
        slope = change + 0.5 * step * (3.0 * inverse**2 - inverse)
        change = change + step * (3.0 * middle**2 - middle) * moving
        # What has fallen in stays at the horizon, what has left stays away.
        inverse = np.clip(inverse + step * slope * moving, 0.0, 0.5)
        moving &= (inverse > 0.0) & (inverse < 0.5)
    found = np.asarray(table, np.float32)
    found.flags.writeable = False
    return found
