"""Snow: soft flakes in sheets, each of which falls and swings in its own way.

Flakes of one sheet move together, and the eye takes them for one if they are of one size. So each
sheet has flakes of many sizes, and flakes that look alike cross each other's ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.film.tiles import wrapped
from kit.engines.media.color import Bytes
from kit.engines.painting.poster.plane import discs

_SHEETS = 4
_COUNT, _FEWER = 250, 1.2  # flakes of the sheet farthest away; how much fewer nearer ones have
#: Farthest away, and what is added to it up to the nearest: radii in sides of a square as large as
#: the frame; frame heights and widths in a second; shares of the frame.
_SIZE, _DOWN = (0.0011, 0.0022), (0.10, 0.14)
_ASIDE, _SWAY = (0.012, 0.024), (0.006, 0.012)
_SIZES, _LIGHTS = (0.55, 1.0), (90, 140)  # least and what may be added, within a sheet
#: Of sheets in turn: shares of the way aside and of the swing.
_TURNS = ((0.2, 1.2), (1.8, 0.8))
_LATER = 0.382  # turns by which each sheet's swing is behind the one before: none keep in step
_SOFT, _LEAST, _BRIGHTER = 0.35, 0.85, 1.35  # blur in radii and at least in pixels; light


@dataclass(frozen=True, slots=True)
class Drift:
    """Flakes that go one way.

    Parameters
    ----------
    tile : ndarray of uint8
        Brightness, as large as the frame; it continues at the opposite edge.
    speed : tuple of float
        Frame widths and heights that they move in a second.
    sway : float
        Share of the frame by which they swing about their way.
    phase : float
        Where on their swing they start, in turns.
    """

    tile: Bytes
    speed: tuple[float, float]
    sway: float
    phase: float


def drifts(rng: np.random.Generator, size: tuple[int, int]) -> Iterator[Drift]:
    """Yield the sheets of a snowfall, the farthest first.

    Parameters
    ----------
    size : tuple of int
        Width and height of the frame.
    """
    for number in range(_SHEETS):
        near = number / (_SHEETS - 1)
        aside, wide = _TURNS[number % len(_TURNS)]
        speed = aside * _at(_ASIDE, near), _at(_DOWN, near)
        yield Drift(_tile(rng, size, near), speed, wide * _at(_SWAY, near), number * _LATER)


def _tile(rng: np.random.Generator, size: tuple[int, int], near: float) -> Bytes:
    typical = math.sqrt(size[0] * size[1]) * _at(_SIZE, near)
    tile = np.zeros((size[1], size[0]), np.uint8)
    count = round(_COUNT / (1 + 2 * _FEWER * near))
    for x, y, large, bright in rng.random((count, 4)) * (*size, 1.0, 1.0):
        radius = typical * _at(_SIZES, large)
        circles = [(*place, radius) for place in wrapped(size, x, y, radius + 2)]
        discs(tile, np.array(circles), values=[round(_at(_LIGHTS, bright))] * len(circles))
    # A disc of two pixels is a diamond, which the eye follows.
    soft = math.hypot(_SOFT * typical, _LEAST)
    border = math.ceil(3 * soft) + 1
    around = cv2.GaussianBlur(np.pad(tile, border, mode="wrap"), (0, 0), soft)
    flakes = around[border:-border, border:-border]
    return np.asarray(cv2.convertScaleAbs(flakes, alpha=_BRIGHTER))


def _at(pair: tuple[float, float], share: float) -> float:
    """Return a measure a share of the way from its least to its most."""
    return pair[0] + pair[1] * share
