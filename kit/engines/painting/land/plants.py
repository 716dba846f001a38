"""Plants: trees, palms, grass and stones, each drawn once per process, stored at halving sizes.

Pictures differ only in their positions, so that a forest is not drawn leaf by leaf for every
job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.noise import Plane, tile

_MIN_SIDE = 3
_BITS = 4  # fractional bits of coordinates of outlines
_UNIT_TONE = 120.0  # tone of a drawing that is a brightness of 1
#: Left, top, width and height of a drawing's extent, in its heights; 0 is above the foot.
Box: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Sprite:
    """A plant at halving sizes, lit from the left."""

    #: Coverage, 0 to 1, and brightness of foliage and of bark, if any, premultiplied by coverage.
    levels: tuple[Floats, ...]
    box: Box

    def cut(
        self, tall: float, left: float, top: float, size: tuple[int, int], flip: bool
    ) -> Floats:
        """Return a window of a plant `tall` pixels high, with its offset right and down."""
        high = self.box[3] * tall
        level = next((one for one in reversed(self.levels) if len(one) >= high), self.levels[0])
        step = len(level) / high
        # Coordinates are pixel centers, in the level as in the picture.
        right, down = (left + 0.5) * step - 0.5, (top + 0.5) * step - 0.5
        matrix = np.array([[step, 0.0, right], [0.0, step, down]])
        if flip:
            matrix[0] = (-step, 0.0, level.shape[1] - 1 - right)
        return np.asarray(
            cv2.warpAffine(level, matrix, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        )


class PlantDrawing:
    """A plant in progress: coverage, foliage and bark; positions are pixels."""

    def __init__(self, tall: int, wide: float) -> None:
        self.high, self.wide = tall, round(tall * wide)
        self.planes = np.zeros((self.high, self.wide, 3), np.uint8)

    def fill(self, points: Plane, tone: float, *, bark: bool = False) -> None:
        """Fill an outline, shape (n, 2)."""
        cv2.fillPoly(self.planes, [_fixed(points)], _color(tone, bark=bark), cv2.LINE_AA, _BITS)

    def stroke(self, points: Plane, tone: float, thick: int = 1) -> None:
        """Draw a line through points."""
        color = _color(tone, bark=False)
        cv2.polylines(self.planes, [_fixed(points)], False, color, thick, cv2.LINE_AA, _BITS)

    def dot(self, spot: Plane, radius: float, tone: float) -> None:
        """Draw a disc."""
        x, y = _fixed(np.asarray(spot))
        color = _color(tone, bark=False)
        cv2.circle(self.planes, (int(x), int(y)), round(radius * 16), color, -1, cv2.LINE_AA, _BITS)

    def sprite(self, low: float = 1.0, high: float = 1.0) -> Sprite:
        """Return the drawing as a sprite, its light falling from the top down."""
        cover, leaf, bark = cv2.split(self.planes.astype(np.float32))
        fade = np.linspace(high, low, self.high, dtype=np.float32)[:, None] / np.float32(_UNIT_TONE)
        return _sprite(cover / 255, leaf * fade, bark * fade)


def _fixed(points: Plane) -> np.ndarray:
    return np.round(np.asarray(points) * (1 << _BITS)).astype(np.int32)


def _color(tone: float, *, bark: bool) -> tuple[float, float, float]:
    return (255.0, 0.0, float(tone)) if bark else (255.0, float(tone), 0.0)


def _sprite(cover: Plane, leaf: Plane, bark: Plane | None = None) -> Sprite:
    """Return a sprite of coverage and premultiplied brightness."""
    high, wide = cover.shape
    rows, columns = (np.flatnonzero(cover.max(axis=axis) > 0.004) for axis in (1, 0))
    top, bottom, left, right = int(rows[0]), rows[-1] + 1, int(columns[0]), columns[-1] + 1
    planes = [cover, leaf] if bark is None or not bark.any() else [cover, leaf, bark]
    level = np.asarray(cv2.merge([np.asarray(plane, np.float32) for plane in planes]))
    levels = [np.ascontiguousarray(level[top:bottom, left:right])]
    while min(levels[-1].shape[:2]) // 2 >= _MIN_SIDE:
        size = (levels[-1].shape[1] // 2, levels[-1].shape[0] // 2)
        levels.append(np.asarray(cv2.resize(levels[-1], size, interpolation=cv2.INTER_AREA)))
    box = ((left - wide / 2) / high, top / high - 1.0, (right - left) / high, (bottom - top) / high)
    return Sprite(tuple(levels), box)


def _spruce(rng: np.random.Generator) -> Sprite:
    """Return whorls of drooping boughs, ragged, with gaps to the sky."""
    pad = PlantDrawing(384, 0.46)
    high, middle = pad.high, pad.wide / 2
    slim, lean = rng.uniform(0.75, 1.15), rng.uniform(-0.012, 0.012) * high
    stem = [(middle - 0.012 * high, high), (middle + lean, 0), (middle + 0.012 * high, high)]
    pad.fill(np.array(stem), 60, bark=True)
    along = np.linspace(0.0, 1.0, 9)
    count = int(rng.integers(30, 38))
    for number in range(count):
        share = max(0.0, (number + rng.uniform(-0.3, 0.3)) / count)
        x, y = middle + lean * (1 - share), high * (0.012 + 0.91 * share)
        for side in rng.permutation([-1.0, 1.0, -0.45, 0.45]):
            reach = high * (0.010 + 0.185 * slim * share**0.85) * side * rng.uniform(0.55, 1.15)
            long = abs(reach)
            droop = y + long * rng.uniform(0.22, 0.55) * along**1.5
            upper = np.stack([x + reach * along, droop - 0.07 * long * np.sin(np.pi * along)], 1)
            thick = long * (0.32 * (1 - along) ** 0.8 + 0.05) * rng.uniform(0.1, 1.35, 9)
            lower = upper * (1.0, 1.0) + np.stack([-0.02 * reach * along, thick], 1)
            tone = 67 - 29 * np.sign(reach) * min(1.0, long / (0.03 * high))
            tone = np.clip((tone + rng.normal(0, 11)) * (1.08 - 0.36 * share), 14, 136)
            pad.fill(np.concatenate([upper, lower[::-1]]), tone)
            pad.stroke(upper, 1.5 * tone)
    return pad.sprite()


def _broadleaf(rng: np.random.Generator) -> Sprite:
    """Return a trunk, and a crown of leaf clusters lit from the left and above."""
    pad = PlantDrawing(320, rng.uniform(0.85, 1.0))
    high, wide = pad.high, pad.wide
    stem = [(-0.035, 1.0), (-0.015, 0.45), (0.015, 0.45), (0.035, 1.0)]
    pad.fill(np.array(stem) * high + (wide / 2, 0), 40, bark=True)
    rows = np.sort(rng.uniform(0.14, 0.66, 17))[::-1]
    for y, aside, reach in zip(
        rows, rng.uniform(-1, 1, 17), rng.uniform(0.1, 0.17, 17), strict=True
    ):
        middle = (0.5 + 0.36 * np.sin(np.pi * (y + 0.10) / 0.95) ** 0.7 * aside) * wide, y * high
        turn, away = rng.uniform(0, 2 * np.pi, 60), reach * high * rng.uniform(0, 1, 60) ** 0.5
        off = np.stack([np.cos(turn), 0.85 * np.sin(turn)], 1) * away[:, None]
        spots = middle + off
        lit = 0.62 - (0.34 * off[:, 0] + 0.42 * off[:, 1]) / (reach * high)
        tones = 150 * lit * (1.12 - 0.75 * spots[:, 1] / high) + 16 * rng.standard_normal(60)
        sizes = high * rng.uniform(0.008, 0.022, 60)
        for spot, size, tone in zip(spots, sizes, np.clip(tones, 22, 235), strict=True):
            pad.dot(spot, size, tone)
    return pad.sprite()


def _tuft(rng: np.random.Generator) -> Sprite:
    """Return thin blades that bend outward, pale at their tips."""
    pad = PlantDrawing(160, 1.5)
    high, wide = pad.high, pad.wide
    along = np.linspace(0.0, 1.0, 9)
    for _ in range(46):
        foot = wide * (0.5 + 0.20 * rng.standard_normal())
        bend, long = wide * 0.20 * rng.standard_normal(), high * rng.uniform(0.35, 0.97)
        sunk = high * (0.10 * ((foot / wide - 0.5) / 0.5) ** 2 - 0.02 * rng.random())
        rise = long * along * (1 - 0.48 * along * abs(bend) / wide)
        blade = np.stack([foot + bend * along**2, 0.98 * high - sunk - rise], 1)
        side = np.stack([0.011 * high * (1 - 0.92 * along), np.zeros(9)], 1)
        tone = np.clip(111 + 37 * rng.standard_normal(), 37, 220)
        pad.fill(np.concatenate([blade - side, (blade + side)[::-1]]), tone)
    return pad.sprite(0.45, 1.25)


def _fern(rng: np.random.Generator) -> Sprite:
    """Return fronds that arch in all directions from one root."""
    pad = PlantDrawing(180, 1.9)
    root = np.array([pad.wide / 2, 0.98 * pad.high])
    for turn in np.linspace(0.12, np.pi - 0.12, 11) + 0.15 * rng.standard_normal(11):
        long = pad.high * rng.uniform(0.75, 0.98)
        _frond(rng, pad, root, float(turn), long, rng.uniform(0.2, 1.0), hang=0.35)
    return pad.sprite(0.35, 1.3)


def _spray(rng: np.random.Generator, *, needles: bool) -> Sprite:
    """Return a hanging cluster of leaves, or a drooping bough of needles, in close-up."""
    pad = PlantDrawing(280, 1.5)
    high, wide = pad.high, pad.wide
    for _ in range(7):
        start, way = (rng.uniform(0.3, 0.7), rng.uniform(0.02, 0.25)), rng.uniform(-1, 1)
        for share in np.linspace(0.0, 1.0, 80):
            droop = (0.62 * share**1.6 + 0.05) * 0.75 * abs(way)
            spot = np.array([start[0] + way * 0.42 * share, start[1] + droop]) * (wide, high)
            for _ in range(2):
                tone = np.clip(96 + 34 * rng.standard_normal(), 25, 230)
                end = high * np.array([0.05 * rng.standard_normal(), rng.uniform(0.02, 0.085)])
                if needles:
                    pad.stroke(np.array([spot, spot + end]), tone)
                else:
                    pad.dot(spot + end * (1.0, rng.choice([-1.0, 1.0])), 0.015 * high, tone)
    return pad.sprite(0.6, 1.3)


def _trunk(rng: np.random.Generator, *, birch: bool) -> Sprite:
    """Return a trunk with a flared foot: its bark is furrowed, or white with dark marks."""
    high, wide = 1024, 176
    y = np.linspace(0.0, 1.0, high, dtype=np.float32)[:, None]
    x = np.arange(wide, dtype=np.float32)[None]
    drift = np.cumsum(np.cumsum(rng.standard_normal(high))) / 9000
    drift = np.clip(drift - np.linspace(drift[0], drift[-1], high), -10, 10)
    half = 5.0 + 5.5 * y + 10.0 * (np.maximum(y - 0.935, 0.0) / 0.065) ** 2.2
    around = (x - wide / 2 - drift.astype(np.float32)[:, None]) / half
    cover = np.clip((1.0 - np.abs(around)) * half, 0.0, 1.0)
    # It stands in the soil, between roots that spread to the sides.
    roots = line(rng, x[0], 9.0, octaves=2)[None]
    soil = 0.984 + 0.009 * (1.0 - around**2) + 0.0022 * roots
    cover *= np.clip((soil - y) * 160, 0.0, 1.0)
    shade = np.clip(0.62 - 0.52 * around, 0.16, 1.2) * np.sqrt(np.clip(1.08 - around**2, 0.05, 1.0))
    bark = tile(rng, cells=16, octaves=5, gain=0.75, side=256)
    furrows = cv2.resize(bark[:105], (wide, high), interpolation=cv2.INTER_CUBIC)
    if birch:
        marks = cv2.resize(bark.T[:, :96], (wide, high), interpolation=cv2.INTER_LINEAR)
        shade *= 1.0 + 0.08 * furrows - 0.75 * smooth_step(0.95, 1.3, marks)
        return _sprite(cover, shade * cover)
    return _sprite(cover, shade * cover * np.clip(1.0 + 0.30 * furrows, 0.35, 1.7))


def _stone(rng: np.random.Generator) -> Sprite:
    """Return a boulder: flat faces lit from the left and above, with its shadow."""
    high, wide = 160, round(160 * rng.uniform(2.0, 2.5))
    y, x = np.indices((high, wide), np.float32)
    right, up = (x / high - 0.5 * wide / high) * 2, 1.0 - y / high
    bumpy = cv2.resize(tile(rng, cells=8, octaves=5, gain=0.6, side=128), (wide, high))
    inside, shade = np.full((high, wide), 1.0, np.float32), np.full((high, wide), 0.62, np.float32)
    for angle in np.linspace(-0.1, np.pi + 0.1, 8) + rng.uniform(-0.22, 0.22, 8):
        way = (float(np.cos(angle)), float(np.sin(angle)))
        reach = rng.uniform(0.66, 0.90) * (1.0 - 0.34 * abs(way[1]))
        room = reach - (right * way[0] + (up - 0.06) * way[1])
        # A face is the region nearest to its own side.
        shade = np.where(room < inside, 0.55 - 0.45 * way[0] + 0.50 * max(way[1], -0.1), shade)
        inside = np.minimum(inside, room)
    cover = smooth_step(0.0, 0.02, inside + 0.02 * bumpy) * smooth_step(0.02, 0.10, up)
    bright = shade * (1.0 + 0.20 * bumpy) * (0.55 + 0.45 * smooth_step(0.0, 0.5, up))
    fallen = 1.0 - np.hypot((right - 0.32) / 0.95, (up - 0.08) / 0.13)
    shadow = 0.75 * smooth_step(0.0, 0.6, fallen) * (1.0 - cover)
    return _sprite(cover + shadow, bright * cover + 0.22 * shadow)


def _cactus(rng: np.random.Generator) -> Sprite:
    """Return a saguaro: a ribbed column with one to three arms that bend upward."""
    pad = PlantDrawing(320, 0.72)
    high, middle = pad.high, 0.5 * pad.wide
    thick = high * rng.uniform(0.085, 0.105)
    limbs = [([(middle, high * 1.02), (middle, 0.02 * high + thick / 2)], thick)]
    for side in rng.permutation([-1.0, 1.0, rng.choice([-1.0, 1.0])])[: int(rng.integers(1, 4))]:
        foot = high * rng.uniform(0.48, 0.68)
        out = middle + side * high * rng.uniform(0.15, 0.20)
        elbow = [(middle, foot), (out - side * 0.35 * thick, foot), (out, foot - 0.4 * thick)]
        top = (out, foot - high * rng.uniform(0.20, 0.38))
        limbs.append(([*elbow, top], thick * rng.uniform(0.62, 0.78)))
    for way, broad in limbs:
        for number in range(9):  # strokes ever thinner and closer to the lit side
            share = number / 8
            tone = _UNIT_TONE * (0.30 + 0.95 * share - 0.16 * (number % 2))
            points = np.array(way) - (0.30 * broad * share, 0.0)
            pad.stroke(points, tone, max(1, round(broad * (1.0 - 0.86 * share))))
    return pad.sprite()


def _palm(rng: np.random.Generator) -> Sprite:
    """Return a trunk that leans to the right and turns up, and a crown of fronds."""
    pad = PlantDrawing(640, 1.36)
    high = pad.high
    lean = rng.uniform(0.03, 0.28) * high
    along = np.linspace(0.0, 1.0, 80)
    x = 0.5 * pad.wide - 0.25 * lean + lean * (1.35 * along - 0.35 * along**3)
    x = x + 0.012 * high * np.sin(along * np.pi * 2.0 + rng.uniform(0, 6))
    way = np.stack([x, high * (1.01 - (0.66 + 0.04 * rng.random()) * along)], axis=1)
    thick = high * (0.0135 - 0.0050 * along + 0.014 * np.exp(-along * 16.0))
    for part, tone in ((1.0, 62.0), (0.62, 104.0), (0.30, 140.0)):
        side = np.stack([-0.75 * (1.0 - part) * thick, 0 * thick], 1)
        band = np.stack([part * thick, 0 * thick], 1)
        outline = np.concatenate([way + side - band, (way + side + band)[::-1]])
        pad.fill(outline, tone, bark=True)
    count = int(rng.integers(14, 18))
    # From straight up to below horizontal, on both sides; rear ones come first and are darker.
    turns = np.linspace(-0.30, np.pi + 0.30, count) + rng.uniform(-0.12, 0.12, count)
    for step, turn in enumerate(rng.permutation(turns)):
        long = high * rng.uniform(0.26, 0.38) * (0.86 + 0.14 * abs(np.cos(turn)))
        _frond(rng, pad, way[-1], float(turn), long, step / count)
    return pad.sprite()


def _frond(
    rng: np.random.Generator,
    pad: PlantDrawing,
    root: Plane,
    turn: float,
    long: float,
    front: float,
    hang: float = 1.0,
) -> None:
    """Draw a rib bent by its weight, with leaflets hanging from both sides."""
    share = np.linspace(0.0, 1.0, 40)
    way = np.array([np.cos(turn), -np.sin(turn)])
    rib = root + long * share[:, None] * way
    rib[:, 1] += long * rng.uniform(0.40, 0.66) * (0.62 + 0.38 * abs(way[0])) * share**2.2
    # An upright frond leans to either side at its tip.
    aside = np.clip(way[0] * 1.6 + 0.5 * rng.standard_normal(), -1.0, 1.0)
    rib[:, 0] += long * 0.24 * (aside - 0.5 * way[0]) * share**1.8
    tangent = np.gradient(rib, axis=0)
    tangent /= np.hypot(tangent[:, 0], tangent[:, 1])[:, None]
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    base = 60 + 60 * front + 30 * max(-way[1], -0.4)
    for side in (-1.0, 1.0):
        out = tangent * 0.80 + normal * side * rng.uniform(0.45, 0.75, (40, 1))
        reach = 0.27 * np.sin(np.pi * np.minimum(1.0, 0.08 + 0.95 * share)) ** 0.7
        reach = (long * reach * rng.uniform(0.75, 1.15, 40))[:, None]
        middle = rib + 0.55 * reach * out + (0.0, 0.07) * reach
        tip = rib + reach * out + (0.0, 0.34 * hang) * reach
        thick = 0.022 * reach * np.stack([out[:, 1], -out[:, 0]], axis=1) + (0.35, 0.0)
        blades = np.stack([rib - thick, middle - thick, tip, middle + thick, rib + thick], axis=1)
        tones = base * np.where(side * normal[:, 1] < 0, 1.15, 0.76) + 12 * rng.standard_normal(40)
        for blade, tone in zip(blades[2:], np.clip(tones[2:], 22, 235), strict=True):
            pad.fill(blade, tone)
    pad.stroke(rib, base * 1.3, 2)


_KINDS: dict[str, tuple[Callable[[np.random.Generator], Sprite], int]] = {
    "spruce": (_spruce, 5),
    "broadleaf": (_broadleaf, 4),
    "tuft": (_tuft, 4),
    "fern": (_fern, 3),
    "trunk": (partial(_trunk, birch=False), 4),
    "birch": (partial(_trunk, birch=True), 4),
    "bough": (partial(_spray, needles=True), 4),
    "leaves": (partial(_spray, needles=False), 4),
    "stone": (_stone, 5),
    "cactus": (_cactus, 4),
    "palm": (_palm, 5),
}


@cache
def sprites(kind: str) -> tuple[Sprite, ...]:
    """Return the sprites of a kind, a key of the table above, or of undergrowth."""
    if kind == "undergrowth":
        return sprites("fern") + sprites("tuft")[:2]
    draw, count = _KINDS[kind]
    number = list(_KINDS).index(kind)
    return tuple(draw(np.random.default_rng([number, one])) for one in range(count))
