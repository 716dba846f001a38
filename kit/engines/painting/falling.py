"""What falls or floats before a view, as tiles without seams: the same for stills and films."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.prompt.brief import Brief

_LEAN = -0.15  # columns to the side that rain goes for each row down
_FINE = 4  # binary places of a pixel that OpenCV draws to
_LATER = 0.382  # turns by which each layer's swing is behind the one before
_GAIN = 1.35  # light that specks get back after they are blurred
_HALOS = ((3.4, 0.1), (2.0, 0.28), (1.0, 1.0))  # of what glows: radii and shares of its light
_Pair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of what is in the air.

    Parameters
    ----------
    tile : ndarray of uint8
        Light or density, as large as the frame; it continues at the opposite edge.
    speed : tuple of float
        Frame widths and heights that it moves in a second.
    sway : float
        Share of the frame by which it swings about its way.
    phase : float
        Where on its swing it starts, in turns.
    """

    tile: Bytes
    speed: tuple[float, float]
    sway: float
    phase: float


@dataclass(frozen=True, slots=True)
class _Kind:
    """What layers are made of; pairs are the farthest layer's and the nearest one's.

    Parameters
    ----------
    count : pair
        Of specks on a frame, of drops on a square one, of blobs across it.
    size : pair
        In sides of a square as large as the frame.
    light : pair
        The least and the most of one, in steps of 8 bits.
    across, down : pair
        Frame widths and heights in a second.
    low : float
        Share of the frame above which there is nothing.
    """

    layers: int
    count: _Pair
    size: _Pair
    light: _Pair
    across: _Pair = (0.0, 0.0)
    down: _Pair = (0.0, 0.0)
    sway: _Pair = (0.0, 0.0)
    low: float = 0.0
    glows: bool = False


KINDS = {
    "rain": _Kind(3, (420, 206), (0.020, 0.050), (26, 84), (0.0, 0.0), (1.3, 2.5)),
    "snow": _Kind(
        4, (250, 74), (0.0011, 0.0033), (90, 230), (0.004, 0.045), (0.10, 0.24), (0.007, 0.015)
    ),
    "fog": _Kind(2, (5, 4), (0.0, 0.0), (0, 96), (0.020, -0.034)),
    "dust": _Kind(
        2, (70, 45), (0.0010, 0.0024), (28, 62), (0.016, 0.032), (-0.01, -0.02), (0.012, 0.012)
    ),
    "fireflies": _Kind(
        3, (22, 12), (0.0014, 0.0030), (235, 245), sway=(0.016, 0.016), low=0.55, glows=True
    ),
    "embers": _Kind(
        3, (46, 18), (0.0012, 0.0026), (90, 230), (0.03, -0.03), (-0.13, -0.29), (0.014, 0.014)
    ),
}


def kind_of(brief: Brief) -> str | None:
    """Return what is in the air of a brief, if anything."""
    if brief.weather in ("rain", "snow"):
        return brief.weather
    return "fireflies" if "fireflies" in brief.things else None


def layers(kind: str, rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    """Return layers from far to near; `size` is the frame's width and height."""
    made = KINDS[kind]
    found = []
    for number in range(made.layers):
        near = number / (made.layers - 1)
        down = _between(made.down, near)
        across = _between(made.across, near)
        if kind == "rain":
            tile = _rain(rng, size, made, near)
            across = down * _LEAN * size[1] / size[0]
        elif kind == "fog":
            cells = (round(_between(made.count, near)), 3)
            tile = clouds(rng, size[1], size[0], cells=cells, most=round(made.light[1]))
        else:
            tile = _specks(rng, size, made, near)
        found.append(Layer(tile, (across, down), _between(made.sway, near), number * _LATER))
    return found


def fallen(kind: str, rng: np.random.Generator, size: tuple[int, int]) -> Bytes:
    """Return all layers as they are at one moment, laid over each other: 255 covers."""
    clear = np.full(size[::-1], 255, np.uint8)
    for layer in layers(kind, rng, size):
        clear = cv2.multiply(clear, cv2.bitwise_not(layer.tile), scale=1 / 255)
    return np.asarray(cv2.bitwise_not(clear))


def _rain(rng: np.random.Generator, size: tuple[int, int], made: _Kind, near: float) -> Bytes:
    width, height = size
    count = round(_between(made.count, near) * width / height)
    long = height * _between(made.size, near)
    wide = height * (0.0010 + 0.0010 * near)
    rim = math.ceil(1.1 * long) + 2
    tile = np.zeros((height + 2 * rim, width + 2 * rim), np.uint8)
    places = rng.random((count, 3))
    bright = places[:, 2]
    light = (made.light[0] + (made.light[1] - made.light[0]) * bright) * (0.75 + 0.25 * near)
    light = np.rint(light * min(1.0, wide)).astype(int).tolist()
    start = places[:, :2] * size + rim
    way = (long * (0.6 + 0.4 * bright))[:, None] * (_LEAN, 1.0)
    thick = max(1, round(wide))
    # The ends of a streak, a fifth each, are fainter.
    for end, share in ((0.0, 2), (0.22, 1)):
        first = np.rint((start + end * way) * 2**_FINE).astype(int).tolist()
        last = np.rint((start + (1.0 - end) * way) * 2**_FINE).astype(int).tolist()
        for one, other, value in zip(first, last, light, strict=True):
            cv2.line(tile, one, other, value // share, thick, cv2.LINE_AA, _FINE)
    return _folded(tile, rim)


def _specks(rng: np.random.Generator, size: tuple[int, int], made: _Kind, near: float) -> Bytes:
    """Draw soft specks of many sizes."""
    typical = math.sqrt(size[0] * size[1]) * _between(made.size, near)
    soft = math.hypot(0.4 * typical, 0.75)  # a disc of two pixels is a diamond, which shows
    rim = math.ceil(5.5 * typical + 3 * soft) + 2
    tile = np.zeros((size[1] + 2 * rim, size[0] + 2 * rim), np.uint8)
    halos = _HALOS if made.glows else _HALOS[-1:]
    for x, y, large, bright in rng.random((round(_between(made.count, near)), 4)).tolist():
        down = made.low + (1.0 - 1.06 * made.low) * y if made.low else y
        place = (round((x * size[0] + rim) * 2**_FINE), round((down * size[1] + rim) * 2**_FINE))
        for factor, share in halos:
            radius = max(1, round(typical * (0.55 + large) * factor * 2**_FINE))
            light = round(share * _between(made.light, bright))
            cv2.circle(tile, place, radius, light, -1, cv2.LINE_AA, _FINE)
    tile = cv2.GaussianBlur(tile, (0, 0), soft)
    return np.asarray(cv2.convertScaleAbs(_folded(tile, rim), alpha=_GAIN))


def _folded(tile: Bytes, rim: int) -> Bytes:
    """Return a tile without its rim: what stands there goes on at the opposite edge."""
    for _ in range(2):
        inner = tile[rim:-rim]
        np.maximum(inner[:rim], tile[-rim:], out=inner[:rim])
        np.maximum(inner[-rim:], tile[:rim], out=inner[-rim:])
        tile = inner.T
    return np.ascontiguousarray(tile)


def clouds(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: tuple[int, int],
    most: int,
    octaves: int = 4,
    floor: int = 0,
) -> Bytes:
    """Return soft clouds without seams, from `floor` to `most`."""
    # Drawn small: clouds have no edges, and enlarging them is much quicker.
    scale = min(1.0, 256 / max(height, width))
    small = (max(8, round(height * scale)), max(8, round(width * scale)))
    share = np.clip(0.42 + 0.34 * tileable(rng, *small, cells=cells, octaves=octaves), 0.0, 1.0)
    big = _enlarged(share * share * (3 - 2 * share), height, width)
    return np.clip(np.rint(floor + (most - floor) * big), 0, 255).astype(np.uint8)


def tileable(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: tuple[int, int],
    octaves: int = 5,
    gain: float = 0.5,
) -> Floats:
    """Return noise without seams, mean 0 and deviation 1, shape (height, width).

    Parameters
    ----------
    cells : tuple of int
        Blobs down and across; each octave has twice as many.
    """
    total = np.zeros((height, width), np.float32)
    weight = 1.0
    for octave in range(octaves):
        rows, columns = (max(2, count << octave) for count in cells)
        if octave and (rows >= height or columns >= width):
            break
        total += weight * _enlarged(rng.standard_normal((rows, columns), np.float32), height, width)
        weight *= gain
    mean, deviation = cv2.meanStdDev(total)
    return np.asarray((total - mean[0, 0]) / max(deviation[0, 0], 1e-6), np.float32)


def _enlarged(lattice: Floats, height: int, width: int) -> Floats:
    """Enlarge with cubic interpolation that knows what lies beyond the edges."""
    rows, columns = lattice.shape
    down = (np.arange(height, dtype=np.float32) + 0.5) * (rows / height) - 0.5
    across = (np.arange(width, dtype=np.float32) + 0.5) * (columns / width) - 0.5
    at_x, at_y = np.meshgrid(across, down)
    return np.asarray(cv2.remap(lattice, at_x, at_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_WRAP))


def _between(pair: _Pair, share: float) -> float:
    return pair[0] + (pair[1] - pair[0]) * share
