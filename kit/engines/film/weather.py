"""Weather in motion: layers that fall, drift or glow before a picture, on its luma and chroma.

Each layer is a tile without seams, drawn once and slid over the frames. A loop changes how long the
tile of something that falls is, not how fast it falls; in a very short one things go out on their
way, while they come up where it began. Nothing here knows what the picture shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.film.sheets import (
    brighten,
    burn,
    clouds,
    fitted,
    glow,
    spread_out,
    veil,
    whiten,
    wrapped,
)
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes
from kit.engines.painting.poster.falling import falls
from kit.engines.painting.poster.plane import Stage, disc, discs

_LAYERS = 3
_RAIN_COUNT, _RAIN_FEWER = 420, 0.7  # drops on a square frame's layer farthest away, and nearer
#: Farthest away and one layer nearer: shares of the height; heights in a second; steps of 8 bits.
_LONG, _WIDE, _SPEED, _LIGHT = (0.018, 0.013), (0.0010, 0.0005), (1.3, 0.6), (44, 8)
_LEAN = -0.15  # columns to the side for each row down
_FINE = 4  # bits of a pixel's place
_ENDS = 0.22  # of a streak, at both ends, that are fainter, by half
_DULL, _GRAY = 0.93, 0.86  # shares of light and of color that are left
_BLACK, _NEUTRAL = 16, 128


def streaks(
    rng: np.random.Generator, size: tuple[int, int]
) -> Iterator[tuple[Bytes, tuple[float, float]]]:
    """Yield the layers of a rain, the farthest first: each a tile without seams, and its speed.

    Parameters
    ----------
    size : tuple of int
        Width and height of the frame, which are also those of a tile.

    Yields
    ------
    tile : ndarray of uint8
        Light to add.
    speed : tuple of float
        Frame widths and heights in a second.
    """
    for near in range(_LAYERS):
        down = _rain_at(_SPEED, near)
        yield _rain_tile(rng, size, near), (down * _LEAN * size[1] / size[0], down)


def dull(frame: Frame) -> None:
    """Take light and color from a frame that was not made for rain, in place."""
    cv2.convertScaleAbs(frame[0], dst=frame[0], alpha=_DULL, beta=(1 - _DULL) * _BLACK)
    for chroma in frame[1:]:
        cv2.convertScaleAbs(chroma, dst=chroma, alpha=_GRAY, beta=(1 - _GRAY) * _NEUTRAL)


def _rain_tile(rng: np.random.Generator, size: tuple[int, int], near: int) -> Bytes:
    """Draw a layer; its streaks go on at the opposite edge."""
    width, height = size
    tile = np.zeros((height, width), np.uint8)
    count = round(_RAIN_COUNT * _RAIN_FEWER**near * width / height)
    long, wide = (_rain_at(pair, near) * height for pair in (_LONG, _WIDE))
    for x, y, bright in rng.random((count, 3)) * (width, height, 1.0):
        light = _rain_at(_LIGHT, near) * (0.35 + 0.65 * bright) * min(1.0, wide)
        for step in product((-width, 0, width), (-height, 0)):
            _streak(tile, (x + step[0], y + step[1]), long * (0.6 + 0.4 * bright), wide, light)
    return tile


def _streak(
    tile: Bytes, place: tuple[float, float], long: float, wide: float, light: float
) -> None:
    if not -long < place[0] < tile.shape[1] + long:
        return
    for end, share in ((0.0, 0.5), (_ENDS, 1.0)):
        first, last = (_fine(place, long * at) for at in (end, 1.0 - end))
        thick = max(1, round(wide))
        cv2.line(tile, first, last, round(light * share), thick, cv2.LINE_AA, _FINE)


def _fine(place: tuple[float, float], far: float) -> tuple[int, int]:
    """Return a place some rows down a streak, in parts of a pixel."""
    return round((place[0] + _LEAN * far) * 2**_FINE), round((place[1] + far) * 2**_FINE)


def _rain_at(pair: tuple[float, float], near: int) -> float:
    """Return a measure of a layer: of the farthest one, and what each nearer one adds."""
    return pair[0] + pair[1] * near


_SHEETS = 4
_SNOW_COUNT, _SNOW_FEWER = (
    250,
    1.2,
)  # flakes of the sheet farthest away; how much fewer nearer ones have
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
        speed = aside * _snow_at(_ASIDE, near), _snow_at(_DOWN, near)
        yield Drift(
            _snow_tile(rng, size, near), speed, wide * _snow_at(_SWAY, near), number * _LATER
        )


def _snow_tile(rng: np.random.Generator, size: tuple[int, int], near: float) -> Bytes:
    typical = math.sqrt(size[0] * size[1]) * _snow_at(_SIZE, near)
    tile = np.zeros((size[1], size[0]), np.uint8)
    count = round(_SNOW_COUNT / (1 + 2 * _SNOW_FEWER * near))
    for x, y, large, bright in rng.random((count, 4)) * (*size, 1.0, 1.0):
        radius = typical * _snow_at(_SIZES, large)
        circles = [(*place, radius) for place in wrapped(size, x, y, radius + 2)]
        discs(tile, np.array(circles), values=[round(_snow_at(_LIGHTS, bright))] * len(circles))
    # A disc of two pixels is a diamond, which the eye follows.
    soft = math.hypot(_SOFT * typical, _LEAST)
    border = math.ceil(3 * soft) + 1
    around = cv2.GaussianBlur(np.pad(tile, border, mode="wrap"), (0, 0), soft)
    flakes = around[border:-border, border:-border]
    return np.asarray(cv2.convertScaleAbs(flakes, alpha=_BRIGHTER))


def _snow_at(pair: tuple[float, float], share: float) -> float:
    """Return a measure a share of the way from its least to its most."""
    return pair[0] + pair[1] * share


#: What can be in the air, as a setting's values; none is drawn by nothing.
KINDS = ("none", "rain", "snow", "fog", "dust", "fireflies", "embers")
_FINEST = 32  # pixels after which something may look the same
_BRIEF = 3.5  # seconds of a loop below which what swings would have to hurry to come around
_SWINGS, _SHIMMERS = 5.0, 9.0  # seconds


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of weather.

    Parameters
    ----------
    tile : ndarray of uint8
        Brightness or density, as large as the frame; it continues at the opposite edge.
    speed : tuple of float
        Frame widths and heights that it moves in a second.
    least : float or None
        Share of the frame after which, at the least, what falls may look the same in a loop; None
        for what hangs in the air, which may turn back in one.
    sway : float
        Share of the frame by which it swings about its way.
    phase : float
        Where on its swing it starts, in turns.
    """

    tile: Bytes
    speed: tuple[float, float]
    least: float | None = None
    sway: float = 0.0
    phase: float = 0.0


@dataclass(frozen=True, slots=True)
class _Way:
    """How a layer goes along one axis during a clip, in pixels.

    Parameters
    ----------
    period : int
        After which the tile continues.
    far : float
        From the first moment to the last.
    swing : float
        There and back around its place.
    """

    period: int
    far: float
    swing: float = 0.0

    def at(self, moment: float) -> float:
        return self.far * moment + self.swing * math.sin(2 * math.pi * moment)


#: Lays a cut-out of a layer over a frame.
Lay: TypeAlias = Callable[[Frame, Bytes], None]


class Weather:
    """What is in the air of a clip.

    Parameters
    ----------
    kind : str
        One of `KINDS`, but not none.
    seconds : float
        Length of the clip.
    """

    def __init__(
        self, kind: str, size: tuple[int, int], rng: np.random.Generator, seconds: float, loop: bool
    ) -> None:
        self._size, self._seconds, self._loop = size, seconds, loop
        build, self._lay, glowing = _KINDS[kind]
        self._layers = build(rng, size)
        self._fading = loop and seconds < _BRIEF and any(layer.sway for layer in self._layers)
        self._ways = [
            tuple(self._way(layer, axis, length) for axis, length in enumerate(size))
            for layer in self._layers
        ]
        self._tiles = [
            spread_out(fitted(layer.tile, (across.period, down.period)), size)
            for layer, (across, down) in zip(self._layers, self._ways, strict=True)
        ]
        self._shimmer = spread_out(_shimmer(rng, size), size) if glowing else None
        # Kept for all frames: memory that is new costs as much again as what is written to it.
        planes = (np.empty(size[::-1], np.uint8) for _ in range(4))
        self._total, self._spare, self._light, self._other = planes

    def draw(self, frame: Frame, moment: float) -> None:
        """Draw the air over a frame, in place; `moment` is 0 to 1 of the clip."""
        if self._lay in _SUMMED:
            self._lay(frame, self._sum(moment))
            return
        for number in range(len(self._layers)):
            self._lay(frame, self._patch(number, moment, self._spare))

    def _sum(self, moment: float) -> Bytes:
        """Return all layers as one."""
        total = self._patch(0, moment, self._total)
        for number in range(1, len(self._layers)):
            cv2.add(total, self._patch(number, moment, self._spare), dst=total)
        return total

    def _patch(self, number: int, moment: float, out: Bytes) -> Bytes:
        """Cut what is seen of a layer out of its tile, into a plane as large as the frame."""
        if not self._fading:
            return self._seen(number, moment, out)
        # Layers take turns, so that it never all goes out at once.
        late = (moment + number / len(self._layers)) % 1.0
        share = math.cos(late * math.pi / 2) ** 2
        going, coming = self._seen(number, late, out), self._seen(number, late - 1.0, self._other)
        return np.asarray(cv2.addWeighted(going, share, coming, 1.0 - share, 0.0, dst=out))

    def _seen(self, number: int, moment: float, out: Bytes) -> Bytes:
        layer, (across, down) = self._layers[number], self._ways[number]
        swing = 2 * math.pi * (self._turns(_SWINGS) * moment + layer.phase)
        x = across.at(moment) + layer.sway * self._size[0] * math.sin(swing)
        y = down.at(moment) + layer.sway * self._size[1] * math.cos(2 * swing) / 2
        self._cut(self._tiles[number], (x, y), (across.period, down.period), out)
        if self._shimmer is not None:
            slid = (self._turns(_SHIMMERS) * moment + layer.phase) * self._size[0]
            self._cut(self._shimmer, (slid, 0.0), self._size, self._light)
            cv2.multiply(out, self._light, scale=1 / 200, dst=out)
        return out

    def _way(self, layer: Layer, axis: int, length: int) -> _Way:
        """Return how a layer goes along the frame's width (0) or height (1)."""
        far = layer.speed[axis] * self._seconds
        if self._fading or not self._loop:
            return _Way(length, far * length)
        if axis and layer.least and far:
            far = math.copysign(max(layer.least, abs(far)), far)  # it must not turn back
        if abs(far) < (layer.least or 0.5):
            return _Way(length, 0.0, far * length / (2 * math.pi))  # at most as fast as ever
        laps = max(1, round(abs(far)))
        period = max(_FINEST, round(abs(far) / laps * length)) if layer.least else length
        return _Way(period, math.copysign(laps * period, far))

    def _turns(self, period: float) -> float:
        """Return how often something that takes about a period comes around in the clip."""
        turns = self._seconds / period
        return turns if self._fading or not self._loop else max(1, round(turns))

    def _cut(
        self, tile: Bytes, gone: tuple[float, float], period: tuple[int, int], out: Bytes
    ) -> None:
        """Cut a frame out of a tile, to a part of a pixel: slow things must not move in steps."""
        width, height = self._size
        left, top = (-far % length for far, length in zip(gone, period, strict=True))
        center = (left + (width - 1) / 2, top + (height - 1) / 2)
        cv2.getRectSubPix(tile, (width, height), center, out)


def _rain(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [Layer(tile, speed, least=0.05) for tile, speed in streaks(rng, size)]


def _snow(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(drift.tile, drift.speed, least=0.2, sway=drift.sway, phase=drift.phase)
        for drift in drifts(rng, size)
    ]


def _fireflies(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(fall.tile, (0.0, 0.0), sway=0.016, phase=number / 3)
        for number, fall in enumerate(falls(rng, *size, "fireflies"))
    ]


def _dust(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(
            _motes(rng, size, 70 - 25 * near, 0.0008 + 0.0013 * near, 90 - 30 * near),
            (0.016 * (near + 1), -0.010 * (near + 1)),
            sway=0.012,
            phase=near / 2,
        )
        for near in range(2)
    ]


def _embers(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(
            _motes(rng, size, 46 - 14 * near, 0.0010 + 0.0007 * near, 250),
            (0.03 * (1 - near), -0.13 - 0.08 * near),
            least=0.2,
            sway=0.014,
            phase=near / 3,
        )
        for near in range(3)
    ]


def _fog(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    width, height = size
    return [
        Layer(clouds(rng, height, width, cells=(5 - near, 3), most=96), (speed, 0.0))
        for near, speed in enumerate((0.020, -0.034))
    ]


def _motes(
    rng: np.random.Generator, size: tuple[int, int], count: int, radius: float, most: int
) -> Bytes:
    """Draw soft specks of many sizes."""
    stage = Stage(*size)
    mask = stage.blank(0, stage.rows)
    for x, y in rng.random((count, 2)) * size:
        spread = float(rng.uniform(0.6, 2.0))
        value = int(most * rng.uniform(0.35, 1.0) / spread)
        for px, py in wrapped(size, x, y, 4 * stage.unit * radius * spread):
            disc(mask, px, py, stage.unit * radius * spread, value=value)
    soft = max(0.5, 0.6 * stage.unit * radius)
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), soft, borderType=cv2.BORDER_REFLECT))


def _shimmer(rng: np.random.Generator, size: tuple[int, int]) -> Bytes:
    """Return brightness that varies from place to place, for what glimmers as it moves."""
    return np.asarray(clouds(rng, size[1], size[0], cells=(24, 24), most=255, octaves=1, floor=30))


#: Ways to lay that come to the same for the sum of all layers.
_SUMMED = (brighten, whiten)
_KINDS: dict[
    str, tuple[Callable[[np.random.Generator, tuple[int, int]], list[Layer]], Lay, bool]
] = {
    "rain": (_rain, brighten, False),
    "snow": (_snow, whiten, False),
    "fog": (_fog, veil, False),
    "dust": (_dust, whiten, True),
    "fireflies": (_fireflies, glow, True),
    "embers": (_embers, burn, True),
}
