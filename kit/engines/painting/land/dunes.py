"""Dunes: long waves of sand, one that is the subject, low drifts, and the ripples on them all."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.ground import Direction, Grain
from kit.engines.painting.land.relief import grid
from kit.engines.painting.land.staging import parted
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import SIDE, octave, slopes, tile

#: Composition -> how high dunes may be: in heights of the eye, and how much for their distance.
_CEILINGS = {
    "close": (0.55, 0.22),
    "dramatic": (0.25, 0.16),
    "centered": (0.40, 0.13),
    "thirds": (0.40, 0.13),
}
#: Words of a picture with one dune for its subject.
_STAGED = frozenset({"centered", "thirds", "minimal", "dramatic"})


def raking(toward: Direction) -> Direction:
    """Return light from low at the side, in which the far side of each crest is dark."""
    direction = np.array([np.sign(toward[0]) * 0.85, 0.25, 0.36])
    right, along, up = direction / np.linalg.norm(direction)
    return float(right), float(along), float(up)


def waves(scene: Vista) -> Floats:
    """Return long waves of sand: each rises gently and falls off steeply behind its crest."""
    rng = scene.dice(4)
    x, z = grid(scene.points)
    points = scene.points
    bend, sway = octave(rng, points, 5), octave(rng, points, 3)
    turn = rng.uniform(0.35, 1.0) * (1 if scene.toward[0] < 0 else -1)
    way = x * np.float32(np.sin(turn)) - z * np.float32(abs(np.cos(turn)))
    heights = np.zeros((points, points), np.float32)
    for length, tall, wander in ((205.0, 70.0, 80.0), (88.0, 21.0, 36.0), (39.0, 5.0, 14.0)):
        phase = (way + wander * (bend + 0.6 * sway) + rng.uniform(0, length)) / np.float32(length)
        share = phase - np.floor(phase)
        windward = np.clip(share / 0.74, 0.0, 1.0)
        lee = np.clip((1.0 - share) / 0.26, 0.0, 1.0)
        profile = np.minimum(windward**1.5, lee)
        uneven = np.clip(0.66 + 0.50 * octave(rng, points, 1024 / length), 0.08, 1.3)
        heights += np.float32(tall) * profile * uneven
    heights *= 0.40 + 0.60 * smooth_step(30, 380, z)
    words = scene.brief.composition
    heights *= np.float32(scene.staging.others)
    near, rise = next((_CEILINGS[word] for word in words if word in _CEILINGS), (0.60, 0.21))
    ceiling = near * scene.camera.height + z * np.float32(rise)
    kept = np.asarray(ceiling - _softplus(ceiling - heights, 3.0), np.float32)
    if not _STAGED.isdisjoint(words):
        kept = np.maximum(kept, _main_dune(scene, x, z))
    kept = parted(kept, scene, x, z)
    return np.asarray(cv2.GaussianBlur(kept, (0, 0), 0.8))


def _main_dune(scene: Vista, x: Floats, z: Floats) -> Floats:
    """Return the one dune that a picture with a place for its subject has there."""
    side = (x / (scene.camera.widest * z.clip(40.0)) - np.float32(scene.subject)) * np.float32(1.25)
    staging = scene.staging
    away = (z * np.float32(staging.near) - np.float32(330.0)) * np.float32(1 / 240)
    # Wind has bent its arms: no two sides of it are straight.
    rng = scene.dice(11)
    side = side + 0.30 * octave(rng, scene.points, 9) + 0.35 * np.sin(away * 2.2)
    away = away + 0.35 * octave(rng, scene.points, 7)
    lean = np.abs(side) + 0.25 * side * np.float32(np.sign(scene.toward[0]))
    room = scene.camera.height + 300.0 * scene.camera.horizon / scene.camera.focal
    tall = np.float32(min(74.0 * staging.part ** (2.6 if staging.part > 1.0 else 0.5), room))
    return np.asarray(tall * np.maximum(1.0 - np.hypot(lean, away), 0.0) ** 1.6, np.float32)


def _softplus(value: Floats, width: float) -> Floats:
    """Return about max(value, 0), rounded over `width`."""
    return np.asarray(0.5 * (value + np.sqrt(value * value + width * width)))


def drifts(scene: Vista, x: Floats, z: Floats) -> Floats:
    """Return low dunes that lie across the plain before the rocks."""
    rng, points = scene.dice(10), scene.points
    bend = octave(rng, points, 6)
    way = 0.45 * x * np.float32(np.sign(scene.subject or 1.0)) - z + 46.0 * bend
    total = np.zeros((points, points), np.float32)
    for length, tall in ((92.0, 17.0), (37.0, 4.0)):
        phase = way / np.float32(length)
        share = phase - np.floor(phase)
        lee = np.clip((1.0 - share) / 0.22, 0.0, 1.0)
        uneven = np.clip(0.6 + 0.55 * octave(rng, points, 1024 / length / 1.5), 0.1, 1.2)
        total += np.float32(tall) * np.minimum((share / 0.78) ** 1.4, lee) * uneven
    total *= smooth_step(14, 60, z) * smooth_step(420, 300, z)
    return np.asarray(cv2.GaussianBlur(total, (0, 0), 0.8))


def rippled(rng: np.random.Generator) -> Grain:
    """Return ripples of wind in sand: wavy lines with a little noise."""
    noise = tile(rng, cells=4, octaves=4)
    fine = tile(rng, cells=32, octaves=4, gain=0.7)
    down, right = np.indices((SIDE, SIDE), np.float32) * np.float32(2 * np.pi / SIDE)
    lines = np.sin(22.0 * down + 5.0 * right + 2.6 * noise)
    bumps = np.asarray(0.85 * lines + 0.25 * fine, np.float32)
    return Grain(np.asarray(cv2.merge([bumps, *slopes(bumps, wrap=True)])))
