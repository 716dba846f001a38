"""Black holes: light bends around them, so that the disk behind is visible above and below.

Light paths are precomputed as a table, from the impact parameter and the angle around the hole to
the distance from it; each pixel then looks up where its ray meets the disk.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, distances, sample, tile
from kit.engines.painting.painting import Canvas
from kit.engines.painting.space.bodies import CelestialBody
from kit.engines.painting.tone import gradient, light

#: Lengths are in masses of the hole: horizon at 2, circular light orbits at 3, matter down to 6.
_INNER, _OUTER = 5.2, 19.0
_CAPTURE = float(3 * np.sqrt(3))  # rays with smaller impact parameters fall in
_RING = 9.5  # the radius of the ring image of a star behind the hole
_MAX_IMPACT = 30.0  # maximum impact parameter of rays
_MAX_ANGLE = 2.6 * np.pi  # maximum angle around the hole
_RAYS, _STEPS = 720, 900
_IMAGES = 3  # of the disk, each closer to the photon ring than the previous one
_DEPTH = 60.0
_STRIP_ROWS = 64  # rows painted at a time


def add_hole(
    rng: np.random.Generator, canvas: Canvas, it: CelestialBody, octaves: int, progress: Progress
) -> None:
    """Bend the sky around a hole, and paint the gas around it; a wormhole shows another sky."""
    height, width = canvas.depth.shape
    mass = it.radius / _OUTER
    x, y = distances((height, width), it.x, it.y, mass)
    aside, over = distances((height, width), it.x, it.y, mass, it.tilt)
    over, away = -over, np.maximum(np.sqrt(x * x + y * y), np.float32(1e-3))
    every, outside = (slice(0, height), slice(0, width)), smooth_step(-0.05, 0.35, away - _CAPTURE)
    beyond = np.zeros((3, 1, 1), np.float32)
    if it.kind == "wormhole":
        # All directions are compressed toward the mouth's rim; another sky has other colors.
        share = away / np.float32(_CAPTURE)
        reach = 0.36 * max(height, width) / _CAPTURE / np.sqrt(np.maximum(1.06 - share**2, 0.02))
        places = 0.5 * width - reach * aside, 0.5 * height - reach * over
        beyond = np.stack([1.5 * _remap(canvas.light[plane], *places) for plane in (2, 0, 1)])
        beyond += light((0.62, 0.10 * it.chroma, it.hues[1])) * (0.10 + 0.55 * share**6)
    bent = (1.0 - (_RING * _RING) / (away * np.maximum(away, 0.5 * _CAPTURE))) * np.float32(mass)
    for plane in (*canvas.light, canvas.emitters):
        plane[...] = _remap(plane, it.x + bent * x, it.y + bent * y)
    canvas.blend(every, beyond, 1.0 - outside, _DEPTH)
    if it.kind == "wormhole":
        _add_ring(canvas.light, it, mass, 0.4, aside / away, away)
        return
    reach = int(1.16 * it.radius)
    (rows, columns), _ = canvas.clip(int(it.x) - reach, int(it.y) - reach, 2 * reach, 2 * reach)
    gas = tile(rng, cells=4, octaves=octaves, gain=0.62), tile(rng, cells=32, octaves=5, gain=0.7)
    for top in range(rows.start, rows.stop, _STRIP_ROWS):
        at = slice(top, min(top + _STRIP_ROWS, rows.stop)), columns
        for order in reversed(range(_IMAGES)):
            if not order:
                _add_ring(canvas.light[:, *at], it, mass, 0.75, (aside / away)[at], away[at])
            canvas.blend(at, *_disk_image(it, gas, (aside[at], over[at], away[at]), order), _DEPTH)
        progress.report((at[0].stop - rows.start) / (rows.stop - rows.start))


def _disk_image(
    it: CelestialBody, gas: tuple[Plane, Plane], at: tuple[Plane, Plane, Plane], order: int
) -> tuple[Plane, Plane]:
    """Return light and cover of one image of the disk.

    The first image is the disk itself, its far side lifted over the hole; the light of the next one
    came from below and around, and so on.

    Source: J.-P. Luminet, "Image of a spherical black hole with thin accretion disk" (1979).
    """
    aside, over, away = at
    cos, sin = aside / away, over / away
    tall, flat = np.float32(it.opening), np.float32(np.sqrt(1.0 - it.opening**2))
    turn = np.arctan2(tall, -flat * sin)
    inverse = _remap(
        _paths(),
        away * np.float32((_RAYS - 1) / _MAX_IMPACT),
        (turn + np.float32(order * np.pi)) * np.float32((_STEPS - 1) / _MAX_ANGLE),
        cv2.BORDER_CONSTANT,
    )
    far = 1.0 / np.maximum(inverse, np.float32(1e-3))
    swung = -1.0 if order % 2 else 1.0
    right = np.sin(turn) * cos * swung
    around = np.arctan2((np.sin(turn) * sin * tall - np.cos(turn) * flat) * swung, right)
    # Approaching gas is brighter and hotter; see the source for the shift.
    slowed = np.sqrt(np.maximum(1.0 - 3.0 / np.maximum(far, 3.2), 0.02))
    shift = slowed / np.maximum(1.0 + far ** np.float32(-1.5) * flat * aside, 0.2)
    # The inner gas orbits faster: clumps become spirals.
    spun = (around + 5.0 * np.sqrt(_INNER / np.maximum(far, 1.0))) * np.float32(512 / (2 * np.pi))
    broad, fine = sample(gas[0], spun, far * 14.0), sample(gas[1], spun, far * 34.0)
    dense = smooth_step(_INNER, _INNER + 0.9, far)
    dense *= smooth_step(_OUTER, 0.48 * _OUTER, far + 0.9 * broad + 0.35 * fine)
    dense *= np.clip(0.62 + 0.30 * broad + 0.24 * fine, 0.06, 1.5)
    inward = _INNER / np.maximum(far, _INNER)
    inner, outer = it.hues
    tones = (
        (0.0, 0.22, 0.09, outer), (0.3, 0.50, 0.155, outer), (0.58, 0.74, 0.145, inner),
        (0.82, 0.92, 0.075, inner + 16), (1.0, 0.99, 0.015, inner + 30),
    )  # fmt: skip
    stops = [(place, (level, chroma * it.chroma, hue)) for place, level, chroma, hue in tones]
    shine = gradient(stops, 1.02 * inward**0.85 * shift) * (dense * inward**1.7 * shift**2.3 * 3.0)
    cover = np.clip(dense * 1.35, 0.0, 0.96)
    return shine / np.maximum(cover, 1e-3), cover


def _add_ring(
    part: Plane, it: CelestialBody, mass: float, power: float, aside: Plane, away: Plane
) -> None:
    """Add the light that circled the hole many times, a thin ring at the rim of the shadow."""
    thread = np.exp(-(((away - (_CAPTURE + 0.12)) / max(0.06, 0.75 / mass)) ** 2))
    side = np.clip(1.0 - 0.6 * aside, 0.2, 1.8)
    part += light((0.93, 0.06 * it.chroma, it.hues[0]), power) * (thread * side)


def _remap(plane: Plane, x: Plane, y: Plane, border: int = cv2.BORDER_REFLECT_101) -> Plane:
    x, y = (np.asarray(place, np.float32) for place in (x, y))
    return np.asarray(cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=border))


@lru_cache(1)
def _paths() -> Plane:
    """Tabulate 1 / distance by angle (down) and impact parameter (right)."""
    aside = np.maximum(np.linspace(0.0, _MAX_IMPACT, _RAYS), 1e-2)
    step = _MAX_ANGLE / (_STEPS - 1)
    inverse, change = np.zeros(_RAYS), 1.0 / aside
    table = np.zeros((_STEPS, _RAYS), np.float32)
    moving = np.ones(_RAYS, bool)
    for row in table:
        row[...] = inverse
        # Midpoint method: the middle of the step, then the step: u'' = 3 u^2 - u.
        middle = inverse + 0.5 * step * change
        slope = change + 0.5 * step * (3.0 * inverse**2 - inverse)
        change = change + step * (3.0 * middle**2 - middle) * moving
        # Rays that fell in stay at the horizon, rays that left stay away.
        inverse = np.clip(inverse + step * slope * moving, 0.0, 0.5)
        moving &= (inverse > 0.0) & (inverse < 0.5)
    table.flags.writeable = False
    return table
