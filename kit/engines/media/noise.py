"""Noise: seeded lines and fields that look natural.

Both are value noise, a coarse lattice of random numbers refined octave by octave. The field is
built as a pyramid (enlarge, add finer noise, repeat), which costs little more than its last
enlargement.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats


def line(
    rng: np.random.Generator,
    at: NDArray[np.floating],
    wavelength: float,
    *,
    octaves: int = 4,
    gain: float = 0.5,
) -> Floats:
    """Return noise at rising positions along a line, about -1 to 1.

    The wavelength is the distance between the random values of the first octave; each next octave
    has half of it. A smooth Catmull-Rom curve connects the values.
    """
    total = np.zeros(len(at))
    weight, loudness = 1.0, 0.0
    for _ in range(octaves):
        place = np.asarray((at - at[0]) / wavelength, np.float64)
        values = rng.uniform(-1.0, 1.0, int(place[-1]) + 5)
        place += 2.0 - rng.random()
        cell = place.astype(np.intp)
        place -= cell
        a, b, c, d = (values[cell + step] for step in (-1, 0, 1, 2))
        bend = a - 2.5 * b + 2.0 * c - 0.5 * d + place * (1.5 * (b - c) + 0.5 * (d - a))
        total += weight * (b + place * (0.5 * (c - a) + place * bend))
        loudness += weight * weight
        weight *= gain
        wavelength /= 2
    return np.asarray(total / math.sqrt(loudness), np.float32)


def field(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: tuple[int, int] = (4, 4),
    octaves: int = 4,
    gain: float = 0.5,
) -> Floats:
    """Return a noise field of mean 0 and deviation 1, shape (height, width).

    `cells` are the counts down and across; unequal numbers stretch the pattern. The number of
    random values is the same at every size: a larger picture only has finer detail.
    """
    rng = rng.spawn(1)[0]
    rows, columns = max(2, cells[0]), max(2, cells[1])
    acc = rng.standard_normal((rows, columns), np.float32)
    weight = 1.0
    for _ in range(octaves - 1):
        if rows >= height or columns >= width:
            break
        rows, columns, weight = rows * 2, columns * 2, weight * gain
        acc = cv2.resize(acc, (columns, rows), interpolation=cv2.INTER_CUBIC)
        acc += weight * rng.standard_normal((rows, columns), np.float32)
    acc = cv2.resize(acc, (width, height), interpolation=cv2.INTER_CUBIC)
    mean, deviation = cv2.meanStdDev(acc)
    return np.asarray((acc - float(mean[0, 0])) / max(float(deviation[0, 0]), 1e-6), np.float32)


def smooth_step(low: float, high: float, value: NDArray[np.floating]) -> Floats:
    """Return 0 below `low`, 1 above `high`, and an S-curve between; `low` may be the larger one."""
    share = np.asarray((value - low) * (1.0 / (high - low)))
    np.clip(share, 0.0, 1.0, out=share)
    curve = 3.0 - 2.0 * share  # in place: new memory costs more than the arithmetic
    curve *= share
    curve *= share
    return np.asarray(curve, np.float32)
