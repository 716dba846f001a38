"""Falling or floating particles as seamless tiles, shared by stills and films."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.painting.noise import tile
from kit.engines.prompt.brief import Brief

_SLANT = -0.15  # columns of sideways motion of rain per row
_BITS = 4  # fractional bits of coordinates in OpenCV's drawing
_SIDE = 256  # of the noise for clouds
_PHASE = 0.382  # phase shift in turns between layers
_Pair: TypeAlias = tuple[float, float]
#: Discs of a speck, largest first: radii and light, in shares.
_SOFT_DISCS = ((1.3, 0.4), (0.8, 1.0))
_GLOWING_DISCS = ((4.2, 0.04), (3.3, 0.1), (2.4, 0.2), (1.7, 0.45), (1.2, 0.75), (0.8, 1.0))


@dataclass(frozen=True, slots=True)
class FallingLayer:
    """One layer of weather.

    The tile is light or density, with the size of the frame. It moves by that many frame widths
    and heights per second, and swings by a share of the frame, from a phase in turns.
    """

    tile: Bytes
    speed: tuple[float, float]
    sway: float
    phase: float


@dataclass(frozen=True, slots=True)
class _Kind:
    """The properties of layers; pairs are those of the farthest and the nearest one.

    Counts are specks per frame, or drops per square frame; sizes are in sides of a square with the
    frame's area; light is its range in steps of 8 bits; speeds are in frames per second, across
    and down. Above `low`, a share of the frame, there is nothing.
    """

    layers: int
    count: _Pair
    size: _Pair
    light: _Pair
    across: _Pair = (0.0, 0.0)
    down: _Pair = (0.0, 0.0)
    sway: float = 0.0
    discs: tuple[_Pair, ...] = _SOFT_DISCS
    low: float = 0.0


_KINDS = {
    "rain": _Kind(3, (320, 160), (0.022, 0.052), (30, 92), (-0.2, -0.38), (1.3, 2.5)),
    "snow": _Kind(4, (250, 74), (0.0011, 0.0033), (90, 230), (0.004, 0.045), (0.10, 0.24), 0.011),
    "fog": _Kind(2, (0, 0), (0.0, 0.0), (0, 96), (0.020, -0.034)),
    "dust": _Kind(2, (70, 45), (0.001, 0.0024), (28, 62), (0.016, 0.032), (-0.01, -0.02), 0.012),
    "fireflies": _Kind(
        3, (22, 12), (0.0014, 0.0030), (235, 245), sway=0.016, discs=_GLOWING_DISCS, low=0.55
    ),
    "embers": _Kind(3, (46, 18), (0.0012, 0.0026), (90, 230), (0.03, -0.03), (-0.13, -0.29), 0.014),
}


def kind_of(brief: Brief) -> str | None:
    """Return the kind of weather in the air of a brief, if any."""
    if brief.weather in ("rain", "snow") and brief.falling:
        return brief.weather
    names = {"fireflies": "fireflies", "eruption": "embers"}
    return next((kind for thing, kind in names.items() if thing in brief.things), None)


def layers(kind: str, rng: np.random.Generator, size: tuple[int, int]) -> list[FallingLayer]:
    """Return layers from far to near; `size` is the frame's width and height."""
    made, found = _KINDS[kind], []
    draw = {"rain": _rain, "fog": _fog}.get(kind, _specks)
    for number in range(made.layers):
        near = number / (made.layers - 1)
        speed = _interpolate(made.across, near), _interpolate(made.down, near)
        if kind == "rain":
            speed = speed[1] * _SLANT * size[1] / size[0], speed[1]
        found.append(FallingLayer(draw(rng, size, made, near), speed, made.sway, number * _PHASE))
    return found


def draw_air(kind: str, rng: np.random.Generator, size: tuple[int, int]) -> Bytes:
    """Return all layers at one moment, composited: 255 is opaque."""
    clear = np.full(size[::-1], 255, np.uint8)
    for layer in layers(kind, rng, size):
        clear = cv2.multiply(clear, cv2.bitwise_not(layer.tile), scale=1 / 255)
    return np.asarray(cv2.bitwise_not(clear))


def _rain(rng: np.random.Generator, size: tuple[int, int], made: _Kind, near: float) -> Bytes:
    width, height = size
    random = rng.random((round(_interpolate(made.count, near) * width / height), 3))
    long, wide = height * _interpolate(made.size, near), height * (0.0010 + 0.0010 * near)
    rim = math.ceil(1.1 * long) + 2
    sheet = np.zeros((height + 2 * rim, width + 2 * rim), np.uint8)
    bright = random[:, 2]
    light = (made.light[0] + (made.light[1] - made.light[0]) * bright) * (0.75 + 0.25 * near)
    values = np.rint(light * min(1.0, wide)).astype(int).tolist()
    start = random[:, :2] * size + rim
    end = start + (long * (0.5 + 0.4 * bright))[:, None] * (_SLANT, 1.0)
    places = np.rint(np.stack([start, end], axis=1) * 2**_BITS).astype(int).tolist()
    for (one, other), value in zip(places, values, strict=True):
        cv2.line(sheet, one, other, value, max(1, round(wide)), cv2.LINE_AA, _BITS)
    return _fold(sheet, rim)


def _specks(rng: np.random.Generator, size: tuple[int, int], made: _Kind, near: float) -> Bytes:
    typical = math.sqrt(size[0] * size[1]) * _interpolate(made.size, near)
    rim = math.ceil(1.55 * typical * made.discs[0][0]) + 3
    sheet = np.zeros((size[1] + 2 * rim, size[0] + 2 * rim), np.uint8)
    random = rng.random((round(_interpolate(made.count, near)), 4))
    random[:, 1] = made.low + (1.0 - 1.06 * made.low) * random[:, 1] if made.low else random[:, 1]
    for x, y, large, bright in random.tolist():
        place = round((x * size[0] + rim) * 2**_BITS), round((y * size[1] + rim) * 2**_BITS)
        for factor, share in made.discs:
            radius = round(((0.55 + large) * typical * factor + 0.3) * 2**_BITS)
            value = round(share * _interpolate(made.light, bright))
            cv2.circle(sheet, place, radius, value, -1, cv2.LINE_AA, _BITS)
    return _fold(sheet, rim)


def _fog(rng: np.random.Generator, size: tuple[int, int], made: _Kind, near: float) -> Bytes:
    return clouds(rng, size[1], size[0], cells=4, peak=round(made.light[1]))


def _fold(sheet: Bytes, rim: int) -> Bytes:
    """Return a sheet with its rim wrapped to the opposite edges."""
    for _ in range(2):
        inner = sheet[rim:-rim]
        np.maximum(inner[:rim], sheet[-rim:], out=inner[:rim])
        np.maximum(inner[-rim:], sheet[:rim], out=inner[-rim:])
        sheet = inner.T
    return np.ascontiguousarray(sheet)


def clouds(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: int,
    peak: int,
    octaves: int = 4,
    floor: int = 0,
) -> Bytes:
    """Return seamless soft clouds, from `floor` to `peak`, with `cells` (a power of 2) across."""
    share = np.clip(0.42 + 0.34 * tile(rng, cells=cells, octaves=octaves, side=_SIDE), 0.0, 1.0)
    small = np.pad(floor + (peak - floor) * share * share * (3 - 2 * share), 1, mode="wrap")
    # From the center of the first to that of the last of its pixels, around the ring.
    across, down = (np.arange(n, dtype=np.float32) * (_SIDE / n) + 1.0 for n in (width, height))
    at_x, at_y = np.meshgrid(across, down)
    return np.asarray(cv2.remap(small, at_x, at_y, cv2.INTER_LINEAR).astype(np.uint8))


def _interpolate(pair: _Pair, share: float) -> float:
    return pair[0] + (pair[1] - pair[0]) * share
