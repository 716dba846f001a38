"""Objects in a street: lamps, trees, cars and walkers, drawn in meters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Oklch
from kit.engines.painting.city.street import ROAD, Street, lamps_of
from kit.engines.painting.land.plants import sprites
from kit.engines.painting.noise import Plane
from kit.engines.painting.painting import Canvas
from kit.engines.painting.tone import light

Outline: TypeAlias = NDArray[np.float64]
Points: TypeAlias = Outline | Sequence[tuple[float, float]]
Draw: TypeAlias = Callable[[np.random.Generator, "ThingDrawing"], None]

_MAX_PIXELS = 760  # maximum pixels of a drawing's longer side
_MIN_HEIGHT = 5.0  # minimum height in pixels
_CORNERS = ((-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0))
#: Kind -> width and height of its drawing in meters.
_SIZES = {"lamp": (4.4, 7.6), "tree": (5.6, 7.4), "car": (2.5, 1.75), "walker": (1.7, 2.35)}
#: Season -> color of the leaves, if any.
_LEAVES: dict[str, Oklch] = {
    "spring": (0.74, 0.09, 355), "summer": (0.54, 0.12, 135), "autumn": (0.66, 0.145, 60),
}  # fmt: skip
_BARK: Oklch = (0.36, 0.025, 52)
#: Colors of cars.
_CAR_COLORS: tuple[Oklch, ...] = (
    (0.80, 0.15, 88), (0.30, 0.01, 260), (0.88, 0.005, 90), (0.62, 0.01, 250), (0.45, 0.15, 27),
    (0.38, 0.09, 258), (0.28, 0.03, 160), (0.50, 0.02, 60),
)  # fmt: skip
#: Right halves of a car's outlines (body, top and panes), and parts of a walker, in meters.
_BODY = [(0.80, 0.22), (0.93, 0.34), (0.94, 0.72), (0.84, 0.98), (0.5, 1.03)]
_HAIR = [(-0.09, 1.6), (-0.085, 1.7), (0.0, 1.76), (0.085, 1.7), (0.09, 1.6), (0.05, 1.68)]


class ThingDrawing:
    """A drawing in meters, x from the middle, y up from the ground; drawn enlarged."""

    def __init__(self, wide: float, tall: float, pixels: float) -> None:
        self._wide, self.pixels = wide, pixels
        self._scale = max(1.0, min(2.0, _MAX_PIXELS / (max(wide, tall) * pixels))) * pixels
        size = int(np.ceil(tall * self._scale)) + 1, int(np.ceil(wide * self._scale)) + 1
        # Albedo and coverage; emitted light.
        self.body, self.shine = np.zeros((*size, 4), np.float32), np.zeros((*size, 3), np.float32)

    def fill(
        self, points: Points, color: Plane, *, cover: float = 1.0, shine: Plane | None = None
    ) -> None:
        """Fill a polygon, which may emit light."""
        cv2.fillPoly(self.body, [self._to_pixels(points)], [*color.ravel().tolist(), cover])
        if shine is not None:
            cv2.fillPoly(self.shine, [self._to_pixels(points)], shine.ravel().tolist())

    def trace(self, points: Points, wide: float, color: Plane) -> None:
        """Draw a line `wide` meters thick."""
        thick, ink = max(1, round(wide * self._scale)), [*color.ravel().tolist(), 1.0]
        cv2.polylines(self.body, [self._to_pixels(points)], False, ink, thick)

    def _to_pixels(self, points: Points) -> NDArray[np.int32]:
        placed = np.asarray(points, np.float64) * (self._scale, -self._scale)
        placed += (self._wide / 2 * self._scale, len(self.body) - 1)
        return np.round(placed).astype(np.int32)


@dataclass(frozen=True, slots=True)
class StreetThing:
    """An object in the street, `x` meters right of the middle and `z` ahead."""

    kind: str
    x: float
    z: float
    draw: Draw

    def add(self, rng: np.random.Generator, street: Street) -> None:
        """Add it to the street, if it is in the frame, large enough and not too near."""
        (wide, tall), pixels = _SIZES[self.kind], street.focal / self.z
        inside = abs(street.column(self.x, self.z) - 0.5 * street.brief.width)
        near = inside < wide * pixels + 0.5 * street.brief.width
        if self.z > 2.5 and tall * pixels > _MIN_HEIGHT and near:
            sheet = ThingDrawing(wide, tall, pixels)
            self.draw(rng, sheet)
            _add_drawing(
                street, self.x, self.z, sheet, (round(wide * pixels), round(tall * pixels))
            )


def things_of(rng: np.random.Generator, street: Street) -> list[StreetThing]:
    """Return the objects in a street, farthest first."""
    brief, said, words = street.brief, street.brief.composition, street.brief.things
    on, planted = street.hour.neon > 0.2, words.isdisjoint(("neon", "alley"))
    things = [
        StreetThing("lamp", x, z, partial(_lamp, side=np.sign(x), on=on))
        for x, z in lamps_of(brief)
    ]
    bare = brief.season == "winter" or brief.weather == "snow"
    draw = partial(_tree, leaves=_LEAVES.get(brief.season, _BARK))
    leafy = rng.random() < 0.75 or brief.hour == "day"
    for z in np.arange(13.5, 75.0, 10.5) if planted and not bare and leafy else ():
        away = z + rng.uniform(-1.2, 1.2)
        things += [
            StreetThing("tree", side * (ROAD + 1.3), away, draw)
            for side in (-1, 1)
            if rng.random() < 0.72 or "centered" in said
        ]
    side = float(rng.choice([-1, 1]))
    passing = [*_cars_of(rng, street), *_walkers_of(rng, street, side)]
    main = passing[-1:]
    if "ahead" in street.shot:  # the main figure, placed by words of composition
        x, z = side * street.shot["aside"], street.shot["ahead"]
        main = [replace(it, x=x, z=z) for it in main]
    things = [] if "minimal" in said else [*things, *passing[:-1]]
    near = 11.0 if "close" in said else 0.0
    return sorted([*(it for it in things if it.z > near), *main], key=lambda it: -it.z)


def _cars_of(rng: np.random.Generator, street: Street) -> Iterator[StreetThing]:
    words, busy = street.brief.things, 0.25 if street.brief.mood == "calm" else 1.0
    power = min(1.0, max(street.hour.neon, 0.05))
    for side in (-1.0, 1.0) if "no_cars" not in words else ():
        z = rng.uniform(15.0, 30.0)
        while z < 110.0:
            draw = partial(_car, coming=side < 0, power=power)
            yield StreetThing("car", side * rng.uniform(2.3, 2.9), z, draw)
            z += rng.uniform(8.0, 34.0) / (busy * (1.7 if "traffic" in words else 1.0))


def _walkers_of(rng: np.random.Generator, street: Street, side: float) -> Iterator[StreetThing]:
    """Yield walkers on the sidewalks, and last one who crosses the street, if any."""
    brief, words = street.brief, street.brief.things
    wet = brief.weather in ("rain", "snow") or "umbrellas" in words
    count = (22 if "crowd" in words else 11) // (2 if brief.mood == "calm" else 1)
    aside = rng.choice([-1.0, 1.0], count) * (ROAD + rng.uniform(0.6, 2.2, count))
    places = [*zip(aside, rng.uniform(8.0, 60.0, count), strict=True)]
    if rng.random() < 0.5 or wet or "minimal" in brief.composition:
        places.append((side * rng.uniform(0.7, 1.9), 6.4))
    for x, z in places if "no_people" not in words else ():
        draw = partial(_walker, covered=wet and rng.random() < 0.85, coming=z > 8 and z % 2 < 1)
        yield StreetThing("walker", float(x), float(z), draw)


def _lamp(_: np.random.Generator, sheet: ThingDrawing, *, side: float, on: bool) -> None:
    iron, reach = light((0.28, 0.015, 250)), -side * 1.7
    arm = [(0.0, 0.0), (0.0, 6.6), (0.12 * reach, 7.05), (0.5 * reach, 7.3), (reach, 7.35)]
    sheet.trace([(0.0, 0.0), (0.0, 0.9)], 0.20, iron)
    sheet.trace(arm, 0.10, iron)
    sheet.fill(_box(0.90 * reach, 7.26, 0.60, 0.16), iron)
    shine = light((0.93, 0.08, 78), 7.0) if on else None
    sheet.fill(_box(0.91 * reach, 7.16, 0.58, 0.11), iron, shine=shine)


def _tree(rng: np.random.Generator, sheet: ThingDrawing, *, leaves: Oklch) -> None:
    shapes, (rows, columns, _) = sprites("broadleaf"), sheet.body.shape
    shape, tall = shapes[int(rng.integers(len(shapes)))], rng.uniform(0.75, 0.9) * rows
    corner = -columns / 2 - shape.box[0] * tall, 1 - rows - shape.box[1] * tall
    cover, foliage, bark = cv2.split(shape.cut(tall, *corner, (columns, rows), flip=False))
    parts = foliage[..., None] * light(leaves).ravel(), bark[..., None] * light(_BARK).ravel()
    sheet.body[...] = np.dstack([parts[0] + parts[1], cover])


def _car(rng: np.random.Generator, sheet: ThingDrawing, *, coming: bool, power: float) -> None:
    paint, boxy = light(_CAR_COLORS[int(rng.integers(len(_CAR_COLORS)))]), rng.uniform(0.0, 1.0)
    roof, top = 1.36 + 0.16 * boxy, 0.60 + 0.10 * boxy
    above = [(0.84, 0.93), (0.74, 1.18), (top, roof - 0.04), (0.35, roof)]
    panes = [(0.74, 0.99), (0.66, 1.18), (top - 0.07, roof - 0.10), (0.3, roof - 0.07)]
    sheet.fill(_ellipse(0.0, 0.03, 1.05, 0.05), light((0.05, 0.0, 0)), cover=0.8)
    for side in (-1.0, 1.0):
        sheet.fill(_box(side * 0.73, 0.0, 0.26, 0.40), light((0.12, 0.0, 0)))
    glass = light((0.26, 0.02, 240))
    parts = (_BODY, paint), (above, 0.9 * paint), (panes, glass)
    for half, color in parts:
        sheet.fill(_curve(_mirror_outline(half), 4), color)
    for side in (-1.0, 1.0):
        if coming:
            lamp, shine = _ellipse(side * 0.70, 0.64, 0.13, 0.085), light((0.97, 0.03, 95))
            sheet.fill(lamp, shine, shine=shine * (2.0 + 7.0 * power))
        else:
            lamp, shine = _box(side * 0.76, 0.63, 0.28, 0.16), light((0.60, 0.24, 27))
            sheet.fill(lamp, 0.4 * shine, shine=shine * (1.2 + 5.0 * power))


def _walker(rng: np.random.Generator, sheet: ThingDrawing, *, covered: bool, coming: bool) -> None:
    coat, skin = _cloth_color(rng, 0.07), light((0.66, 0.06, 55))
    hair, grow = light((0.22, 0.03, 50), rng.uniform(0.6, 2.2)), rng.uniform(0.93, 1.05)
    stride = rng.uniform(0.5, 1.0) * float(rng.choice([-1.0, 1.0]))
    long, flare = rng.uniform(0.52, 0.82), rng.uniform(0.20, 0.27)

    def fill(points: Points, color: Plane, side: float = 1.0) -> None:
        sheet.fill(_curve(np.array(points) * (side * grow, grow)), color)

    sheet.fill(_ellipse(0.0, 0.035, 0.34, 0.03), light((0.05, 0.0, 0)), cover=0.5)
    for side, ahead in ((-1.0, stride), (1.0, -stride)):
        lift, foot = 0.09 * max(0.0, -ahead), 0.095 + 0.02 * ahead * side
        trousers = light((0.20, 0.02, 260), 1.0 if ahead > 0 else 0.7)
        fill([
            (0.17, 0.86), (0.01, 0.86), (foot - 0.075, 0.34 + lift), (foot - 0.06, 0.03 + lift),
            (foot + 0.06, 0.02 + lift), (foot + 0.06, 0.34 + lift),
        ], trousers, side)  # fmt: skip
    half = [(flare, long + 0.03), (0.185, 0.98), (0.20, 1.10), (0.225, 1.33), (0.18, 1.44)]
    fill(_mirror_outline([*half, (0.07, 1.50)]), coat)
    for side, low, tone in ((-1.0, 1.16 if covered else 0.80, 0.85), (1.0, 0.80, 0.62)):
        fill([
            (0.17, 1.43), (0.235, 1.30), (0.285, 1.08), (0.24, low - 0.03), (0.17, low + 0.02),
            (0.20, 1.08), (0.15, 1.28),
        ], tone * coat, side)  # fmt: skip
    fill(_box(0.0, 1.46, 0.09, 0.10), 0.7 * skin)
    fill(_ellipse(0.0, 1.63, 0.082, 0.112), skin if coming else hair)
    fill(_HAIR, hair)
    if covered:  # five slices of a dome between ribs, with arcs as lower edges
        cloth, tilt = _cloth_color(rng, 0.18), rng.uniform(-0.1, 0.1)
        sheet.trace(np.array([(-0.20, 1.12), (-0.10, 1.5), (-0.05, 2.16)]) * grow, 0.018, coat)
        down, over = np.linspace(0.0, np.pi / 2, 9), np.linspace(0.0, 1.0, 7)[1:-1]
        for number, rib in enumerate(np.linspace(-1.0, 0.6, 5)):
            right, left = (rib + 0.4) * np.sin(down), rib * np.sin(down[::-1])
            x = 0.66 * np.concatenate([right, rib + 0.4 * (1.0 - over), left])
            arc = [0.42 * np.cos(down), 0.22 * over * (1.0 - over), 0.42 * np.cos(down[::-1])]
            panel = np.stack([x - 0.05, 1.74 + np.concatenate(arc) + tilt * x], axis=1)
            sheet.fill(panel * grow, cloth * (1.0 - 0.13 * abs(number - 1)))


def _cloth_color(rng: np.random.Generator, most: float) -> Plane:
    return light((rng.uniform(0.22, 0.55), most * rng.random() ** 2, rng.uniform(0, 360)))


def _box(x: float, low: float, wide: float, tall: float) -> Outline:
    return np.array([(x + aside * wide, low + up * tall) for aside, up in _CORNERS])


def _ellipse(x: float, y: float, wide: float, tall: float, corners: int = 36) -> Outline:
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    return np.stack([x + wide * np.cos(turn), y + tall * np.sin(turn)], axis=1)


def _mirror_outline(half: Points) -> Outline:
    right = np.asarray(half, np.float64)
    return np.concatenate([right, right[::-1] * (-1.0, 1.0)])


def _curve(points: Points, steps: int = 8) -> Outline:
    a, b, c, d = (np.roll(points, -k, axis=0)[:, None] for k in (-1, 0, 1, 2))
    t = np.linspace(0.0, 1.0, steps, endpoint=False)[None, :, None]
    smooth = 2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
    return np.asarray(0.5 * (smooth + (3 * b - a - 3 * c + d) * t**3)).reshape(-1, 2)


def _add_drawing(
    street: Street, x: float, z: float, sheet: ThingDrawing, size: tuple[int, int]
) -> None:
    hour, (wide, tall) = street.hour, size
    body = cv2.resize(sheet.body, size, interpolation=cv2.INTER_AREA)
    glow = cv2.resize(sheet.shine, size, interpolation=cv2.INTER_AREA) * hour.neon
    used = np.flatnonzero(body[..., 3].any(axis=0))
    body, glow = (it[:, used[0] : used[-1] + 1] for it in (body, glow))
    left, foot = round(street.column(x, z) - wide / 2) + int(used[0]), round(street.row(0.0, z))
    cover = np.ascontiguousarray(body[..., 3])
    lit = 0.75 * hour.ambient + hour.sun * (0.08 if hour.sun_ahead else 0.45)
    lit = lit + hour.glow * (0.10 * hour.neon)
    solid = np.clip(2.0 * cover - 1.0, 0.0, 1.0)  # a shadow on the ground has no rim
    rim = solid * (1.0 - cv2.GaussianBlur(solid, (0, 0), max(0.7, 0.012 * tall)))
    dark = hour.sun_power == 0.0 and hour.sky_power < 0.4  # on a gray day signs give no rim light
    back = hour.glow * (0.9 * min(1.0, hour.neon) * dark) + hour.sun * (0.16 * hour.sun_ahead)
    # Premultiplied: the reduced color already contains only the covered share of each pixel.
    body[..., :3] = body[..., :3] * lit.ravel() + rim[..., None] * back.ravel()
    if hour.wetness or hour.neon > 0.3:
        share = float(np.exp(-z * hour.density)) * (0.12 + 0.5 * hour.wetness)
        _mirror(street.canvas, left, foot, body, glow, share)
    color = np.moveaxis(body[..., :3] + glow, 2, 0) / np.maximum(cover, 1e-3)
    street.blend_sheet((left, foot - tall), color, cover, z, np.minimum(glow[..., 0], 1.0))


def _mirror(canvas: Canvas, left: int, foot: int, body: Plane, glow: Plane, share: float) -> None:
    tall, wide = body.shape[:2]
    deep = min(2 * tall, len(canvas.depth) - foot)
    if deep <= 0:
        return
    rows = np.arange(deep, dtype=np.float32)[:, None, None] / tall
    at, part = canvas.clip(left, foot, deep, wide)

    def stretch(sheet: Plane, reach: int) -> Plane:
        below = np.zeros((deep, *sheet.shape[1:]), np.float32)
        below[:tall] = sheet[::-1][:deep]
        return np.asarray(cv2.blur(below, (3, 2 * max(1, reach) + 1)))

    color = stretch(body, tall // 9) * (np.exp(-rows / 0.6) * share * (rows < 1.0))
    # Ripples break reflections into short bars, wider apart when nearer.
    broken = 0.62 + 0.38 * np.sin(34.0 * np.sqrt(rows + 0.02) + 3.0 * np.sin(9.0 * rows))
    color[..., :3] += stretch(glow, tall // 2) * (2.4 * share * broken * np.exp(-1.6 * rows))
    below, color = np.moveaxis(canvas.light[:, *at], 0, 2), color[part]
    below *= 1.0 - color[..., 3:]
    below += color[..., :3]
