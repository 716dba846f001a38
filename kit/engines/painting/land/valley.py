"""Valleys: how the land around a lake or a meadow lies, its mountains, its floor and its bank."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.relief import grid
from kit.engines.painting.land.staging import parted
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import eroded, octave, ridged
from kit.engines.prompt.brief import Brief

_BANK = 0.66  # of the eye's height: no bank before the camera is higher
_TOP = 0.95  # share of the sky that even a towering peak leaves no more of
_EYE, _NEAREST = 12.0, 11.0  # height of an eye on the shore, and the nearest ground it sees


@dataclass(frozen=True, slots=True)
class Country:
    """How the land lies: heights of the mountains (1 alpine), of the water, trees from 0 to 1."""

    peaks: float
    flooded: bool
    wooded: float


def country_of(brief: Brief, dice: np.random.Generator) -> Country:
    """Return how the land lies that a brief asks for."""
    luck, wooded = float(dice.random()), float(dice.uniform(0.5, 1.0))
    hills = "hills" in brief.things and "heights" not in brief.things
    wet = not brief.things.isdisjoint(("open_water", "waterfall"))
    flooded = wet or (not hills and luck < 0.6)
    peaks = float(dice.uniform(0.24, 0.34)) if hills else float(dice.uniform(0.95, 1.25))
    return Country(peaks, flooded, wooded * (0.5 if hills else 1.0))


def laid_out(scene: Vista, country: Country, progress: Progress) -> Floats:
    """Return heights: a near bank, a basin, walls to both sides, a range with one main peak."""
    points, rng = scene.points, scene.dice(4)
    x, z = grid(points)
    staging = scene.staging
    bend_x, bend_z = octave(rng, points, 6), octave(rng, points, 6)
    worn = eroded(rng, points, cells=5.0)
    mass = _mountains(rng, points, worn, bend_x, bend_z)
    progress.report(0.5)
    side = x / (scene.camera.widest * (z + 60.0))
    outward = np.abs(side)
    away = z * np.float32(staging.near)
    range_ = smooth_step(290, 600, away + 60 * bend_x)
    range_ *= 0.50 + 0.50 * np.exp(-((side - scene.subject) ** 2) / 0.30)
    walls = smooth_step(0.45, 1.25, outward + 0.25 * bend_z) * smooth_step(60, 330, away)
    main = np.exp(-((side - scene.subject) ** 2) / 0.045 - ((away - 690) / 170) ** 2)
    heights = mass**1.25 * 235 * np.maximum(range_, 0.62 * walls) * np.float32(staging.others)
    heights += main * np.float32(95 * staging.main) * (0.35 + 0.9 * mass)
    floor = _valley(scene, country, rng, (bend_x, bend_z, worn))
    floor += 14 * (worn - 0.45) * smooth_step(120, 420, z)
    if country.peaks < 0.5:
        swell = octave(rng, points, 4.3) + 0.55 * octave(rng, points, 9)
        floor += 30 * np.maximum(swell + 0.1, 0.0) ** 1.3 * smooth_step(50, 190, z)
    heights *= country.peaks
    laid = np.asarray(heights * _fitting(scene, heights, floor, rng) + floor, np.float32)
    return parted(laid, scene, x, z)


def _fitting(scene: Vista, peaks: Floats, floor: Floats, rng: np.random.Generator) -> float:
    """Return the factor with which the highest peak takes its part of the sky."""
    x, z = grid(scene.points)
    part = rng.uniform(0.58, 0.86) * min(1.0, scene.camera.horizon / scene.camera.focal)
    part = min(
        part * scene.staging.part, max(part, _TOP * scene.camera.horizon / scene.camera.focal)
    )
    shown = (np.abs(x) < 1.02 * scene.camera.widest * z) & (z > 50) & (peaks > 4)
    room = part * z + scene.camera.height - floor
    return float(
        np.clip((room[shown] / peaks[shown]).min(initial=1.6 * scene.staging.part), 0.15, 3.0)
    )


def _mountains(
    rng: np.random.Generator, points: int, worn: Floats, bend_x: Floats, bend_z: Floats
) -> Floats:
    """Return branching crests over worn slopes, 0 to 1, bent so that no line is straight."""
    crests = ridged(rng, points, cells=4.4)
    y, x = np.indices((points, points), np.float32)
    reach = np.float32(points / 1024 * 30)
    crests = cv2.remap(
        crests,
        x + reach * bend_x,
        y + reach * bend_z,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )
    mass = 0.66 * crests + 0.44 * worn
    return np.asarray((mass - mass.min()) / np.ptp(mass))


def _valley(
    scene: Vista, country: Country, rng: np.random.Generator, fields: tuple[Floats, Floats, Floats]
) -> Floats:
    """Return the floor: a basin for the water or a meadow, and a bank on one side in front."""
    x, z = grid(scene.points)
    bend_x, bend_z, worn = fields
    side = x / (scene.camera.widest * (z + 60.0))
    outward = np.abs(side)
    floor = 6.0 * (worn - 0.5) + 1.5
    if country.flooded:
        back, beside = (24, 26) if "minimal" not in scene.brief.composition else (13, 0)
        away = z * np.float32(scene.staging.near)
        floor = floor - 10.0 + back * smooth_step(250, 470, away + 80 * bend_z + 60 * bend_x)
        floor += (
            beside * smooth_step(0.55, 1.05, outward + 0.22 * bend_x) * smooth_step(40, 170, away)
        )
        near = -float(np.sign(scene.subject)) * side
        # From high up the frame begins far off: the bank lies as much farther away.
        wide = scene.camera.nearest / _NEAREST if "high" in scene.brief.composition else 1.0
        reach = float(rng.uniform(4, 22)) + 36 * near + 12 * bend_x
        reach = reach + 24.0 * ("palms" in scene.brief.things)  # they stand on a bank near by
        rise = 9.5 + 0.45 * min(scene.camera.height, _EYE)
        floor += rise * smooth_step(10, -16, z / np.float32(wide) - reach)
    else:
        floor += 9.0 * bend_x * smooth_step(40, 200, z) + 3.0 * bend_z + 2.0
        floor = np.minimum(floor, 3.0 + 0.16 * z)
    return np.asarray(floor - _too_high(scene, floor, z), np.float32)


def _too_high(scene: Vista, floor: Floats, z: Floats) -> Floats:
    """Return by how much ground before the camera is lowered, so that one looks down on it."""
    most = np.float32(_BANK * scene.camera.height) + z * np.float32(0.05)
    near = smooth_step(120, 40, z)
    return np.asarray(np.float32(0.85) * np.maximum(floor - most, 0.0) * near)
