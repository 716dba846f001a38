"""Noise: seeded lines and fields that look grown.

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
    sharp: bool = False,
) -> Floats:
    """Return noise at rising positions along a line, about -1 to 1.

    The wavelength is the distance between the random values of the first octave; each next one has
    half of it. `sharp` gives straight stretches with uneven corners, like rock.
    """
    total = np.zeros(len(at))
    weight, loudness = 1.0, 0.0
    for _ in range(octaves):
        octave = _octave(rng, at, wavelength, sharp)
        octave *= weight
        total += octave
        loudness += weight * weight
        weight *= gain
        wavelength /= 2
    total *= 1.0 / math.sqrt(loudness)
    return np.asarray(total, np.float32)


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

    There are so many `cells` down and across; unequal numbers stretch what is grown.
    """
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
    curve = 3.0 - 2.0 * share  # in place: fresh memory costs more than the sums
    curve *= share
    curve *= share
    return np.asarray(curve, np.float32)


def _octave(
    rng: np.random.Generator, at: NDArray[np.floating], wavelength: float, sharp: bool
) -> NDArray[np.float64]:
    start = float(at[0])
    count = int((float(at[-1]) - start) / wavelength) + 5
    values = rng.uniform(-1.0, 1.0, count)
    first = rng.random() - 2.0
    position = np.asarray((at - start) / wavelength, np.float64)
    if sharp:
        knots = np.arange(first, first + count - 0.5) + rng.uniform(-0.3, 0.3, count)
        return np.asarray(np.interp(position, knots, values))
    position -= first  # from here on at least 1, and at most 2 less than there are values
    cell = position.astype(np.intp)
    position -= cell
    return _cubic(values, cell - 1, position)


def _cubic(
    values: NDArray[np.float64], cell: NDArray[np.intp], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate with Catmull-Rom, which passes through its values without corners.

    Each place lies a share of the way behind the value that follows the one of its cell.
    """
    a, b, c, d = values[:-3], values[1:-2], values[2:-1], values[3:]
    one, two, three = (c - a) / 2, a - 2.5 * b + 2 * c - d / 2, 1.5 * (b - c) + (d - a) / 2
    total = three.take(cell, mode="clip")
    for step in (two, one, b):
        total *= share
        total += step.take(cell, mode="clip")
    return total
