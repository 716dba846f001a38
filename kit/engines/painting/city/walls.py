"""Facades and roofs: windows, floors and shops, smoothed by how small they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.canvas import Canvas
from kit.engines.painting.city.light import Hour, Sunlight
from kit.engines.painting.city.signs import add_signs, lettered_names
from kit.engines.painting.city.street import Building, View
from kit.engines.painting.noise import Plane, sample, tile
from kit.engines.painting.tone import blend, light

_SHOP, _SHOP_WIDE = 4.3, 5.2  # height of the ground floor, and width of a shop
_TABLE = 64
_DEEP = 30.0  # meters of a front that can be seen beside the street
_PLOT = 17.0  # meters between the yards of houses that stand behind one another
#: Style -> shares of a bay and of a floor that are window, size of a brick or panel and share of a
#: joint, colors of the walls in daylight.
_STYLES: dict[str, tuple[float, float, tuple[float, float, float], tuple[Oklch, ...]]] = {
    "grid": (0.60, 0.58, (1.2, 2.4, 0.04),
             ((0.72, 0.035, 80), (0.62, 0.02, 60), (0.80, 0.025, 85), (0.55, 0.03, 250))),
    "brick": (0.44, 0.60, (0.3, 0.9, 0.14),
              ((0.50, 0.085, 38), (0.44, 0.07, 30), (0.60, 0.06, 55), (0.40, 0.04, 35))),
    "glass": (0.93, 0.86, (1.2, 2.4, 0.04),
              ((0.45, 0.03, 235), (0.40, 0.04, 215), (0.35, 0.02, 260), (0.50, 0.03, 200))),
    "bands": (1.0, 0.5, (1.2, 2.4, 0.04),
              ((0.82, 0.012, 90), (0.66, 0.012, 250), (0.74, 0.03, 75), (0.58, 0.015, 60))),
}  # fmt: skip
_LAMPS: tuple[Oklch, ...] = (
    (0.86, 0.10, 74),
    (0.90, 0.06, 90),
    (0.88, 0.04, 225),
    (0.80, 0.12, 60),
)


@dataclass(frozen=True, slots=True)
class _Face:
    """A part of a wall: meters along it and above the road, meters of a pixel, distance, sunlight.

    Where it is `backward`, meters along it run against the direction of writing.
    """

    along: Plane
    up: Plane
    step_along: Plane
    step_up: Plane
    z: Plane
    sunlit: Plane | float
    backward: bool


class Walls:
    """Paints buildings in the light of one hour."""

    def __init__(
        self, rng: np.random.Generator, canvas: Canvas, view: View, hour: Hour, air: Plane
    ) -> None:
        self._canvas, self._view, self._hour, self._air = canvas, view, hour, air
        self._dice = rng.random((_TABLE, _TABLE, 3)).astype(np.float32)
        self._grime = tile(rng, cells=8, octaves=6, gain=0.6)
        self._rooms = tile(rng, cells=32, octaves=3, gain=0.6)
        self._lamps = np.stack([light(it)[:, 0, 0] for it in _LAMPS], axis=1)
        self._signs = np.stack([light(it)[:, 0, 0] for it in hour.signs], axis=1)
        _, middle, top = (light(color) for color in hour.colors[:3])
        self._mirrored = middle, top - middle
        self._street = 0.5 * light(hour.signs[0]) + 0.5 * hour.glow

    def paint(
        self, rng: np.random.Generator, buildings: list[Building], sun: Sunlight, crowd: float,
        progress: Progress,
    ) -> None:  # fmt: skip
        """Paint buildings, the farthest first, with their signs; `crowd` is how many hang."""
        nearer: dict[Building, Building] = {}
        for side in (-1, 1):
            nearer.update(pairwise(it for it in buildings if it.side == side))
        for it in progress.over(buildings):
            self._front(it, nearer.get(it), sun)
            self._roof(it)
            self._side(it, sun)
            add_signs(rng, self._canvas, self._view, it, self._hour, self._air, crowd)

    def _side(self, it: Building, sun: Sunlight) -> None:
        view = self._view
        ends = [view.column(it.side * it.wall, z) for z in (it.near, it.far)]
        at = view.window((ends[0], ends[1]), view.row(it.tall, it.near), view.row(0.0, it.near))
        rows, columns = at
        if rows.start >= rows.stop or columns.start >= columns.stop:
            return
        z = np.float32(it.wall) / np.maximum(np.abs(view.right[:, columns]), np.float32(1e-4))
        up, step = view.eye + view.up[rows] * z, z / np.float32(view.focal)
        sunlit = sun.on_wall(it, z, up)
        self._lay(
            at, it, _Face(z, up, z * step / np.float32(it.wall), step, z, sunlit, it.side > 0)
        )

    def _front(self, it: Building, nearer: Building | None, sun: Sunlight) -> None:
        """Paint the wall that looks up the street, where the nearer building leaves it open."""
        view, z = self._view, np.full((1, 1), it.near, np.float32)
        inner, outer = (view.column(it.side * x, it.near) for x in (it.wall, it.wall + _DEEP))
        ground, roof = view.row(0.0, it.near), view.row(it.tall, it.near)
        parts = [((inner, outer), ground)]
        if nearer:  # a strip beside it down to the ground, and what rises above its roof
            edge = view.column(nearer.side * nearer.wall, nearer.far) + 2.0 * it.side
            low = min(view.row(nearer.tall, nearer.far) + 2.0, ground)
            open_ = it.side * (edge - inner) > 0
            parts = (
                [((edge, outer), low), ((inner, edge), ground)]
                if open_
                else [((inner, outer), low)]
            )
        for ends, low in parts:
            rows, columns = at = view.window(ends, roof, low)
            if rows.start < rows.stop and columns.start < columns.stop:
                along, up = np.abs(view.right[:, columns]) * z, view.eye + view.up[rows] * z
                step = z / np.float32(view.focal)
                face = _Face(along, up, step, step, z, sun.on_front(it), it.side < 0)
                self._lay(at, it, face)

    def _lay(self, at: tuple[slice, slice], it: Building, face: _Face) -> None:
        color, shining = self._upper(face, it)
        if float(face.up.min()) <= _SHOP:
            below = _edge(_SHOP - face.up, face.step_up)
            shop, lit = self._shop(face, it)
            color, shining = blend(color, shop, below), blend(shining, lit, below)
        inside = np.minimum(it.tall - face.up, face.up) / face.step_up
        self._veil(at, color, np.clip(inside + 0.5, 0.0, 1.0), face.z, shining)

    def _veil(
        self, at: tuple[slice, slice], color: Plane, cover: Plane, z: Plane, shining: Plane | float
    ) -> None:
        fade = 1.0 - np.exp(-z * np.float32(self._hour.thick))
        color += (self._air[:, *at] - color) * fade
        self._canvas.lay(at, color, cover, np.broadcast_to(z, cover.shape), shining * (1.0 - fade))

    def _upper(self, face: _Face, it: Building) -> tuple[Plane, Plane]:
        """Return the light of the upper floors, and the share of it that windows shine."""
        hour = self._hour
        wide, high, (tall, long, joint), colors = _STYLES[it.style]
        bay, floor = face.along / it.bay, (face.up - _SHOP) / it.floor
        step_bay, step_floor = face.step_along / it.bay, face.step_up / it.floor
        stone = light(colors[int(it.tone * len(colors)) % len(colors)])
        relief = 1.0 - 0.28 * _pulse(floor, -0.03, 0.10, step_floor)
        relief += 0.22 * smooth_step(1.6, 0.9, it.tall - face.up)
        stains = sample(
            self._grime, *np.broadcast_arrays(face.along * 14.0 + 37.0 * it.number, face.up * 9.0)
        )
        near = np.clip(0.30 / np.maximum(face.step_up, 0.02), 0.0, 1.0)
        level = face.up / tall
        joints = np.maximum(
            _pulse(level, 0.0, joint, face.step_up / tall),
            _pulse(
                face.along / long + 0.5 * np.mod(np.floor(level), 2.0),
                0.0,
                0.03,
                face.step_along / long,
            ),
        )
        relief = relief * (1.0 + 0.07 * stains) * (1.0 - 0.22 * near * joints)
        lit = hour.sun * face.sunlit + hour.ambient * np.clip(0.42 + face.up / 26.0, 0.0, 1.0)
        # Signs and lamps of the street light the lowest floors by night.
        tint = self._signs[:, it.number % self._signs.shape[1], None, None]
        lit = lit + (0.6 * self._street + 0.4 * tint) * (
            np.exp(-face.up / 7.5) * (0.42 * hour.neon)
        )
        wall = stone * relief * lit
        column, number = np.floor(bay), np.floor(floor)
        chance, power, kind = self._drawn(column + it.number, number + it.number // 64)
        # Windows that are too small to be seen one by one shine evenly.
        far = smooth_step(0.35, 1.1, np.maximum(step_bay, step_floor))
        share = hour.lit * (0.5 + it.tone)
        on = (chance < share) * (0.22 + 1.25 * power**2)
        on = on + (share * 0.55 - on) * far
        curtain = smooth_step(0.10, 0.16, np.abs(bay - column - 0.5) - 0.25 * it.tone)
        rooms = on * (0.32 + 0.95 * (floor - number)) * (1.0 - 0.55 * curtain * (kind > 0.35))
        rooms *= 1.0 - 0.5 * (kind > 0.8)
        middle, rise = self._mirrored
        tilt = 0.35 + 0.65 * power + (0.65 - power) * 0.65 * far
        pane = (middle + rise * np.clip(face.up / 40.0, 0.0, 1.0)) * (
            tilt * (0.42 if it.style == "glass" else 0.24)
        )
        pane += hour.sun * (face.sunlit * 0.10) + self._lamps[:, (kind * 3.99).astype(int)] * (
            rooms * 1.25
        )
        pane *= 1.0 - 0.75 * np.maximum(
            _pulse(bay, 0.485, 0.03, step_bay), _pulse(floor, 0.62, 0.025, step_floor)
        )
        glass = _pulse(bay, 0.5 - wide / 2, wide, step_bay) * _pulse(floor, 0.24, high, step_floor)
        return blend(wall, pane, glass), glass * np.minimum(on, 1.0)

    def _shop(self, face: _Face, it: Building) -> tuple[Plane, Plane]:
        """Return the ground floor: show windows, a lit board with the name, the door's frame."""
        hour, neon = self._hour, self._hour.neon
        bay, step = face.along / _SHOP_WIDE, face.step_along / _SHOP_WIDE
        number = np.floor(bay)
        chance, power, kind = self._drawn(number + 7 * it.number, 0 * number + it.number)
        pane = _pulse(bay, 0.07, 0.86, step) * _pulse(bay * 3.0, 0.03, 0.94, step * 3.0)
        pane = pane * _edge(np.minimum(face.up - 0.55, 2.95 - face.up), face.step_up)
        band = _pulse(bay, 0.05, 0.90, step) * _edge(
            np.minimum(face.up - 3.25, 3.95 - face.up), face.step_up
        )
        tint = self._signs[:, (kind * (self._signs.shape[1] - 0.01)).astype(int)]
        lamp = self._lamps[:, (power * 3.99).astype(int)]
        rooms = sample(
            self._rooms, *np.broadcast_arrays(face.along * 17.0 + 53.0 * it.number, face.up * 15.0)
        )
        shelf = np.clip(0.55 + 0.28 * rooms, 0.08, 1.6) + 0.9 * _edge(
            face.up - 2.45, face.step_up
        ) * (rooms > 0.2)
        open_now = np.where(chance < 0.78, 0.45 + 0.9 * chance, np.float32(0.06))
        inside = open_now * shelf * (0.25 + 0.95 * neon) * np.clip(0.35 + face.up / 3.4, 0.0, 1.2)
        shown = (0.88 * lamp + 0.12 * tint) * inside + 0.07 * self._mirrored[0]
        lit = hour.sun * face.sunlit + 0.5 * hour.ambient
        frame = light((0.30, 0.02, 60)) * (lit + self._street * (0.25 * neon))
        board = (0.30 * tint + 0.05) * lit + tint * (neon * 0.10)
        name = tint * (neon * (0.10 + 1.6 * (power < 0.72))) + (0.3 * tint + 0.25) * lit
        letters = self._letters(face, bay - number, number + 7 * it.number)
        shop = blend(blend(frame, shown, pane), blend(board, name, letters), band)
        shining = min(1.0, neon) * np.maximum(pane * np.minimum(open_now, 1.0), band * letters)
        return shop, shining

    def _letters(self, face: _Face, place: Plane, number: Plane) -> Plane:
        """Return the name of each shop, in the middle of its board."""
        names = lettered_names()
        count, tall, wide = names.shape
        place = (place - np.float32(0.16)) / np.float32(0.68)
        place = 1.0 - place if face.backward else place
        line = np.clip((3.86 - face.up) / 0.52, 0.0, 0.999)
        y, x = np.broadcast_arrays(
            (np.mod(number, count) + line) * tall - 0.5, np.clip(place, -0.01, 1.01) * wide - 0.5
        )
        x, y = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(y, np.float32)
        names, border = names.reshape(count * tall, wide), cv2.BORDER_CONSTANT
        found = cv2.remap(names, x, y, cv2.INTER_LINEAR, borderMode=border, borderValue=0)
        coarse = smooth_step(0.05, 0.2, face.step_along)
        return np.asarray(found + (0.3 * (found > 0.0) - found) * coarse)

    def _drawn(self, x: Plane, y: Plane) -> Plane:
        """Return three numbers from 0 to 1 that each cell draws, in planes."""
        column, row = np.mod(x, _TABLE).astype(int), np.mod(y, _TABLE).astype(int)
        return np.moveaxis(self._dice[row, column], -1, 0)

    def _roof(self, it: Building) -> None:
        """Paint the flat roofs of a building and of what stands behind it, seen from above."""
        view, hour = self._view, self._hour
        over = view.eye - it.tall
        if over <= 0.5:
            return
        top = max(view.row(it.tall, it.far) - 1.0, view.y + 2.0)
        at = rows, _ = view.window((0, view.width), top, view.row(it.tall, it.near) + 1.0)
        if rows.start >= rows.stop:
            return
        z = np.float32(over) / -view.up[rows]
        out = it.side * view.right * z
        ends = np.minimum(z - it.near, it.far - z)
        plot = (out - it.wall) / _PLOT
        number = np.floor(plot)
        edge = np.minimum(plot - number, 1.0 - plot + number) * _PLOT
        # Parapets, dark yards, lift houses; by night skylights and what shines in the yards.
        rim = smooth_step(1.1, 0.5, np.minimum(edge, ends))
        yard = smooth_step(0.9, 0.3, edge) * (number > 0)
        cells = [np.floor(out / 3.1 + it.tone * 99.0), np.floor(z / 4.3 + it.tone * 77.0)]
        chance, power, _ = self._drawn(*cells)
        box = smooth_step(0.20, 0.17, np.abs(out / 3.1 + it.tone * 99.0 - cells[0] - 0.5))
        box = box * smooth_step(0.20, 0.17, np.abs(z / 4.3 + it.tone * 77.0 - cells[1] - 0.5))
        lit = (
            hour.ambient + hour.sun * (0.12 if hour.ahead else 0.5) + hour.glow * (1.1 * hour.neon)
        )
        shade = (
            (0.85 + 0.15 * np.sin(number * 12.9 + it.number))
            * (1.0 + 0.35 * rim)
            * (1.0 - 0.8 * yard)
        )
        shade *= 1.0 - 0.34 * box * (power > 0.6)
        awake = min(1.0, hour.neon) * np.maximum(0.3 * yard, 0.55 * box * (chance > 0.86))
        stone = light((0.52 + 0.10 * it.tone, 0.02, 60 + 190 * (it.number % 2)))
        color = stone * lit * shade + light((0.80, 0.11, 70)) * awake
        inside = np.minimum(out - it.wall, ends) * np.float32(view.focal) / z
        self._veil(at, color, np.clip(inside + 0.5, 0.0, 1.0), np.hypot(z, over), awake)


def _pulse(at: Plane, start: float, long: float, step: Plane) -> Plane:
    """Return a pulse that repeats every 1, averaged over `step`, so that it never flickers."""
    half = np.maximum(step, 1e-4) * np.float32(0.5)
    ends = []
    for place in (at - start + half, at - start - half):
        whole = np.floor(place)
        ends.append(whole * np.float32(long) + np.minimum(place - whole, np.float32(long)))
    return np.asarray((ends[0] - ends[1]) / (2.0 * half))


def _edge(inside: Plane, step: Plane) -> Plane:
    """Return the cover of a pixel whose middle lies `inside` meters behind an edge."""
    return np.asarray(np.clip(inside / step + 0.5, 0.0, 1.0))
