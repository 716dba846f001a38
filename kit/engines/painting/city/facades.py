"""Facades: walls with windows, floors and shops, smoothed by how small they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.names import names
from kit.engines.painting.city.view import Block, View
from kit.engines.painting.noise import Plane, field
from kit.engines.painting.tone import blend, light

#: Numbers of bays or floors, one for each pixel.
Cells: TypeAlias = NDArray[np.int32]

SHOP = 4.3  # height of the ground floor
_TABLE = 64
_SHOP_WIDE = 5.2
_SHEET = 512
#: Style -> share of a bay and of a floor that is window.
_OPENINGS = {
    "grid": (0.60, 0.58),
    "brick": (0.44, 0.60),
    "glass": (0.93, 0.86),
    "bands": (1.0, 0.5),
}
#: Style -> colors of its walls in daylight.
_WALLS: dict[str, tuple[Oklch, ...]] = {
    "grid": ((0.72, 0.035, 80), (0.62, 0.02, 60), (0.80, 0.025, 85), (0.55, 0.03, 250)),
    "brick": ((0.50, 0.085, 38), (0.44, 0.07, 30), (0.60, 0.06, 55), (0.40, 0.04, 35)),
    "glass": ((0.45, 0.03, 235), (0.40, 0.04, 215), (0.35, 0.02, 260), (0.50, 0.03, 200)),
    "bands": ((0.82, 0.012, 90), (0.66, 0.012, 250), (0.74, 0.03, 75), (0.58, 0.015, 60)),
}
_LAMPS: tuple[Oklch, ...] = (
    (0.86, 0.10, 74),
    (0.90, 0.06, 90),
    (0.88, 0.04, 225),
    (0.80, 0.12, 60),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One face of a building as the picture sees it.

    Parameters
    ----------
    along, up : ndarray
        Meters along the wall and above the road, of each pixel.
    step_along, step_up : ndarray or float32
        Meters that one pixel spans.
    z : ndarray or float32
        Distance from the camera.
    sunlit : ndarray or float
        Direct sunlight that falls on it, 0 to 1.
    backward : bool
        Meters along the wall run against the direction of writing.
    """

    along: Plane
    up: Plane
    step_along: Plane | np.float32
    step_up: Plane | np.float32
    z: Plane | np.float32
    sunlit: Plane | float
    backward: bool


class Walls:
    """Paints faces of buildings in the light of one hour; holds the random tables behind it."""

    def __init__(self, rng: np.random.Generator, hour: Hour) -> None:
        self._hour = hour
        self._chance, self._power, self._kind = rng.random((3, _TABLE, _TABLE)).astype(np.float32)
        self._sun = light(hour.sun) * np.float32(hour.power)
        self._fill = light(hour.ambient) * np.float32(hour.fill)
        self._mirror = light(hour.sky[1])
        self._top = light(hour.sky[2])
        self._lamps = np.stack([light(lamp).ravel() for lamp in _LAMPS], axis=1)
        self._signs = np.stack([light(sign).ravel() for sign in hour.signs], axis=1)
        self._grime = field(rng, _SHEET, _SHEET, cells=(9, 9), octaves=6, gain=0.6)
        self._rooms = field(rng, _SHEET, _SHEET, cells=(22, 30), octaves=3, gain=0.6)
        self._names = names()
        self._street = light(hour.signs[0]) * 0.5 + light(hour.haze[0]) * 0.5

    def painted(self, face: Face, block: Block) -> Plane:
        """Return the light that comes from a face, shape (3, *pixels)."""
        wide, high = _OPENINGS[block.style]
        bay, up = face.along / block.bay, (face.up - SHOP) / block.floor
        step_bay, step_up = face.step_along / block.bay, face.step_up / block.floor
        glass = _pulse(bay, 0.5 - wide / 2, wide, step_bay) * _pulse(up, 0.24, high, step_up)
        wall = self._wall(face, block, up, step_up)
        window = self._window(face, block, (bay, up), (step_bay, step_up))
        upper = blend(wall, window, glass)
        if float(face.up.min()) > SHOP:
            return upper
        shop = self._shop(face, block)
        return blend(upper, shop, _edge(SHOP - face.up, face.step_up))

    def _wall(self, face: Face, block: Block, up: Plane, step: Plane | np.float32) -> Plane:
        colors = _WALLS[block.style]
        level, chroma, hue = colors[int(block.tone * len(colors)) % len(colors)]
        stone = light((level, chroma, hue))
        ledge = _pulse(up, -0.03, 0.10, step)
        cornice = smooth_step(1.6, 0.9, block.tall - face.up)
        relief = 1.0 - 0.28 * ledge + 0.22 * cornice
        stains = laid(self._grime, face.along * 14.0 + 37.0 * block.number, face.up * 9.0)
        near = np.clip(0.30 / np.maximum(face.step_up, 0.02), 0.0, 1.0)
        relief = relief * (1.0 + 0.07 * stains) * (1.0 - 0.22 * near * _courses(face, block))
        hollow = np.clip(0.42 + face.up / 26.0, 0.0, 1.0)
        lit = self._sun * face.sunlit + self._fill * hollow
        # Signs and lamps of the street light the lowest floors by night.
        glow = np.exp(-face.up / 7.5) * np.float32(0.42 * self._hour.neon)
        tint = self._signs[:, block.number % self._signs.shape[1], None, None]
        return np.asarray(stone * relief * (lit + (0.6 * self._street + 0.4 * tint) * glow))

    def _window(
        self,
        face: Face,
        block: Block,
        cell: tuple[Plane, Plane],
        step: tuple[Plane | np.float32, Plane | np.float32],
    ) -> Plane:
        column, floor = np.floor(cell[0]), np.floor(cell[1])
        x, y = column.astype(np.int32) + block.number, floor.astype(np.int32) + block.number // 64
        chance, power, kind = self._drawn(x, y)
        far = smooth_step(0.35, 1.1, np.maximum(*np.broadcast_arrays(*step)))
        share = np.float32(self._hour.lit * (0.5 + block.tone))
        on = (chance < share) * (0.22 + 1.25 * power**2)
        on = on + (share * 0.55 - on) * far
        inside = cell[1] - floor
        across = np.abs(cell[0] - column - np.float32(0.5))
        curtain = smooth_step(0.10 + 0.25 * block.tone, 0.16 + 0.25 * block.tone, across)
        rooms = on * (0.32 + 0.95 * inside) * (1.0 - 0.55 * curtain * (kind > 0.35))
        rooms = rooms * (1.0 - np.float32(0.5) * (kind > 0.8))
        lamp = _picked(self._lamps, kind * 3.99)
        sky = np.clip(face.up / 40.0, 0.0, 1.0)
        mirrored = self._mirror + (self._top - self._mirror) * sky
        tilt = 0.35 + 0.65 * power + (0.65 - power) * 0.65 * far
        dark = mirrored * (tilt * (0.42 if block.style == "glass" else 0.24))
        glint = self._sun * (face.sunlit * 0.10)
        bars = np.maximum(
            _pulse(cell[0], 0.485, 0.03, step[0]), _pulse(cell[1], 0.62, 0.025, step[1])
        )
        shown = dark + glint + lamp * (rooms * np.float32(1.25))
        return np.asarray(shown * (1.0 - 0.75 * bars), np.float32)

    def _shop(self, face: Face, block: Block) -> Plane:
        """Return the ground floor: show windows, a lit band with the name, the door's frame."""
        bay = face.along / _SHOP_WIDE
        step = face.step_along / _SHOP_WIDE
        number = np.floor(bay).astype(np.int32) + 7 * block.number
        chance, power, kind = self._drawn(number, np.zeros_like(number) + block.number)
        pane = _pulse(bay, 0.07, 0.86, step) * _pulse(bay * 3.0, 0.03, 0.94, step * 3.0)
        pane = pane * _edge(face.up - 0.55, face.step_up) * _edge(2.95 - face.up, face.step_up)
        band = _pulse(bay, 0.05, 0.90, step) * _edge(face.up - 3.25, face.step_up)
        band = band * _edge(3.95 - face.up, face.step_up)
        tint = _picked(self._signs, kind * (self._signs.shape[1] - 0.01))
        lamp = _picked(self._lamps, power * 3.99)
        rooms = laid(self._rooms, face.along * 17.0 + 53.0 * block.number, face.up * 15.0)
        shelf = np.clip(0.55 + 0.28 * rooms, 0.08, 1.6)
        shelf = shelf + 0.9 * _edge(face.up - 2.45, face.step_up) * (rooms > 0.2)
        open_now = np.where(chance < 0.78, 0.45 + 0.9 * chance, 0.06)
        neon = np.float32(self._hour.neon)
        inside = (0.88 * lamp + 0.12 * tint) * (open_now * shelf * (0.25 + 0.95 * neon))
        inside = inside * np.clip(0.35 + face.up / 3.4, 0.0, 1.2) + self._mirror * 0.07
        lit = self._sun * face.sunlit + self._fill * 0.5
        frame = light((0.30, 0.02, 60)) * (lit + self._street * (0.25 * neon))
        board = (0.30 * tint + 0.05) * lit + tint * (neon * 0.10)
        bright = np.float32(0.10) + np.float32(1.6) * (power < 0.72)
        name = tint * (neon * bright) + (0.3 * tint + 0.25) * lit
        board = blend(board, name, self._letters(face, bay, number))
        return blend(blend(frame, inside, pane), board, band)

    def _letters(self, face: Face, bay: Plane, number: Plane) -> Plane:
        """Return the name of each shop, in the middle of its board."""
        count, tall, wide = self._names.shape
        place = (bay - np.floor(bay) - np.float32(0.16)) / np.float32(0.68)
        place = 1.0 - place if face.backward else place
        line = np.clip((3.86 - face.up) / 0.52, 0.0, 0.999)
        sheet = self._names.reshape(count * tall, wide)
        y = (number % count + line) * np.float32(tall) - np.float32(0.5)
        x = np.clip(place, -0.01, 1.01) * np.float32(wide) - np.float32(0.5)
        x, y = np.broadcast_arrays(np.asarray(x, np.float32), np.asarray(y, np.float32))
        found = cv2.remap(
            sheet, np.ascontiguousarray(x), np.ascontiguousarray(y), cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT, borderValue=0,
        )  # fmt: skip
        coarse = smooth_step(0.05, 0.2, np.asarray(face.step_along + 0.0 * face.along))
        return np.asarray(found + (0.3 * (found > 0.0) - found) * coarse, np.float32)

    def _drawn(self, x: Cells, y: Cells) -> tuple[Plane, Plane, Plane]:
        column, row = x % _TABLE, y % _TABLE
        return self._chance[row, column], self._power[row, column], self._kind[row, column]


def side_of(view: View, block: Block, columns: slice, rows: slice, sunlit: Plane) -> Face:
    """Return the face of a block along the street; `sunlit` is indexed by column and row."""
    across = np.abs(view.across()[:, columns])
    z = np.float32(block.wall) / np.maximum(across, np.float32(1e-4))
    up = np.float32(view.eye) + view.up()[rows] * z
    return Face(
        along=z,
        up=up,
        step_along=z * z / np.float32(view.focal * block.wall),
        step_up=z / np.float32(view.focal),
        z=z,
        sunlit=sunlit,
        backward=block.side > 0,
    )


def front_of(view: View, block: Block, columns: slice, rows: slice, sunlit: float) -> Face:
    """Return the face of a block that looks back up the street."""
    z = block.near
    along = np.abs(view.across()[:, columns]) * np.float32(z)
    up = np.float32(view.eye) + view.up()[rows] * np.float32(z)
    step = np.float32(z / view.focal)  # a plain float would make planes of doubles
    return Face(
        along=along,
        up=up,
        step_along=step,
        step_up=step,
        z=np.float32(z),
        sunlit=sunlit,
        backward=block.side < 0,
    )


def laid(sheet: Plane, x: Plane, y: Plane) -> Plane:
    """Return a sheet laid on a wall, mirrored over and over; positions in its own pixels."""
    side = sheet.shape[0]
    x, y = np.broadcast_arrays(np.asarray(x, np.float32), np.asarray(y, np.float32))
    period = np.float32(2 * side)
    across, down = (place - period * np.floor(place / period) for place in (x, y))
    across = np.minimum(across, 2 * side - 1 - across)
    down = np.minimum(down, 2 * side - 1 - down)
    found = cv2.remap(sheet, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(found)


def _courses(face: Face, block: Block) -> Plane:
    """Return the joints between bricks or panels, 1 in a joint."""
    tall, long = (0.30, 0.9) if block.style == "brick" else (1.2, 2.4)
    level = face.up / tall
    flat = _pulse(level, 0.0, 0.14 if block.style == "brick" else 0.04, face.step_up / tall)
    shift = np.float32(0.5) * np.mod(np.floor(level), 2.0)
    post = _pulse(face.along / long + shift, 0.0, 0.03, face.step_along / long)
    return np.maximum(flat, post)


def _pulse(at: Plane, start: float, long: float, step: Plane | np.float32) -> Plane:
    """Return a pulse that repeats every 1, averaged over `step`, so that it never flickers."""
    half = np.maximum(step, 1e-4) * np.float32(0.5)
    total = _filled(at - start + half, long) - _filled(at - start - half, long)
    return np.asarray(total / (2.0 * half), np.float32)


def _filled(at: Plane, long: float) -> Plane:
    whole = np.floor(at)
    return np.asarray(whole * np.float32(long) + np.minimum(at - whole, np.float32(long)))


def _edge(inside: Plane, step: Plane | np.float32) -> Plane:
    """Return the coverage of a pixel whose middle lies `inside` meters behind an edge."""
    return np.asarray(np.clip(inside / step + 0.5, 0.0, 1.0), np.float32)


def _picked(colors: Plane, place: Plane) -> Plane:
    index = place.astype(np.int32)
    return np.stack([plane[index] for plane in colors])
