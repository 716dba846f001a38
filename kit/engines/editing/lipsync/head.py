"""Heads: how a head sways, turns a little and nods while somebody speaks.

Only the head moves, fading out toward the shoulders and the background; its middle moves more than
its outline, which looks like a turn in depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.pose import Box
from kit.engines.editing.lipsync.voice import Speech
from kit.engines.media.color import Floats

#: What a moving head may touch, in face units: left, top, right, bottom.
REACH: Box = (-260.0, -250.0, 260.0, 330.0)
_MIDDLE, _RADII, _FADE = (0.0, 40.0), (112.0, 160.0), (255.0, 285.0)
_FACE, _FACE_RADII = (0.0, 60.0), (98.0, 135.0)
_NECK = 235.0
#: At full motion: radians, and face units.
_ROLL, _SWAY, _LIFT, _TURN, _NOD = 0.030, 4.0, 2.2, 6.0, 5.0


@dataclass(frozen=True, slots=True)
class Posture:
    """How a head is held at one moment: a tilt in radians, the others in face units."""

    roll: float = 0.0
    sway: float = 0.0
    lift: float = 0.0
    turn: float = 0.0
    nod: float = 0.0


def carried(x: Floats, y: Floats, posture: Posture) -> tuple[Floats, Floats]:
    """Return how far from each place of the moved picture, across and along, it comes from.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, equal shapes.
    """
    weight, depth = _weight(x, y), _depth(x, y)
    across = posture.sway + posture.roll * (_NECK - y)
    along = posture.lift + posture.roll * x
    return (
        np.asarray(-weight * across - depth * posture.turn, np.float32),
        np.asarray(-weight * along - depth * posture.nod, np.float32),
    )


def _weight(x: Floats, y: Floats) -> Floats:
    """Return 1 on the head, 0 from some way round it on, and an even slope between."""
    inner = np.hypot((x - _MIDDLE[0]) / _RADII[0], (y - _MIDDLE[1]) / _RADII[1])
    outer = np.hypot((x - _MIDDLE[0]) / _FADE[0], (y - _MIDDLE[1]) / _FADE[1])
    share = np.clip((1 - outer) / np.maximum(inner - outer, 1e-6), 0, 1)
    weight = np.where(inner <= 1, 1, share * share * (3 - 2 * share))
    return np.asarray(np.where(outer >= 1, 0, weight), np.float32)


def _depth(x: Floats, y: Floats) -> Floats:
    """Return how far a face stands out, 1 at the nose."""
    far = ((x - _FACE[0]) / _FACE_RADII[0]) ** 2 + ((y - _FACE[1]) / _FACE_RADII[1]) ** 2
    return np.asarray(np.clip(1 - far, 0, 1) ** 1.5, np.float32)


def postures(
    speech: Speech, fps: int, motion: float, rng: np.random.Generator
) -> tuple[Posture, ...]:
    """Return how the head is held in each frame; the first frames grow out of the picture."""
    seconds = np.arange(len(speech)) / fps
    start = np.clip(seconds / 0.8, 0, 1)
    amount = motion * start * start * (3 - 2 * start)
    stress = speech.stress - 0.5 * float(speech.stress.mean())

    def wander(speed: float) -> NDArray[np.float64]:
        phases = rng.uniform(0, 2 * np.pi, 3)
        parts = zip((1.0, 1.73, 2.91), (1.0, 0.55, 0.3), phases, strict=True)
        waves = [weight * np.sin(seconds * speed * rate + at) for rate, weight, at in parts]
        return np.asarray(np.sum(waves, axis=0) / 1.4)

    lively = amount * (0.55 + 0.45 * np.clip(speech.stress * 1.5, 0, 1))
    columns = (
        lively * _ROLL * wander(0.9),
        lively * _SWAY * wander(0.7),
        amount * _LIFT * wander(1.1),
        lively * _TURN * wander(1.0),
        amount * _NOD * (0.45 * wander(1.3) + 0.9 * stress),
    )
    return tuple(Posture(*map(float, values)) for values in zip(*columns, strict=True))
