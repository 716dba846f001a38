"""Facades, roofs and signs: windows, floors, shops and neon letters."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.lettering import font_of
from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.street import Building, Street, cover, pulse
from kit.engines.painting.noise import Plane, sample, tile
from kit.engines.painting.tone import light

_SHOP_HEIGHT, _SHOP_WIDTH = 4.3, 5.2  # height of the ground floor, and width of a shop
_TABLE_SIDE = 64
_ROOM_FLICKER = 0.4  # rooms and panels flicker less than tubes
_STRIP_ROWS = 24  # rows painted at a time
_MAX_DEPTH = 45.0  # meters of a tall building's front that are visible beside the street
#: By style: window shares of a bay and of a floor; reflectance of glass.
_STYLES = np.array(
    [(0.60, 0.58, 0.24), (0.44, 0.60, 0.24), (0.93, 0.86, 0.42), (1.00, 0.50, 0.24)], np.float32
).T.copy()
#: Four colors of walls by style, and of lamps in rooms.
_WALL_COLORS: tuple[Oklch, ...] = (
    (0.72, 0.035, 80), (0.62, 0.02, 60), (0.80, 0.025, 85), (0.55, 0.03, 250),
    (0.50, 0.085, 38), (0.44, 0.07, 30), (0.60, 0.06, 55), (0.40, 0.04, 35),
    (0.45, 0.03, 235), (0.40, 0.04, 215), (0.35, 0.02, 260), (0.50, 0.03, 200),
    (0.82, 0.012, 90), (0.66, 0.012, 250), (0.74, 0.03, 75), (0.58, 0.015, 60),
)  # fmt: skip
_LAMPS: tuple[Oklch, ...] = ((0.86, 0.10, 74), (0.90, 0.06, 90), (0.88, 0.04, 225), (0.8, 0.12, 60))
_WORDS = (
    "HOTEL", "BAR", "NOODLES", "OPEN", "CAFE", "JAZZ", "RAMEN", "CLUB", "CINEMA", "TEA", "ARCADE",
    "SUSHI", "BOOKS", "24H", "DINER", "PHARMACY", "KARAOKE", "RECORDS", "TAXI", "GRILL", "LOUNGE",
)  # fmt: skip
_FACES = ("bebas", "neon", "rubik", "anton")
_MAX_DISTANCE = 75.0
_MIN_WIDTH = 5  # minimum width of a sign in pixels
_NAMES = (
    "CORNER BOOKS", "Noodle House", "Bakery", "Cinema Grand", "night market", "TEA & CO",
    "RECORDS", "Flowers", "Trattoria", "Optician", "jazz cellar", "HARDWARE",
)  # fmt: skip
#: The visible building of each pixel.
Visible: TypeAlias = Building[Plane]


class Walls:
    """Paints buildings in one light; pixels are listed, shape (n,), colors (3, n)."""

    def __init__(self, rng: np.random.Generator, street: Street) -> None:
        self._street, self._hour = street, street.hour
        self._random = rng.random((3, _TABLE_SIDE * _TABLE_SIDE), np.float32)
        self._grime = tile(rng, cells=8, octaves=6, gain=0.6)
        self._rooms = tile(rng, cells=32, octaves=3, gain=0.6)
        self._stones, self._lamps, self._signs = (
            np.concatenate([light(color)[..., 0] for color in colors], axis=1)
            for colors in (_WALL_COLORS, _LAMPS, street.hour.signs)
        )
        shining = (street.hour.sun, street.hour.ambient, street.hour.glow)
        self._sun, self._ambient, self._air = (color[..., 0] for color in shining)
        self._low, self._top = (
            light(color)[..., 0] for color in (street.hour.look.sky[1], street.hour.look.sky[-1])
        )

    def paint(self, progress: Progress) -> None:
        """Paint all buildings, strip by strip."""
        street, canvas = self._street, self._street.canvas
        index, count = self._trace(), len(street.buildings)
        depth, sky, emitters = (it.ravel() for it in (canvas.depth, canvas.sky, canvas.emitters))
        shown, airs = canvas.light.reshape(3, -1), street.air.reshape(3, -1)
        table = np.array(street.buildings, np.float32).T
        for top in range(0, len(index), _STRIP_ROWS):
            rows, columns = np.nonzero(index[top : top + _STRIP_ROWS] >= 0)
            rows += top
            at = np.ravel_multi_index((rows, columns), index.shape)
            number, z = index.ravel()[at], depth[at]
            its = Building(*table.take(number % count, axis=1))
            right, up = street.right[0, columns], street.eye + street.up[rows, 0] * z
            color, shining = self._facade(its, z, np.abs(right), up)
            roof = number >= count
            if roof.any():
                behind = Building(*(it[roof] for it in its))
                color[:, roof], shining[roof] = self._roof(behind, z[roof], np.abs(right[roof]))
            clear, scale = np.exp(-z * np.float32(self._hour.density)), street.focal / z
            # At the upper edge of a wall the pixels behind it show: the row above.
            edge = np.clip((its.tall - up) * scale + 0.5, 0.0, 1.0)
            edged = np.flatnonzero((edge < 1.0) & ~roof & (rows > 0))
            veiled = (color - airs[:, at]) * clear + airs[:, at]
            ground = np.clip(0.5 - up * scale, 0.0, 1.0)  # shows below
            for plane, found in zip((*shown, sky), (*veiled, ground), strict=True):
                plane[at] = found
                above = plane[at[edged] - index.shape[1]]
                plane[at[edged]] = above + (plane[at[edged]] - above) * edge[edged]
            emitters[at] = shining * clear
            progress.report(min(1.0, (top + _STRIP_ROWS) / len(index)))

    def _trace(self) -> NDArray[np.int16]:
        """Return the building of each pixel, its number plus an offset for roofs, else -1.

        Its distance is written to the canvas.
        """
        street, depth = self._street, self._street.canvas.depth
        index, count = np.full(depth.shape, -1, np.int16), len(street.buildings)
        rows = np.arange(len(depth), dtype=np.float32)[:, None]
        for number, it in enumerate(street.buildings):
            out = it.side * street.right[0]
            columns = np.flatnonzero(out * it.far > it.wall)
            if not len(columns):
                continue
            at = slice(None), slice(columns[0], columns[-1] + 1)
            if street.eye > it.tall:
                away = (street.eye - it.tall) / np.maximum(-street.up, 1e-6)
                flat = (it.near <= away) & (away <= it.far) & (out[at[1]] * away >= it.wall)
                np.copyto(index[at], np.int16(number + count), where=flat)
                np.copyto(depth[at], away, where=flat)
            z = np.maximum(it.wall / out[at[1]], it.near)
            top, foot = (street.y - street.focal * (up - street.eye) / z for up in (it.tall, 0.0))
            shown = (out[at[1]] * z < it.wall + _MAX_DEPTH) | (street.eye > it.tall)
            wall = (rows > top - 1.0) & (rows < foot) & shown
            np.copyto(index[at], np.int16(number), where=wall)
            np.copyto(depth[at], z, where=wall)
        return index

    def _facade(self, its: Visible, z: Plane, right: Plane, up: Plane) -> tuple[Plane, Plane]:
        hour, street = self._hour, self._street
        front = right * its.near >= its.wall
        step = z / np.float32(street.focal)
        along = np.where(front, right * z, z)
        step_along = np.where(front, step, step * z / its.wall)
        sunlit = 0.15 * smooth_step(2.0, 14.0, up) * ~front * (hour.sun_power > 0.0)
        if street.sunny:
            facing = its.side == street.sunny
            lower = smooth_step(-0.3, 0.3, up + 3.8 * its.wall - street.shadow(z))
            sunlit = np.where(front, 0.12 + 0.28 * facing.astype(np.float32), 0.85 * lower * facing)
        style = its.style.astype(np.int32)
        wide, high, mirror = _STYLES.take(style, axis=1)
        bay, floor = along / its.bay, (up - _SHOP_HEIGHT) / its.floor
        step_bay, step_floor = step_along / its.bay, step / its.floor
        relief = 1.0 - 0.28 * pulse(floor, -0.03, 0.10, step_floor)
        relief += 0.22 * smooth_step(1.6, 0.9, its.tall - up)
        relief *= 1.0 + 0.07 * _look_up(self._grime, along * 14.0 + 37.0 * its.number, up * 9.0)
        # At night signs and lamps light the lowest floors.
        tint = self._signs.take(its.number.astype(np.int32) % self._signs.shape[1], axis=1)
        wall = self._sun * sunlit + self._ambient * np.clip(0.42 + up / 26.0, 0.0, 1.0)
        glow = 0.3 * (self._air + self._signs[:, :1]) + 0.4 * tint
        wall += glow * (np.exp(-up / 7.5) * (0.42 * hour.neon))
        wall *= self._stones.take(4 * style + (its.tone * 3.999).astype(np.int32), axis=1) * relief
        column, number = np.floor(bay), np.floor(floor)
        chance, power, kind = self._draw(column + its.number, number + its.number // 64)
        # Windows smaller than pixels become an even glow.
        far = smooth_step(0.35, 1.1, np.maximum(step_bay, step_floor))
        share = hour.windows * (0.5 + its.tone)
        lit = (chance < share) * (0.22 + 1.25 * power**2)
        lit += (share * 0.55 - lit) * far
        rooms = lit * (0.32 + 0.95 * (floor - number))
        tilt = mirror * (0.35 + 0.65 * power + (0.65 - power) * 0.65 * far)
        pane = (self._low + (self._top - self._low) * np.clip(up / 40.0, 0.0, 1.0)) * tilt
        lamp = self._lamps.take((kind * 3.99).astype(np.int32), axis=1)
        pane += self._sun * (0.10 * sunlit) + lamp * rooms
        bars = pulse(bay, 0.485, 0.03, step_bay), pulse(floor, 0.62, 0.025, step_floor)
        glass = pulse(bay, 0.5 - wide / 2, wide, step_bay) * pulse(floor, 0.24, high, step_floor)
        wall += (pane * (1.0 - 0.75 * np.maximum(*bars)) - wall) * glass
        shining = glass * np.minimum(_ROOM_FLICKER * lit, 1.0)
        low = np.flatnonzero(up < _SHOP_HEIGHT + step)
        its, along, up, sunlit = (
            Building(*(it[low] for it in its)), along[low], up[low], sunlit[low],
        )  # fmt: skip
        backward = (its.side > 0) ^ front[low]
        shop, lamps = self._shop(its, along, up, (step_along[low], step[low]), sunlit, backward)
        share = cover(_SHOP_HEIGHT - up, step[low])
        wall[:, low] += (shop - wall[:, low]) * share
        shining[low] += (lamps - shining[low]) * share
        return wall, shining

    def _shop(
        self, its: Visible, along: Plane, up: Plane, steps: tuple[Plane, Plane], sunlit: Plane,
        backward: NDArray[np.bool_],
    ) -> tuple[Plane, Plane]:  # fmt: skip
        """Return the ground floor: shop windows and a lit sign with the name."""
        neon, bay, step = self._hour.neon, along / _SHOP_WIDTH, steps[0] / _SHOP_WIDTH
        number = np.floor(bay)
        chance, power, kind = self._draw(number + 7 * its.number, its.number)
        pane = pulse(bay, 0.07, 0.86, step) * pulse(bay * 3.0, 0.03, 0.94, step * 3.0)
        pane *= cover(np.minimum(up - 0.55, 2.95 - up), steps[1])
        band = pulse(bay, 0.05, 0.90, step) * cover(np.minimum(up - 3.25, 3.95 - up), steps[1])
        tint = self._signs.take((kind * (self._signs.shape[1] - 0.01)).astype(np.int32), axis=1)
        lamp = self._lamps.take((power * 3.99).astype(np.int32), axis=1)
        rooms = _look_up(self._rooms, along * 17.0 + 53.0 * its.number, up * 15.0)
        shelf = np.clip(0.55 + 0.28 * rooms, 0.08, 1.6)
        shelf += 0.9 * cover(up - 2.45, steps[1]) * (rooms > 0.2)
        awake = np.where(chance < 0.78, 0.45 + 0.9 * chance, 0.06)
        inside = awake * shelf * (0.25 + 0.95 * neon) * np.clip(0.35 + up / 3.4, 0.0, 1.2)
        lit = self._sun * sunlit + 0.5 * self._ambient
        board = (0.30 * tint + 0.05) * lit + tint * (0.10 * neon)
        name = tint * (neon * (0.10 + 1.6 * (power < 0.72))) + (0.3 * tint + 0.25) * lit
        # The name is centered on its sign, in its writing direction.
        names = _draw_names()
        count, tall, wide = names.shape
        place = (bay - number - 0.16) / 0.68
        x = np.clip(np.where(backward, 1.0 - place, place), -0.01, 1.01) * wide - 0.5
        line = np.clip((3.86 - up) / 0.52, 0.0, 0.999)
        y = (np.mod(number + 7 * its.number, count) + line) * tall - 0.5
        letters = _look_up(names.reshape(count * tall, wide), x, y)
        letters += (0.3 * (letters > 0.0) - letters) * smooth_step(0.05, 0.2, steps[0])
        shop = light((0.30, 0.02, 60))[..., 0] * (lit + self._air * (0.25 * neon))
        shop += ((0.88 * lamp + 0.12 * tint) * inside + 0.07 * self._low - shop) * pane
        shop += (board + (name - board) * letters - shop) * band
        return shop, min(1.0, neon) * np.maximum(pane * (_ROOM_FLICKER * awake), band * letters)

    def _roof(self, its: Visible, z: Plane, right: Plane) -> tuple[Plane, Plane]:
        hour, out = self._hour, right * z
        ends = np.minimum(np.minimum(z - its.near, its.far - z), out - its.wall)
        x, y = out / 3.1 + its.tone * 99.0, z / 4.3 + its.tone * 77.0
        chance, power, _ = self._draw(np.floor(x), np.floor(y))
        box = np.maximum(*(np.abs(place - np.floor(place) - 0.5) for place in (x, y))) < 0.19
        lit = self._ambient + self._sun * (0.12 if hour.sun_ahead else 0.5) + self._air * hour.neon
        shade = (1.0 + 0.35 * smooth_step(1.1, 0.5, ends)) * (1.0 - 0.34 * box * (power > 0.6))
        awake = 0.55 * min(1.0, hour.neon) * box * (chance > 0.86)
        stone = self._stones.take((its.tone * 15.99).astype(np.int32), axis=1)
        return 0.6 * stone * lit * shade + self._lamps[:, :1] * awake, awake

    def _draw(self, x: Plane, y: Plane) -> Plane:
        """Return three random numbers, 0 to 1, of each cell, shape (3, n)."""
        column, row = (place.astype(np.int32) % _TABLE_SIDE for place in (x, y))
        return self._random.take(row * _TABLE_SIDE + column, axis=1)


def _look_up(sheet: Plane, x: Plane, y: Plane) -> Plane:
    shape = len(x) // 256 + 1, 256  # OpenCV does not support long lists
    places = (np.resize(np.asarray(place, np.float32), shape) for place in (x, y))
    return sample(np.asarray(sheet, np.float32), *places).ravel()[: len(x)]


@cache
def _draw_names() -> Floats:
    sheets = [Image.new("L", (640, 80)) for _ in _NAMES]
    for number, (name, sheet) in enumerate(zip(_NAMES, sheets, strict=True)):
        font = font_of(_FACES[number % len(_FACES)], 62)
        ImageDraw.Draw(sheet).text((320, 40), name, fill=255, font=font, anchor="mm")
    return np.stack([np.asarray(it.reduce(2), np.float32) for it in sheets]) / np.float32(255.0)


def add_signs(rng: np.random.Generator, street: Street, crowd: float) -> None:
    """Add neon signs on the walls, farthest first; `crowd` is the share of places with one.

    Each faces along the street: glowing letters below one another in a tube.
    """
    hour, neon = street.hour, street.hour.neon
    places = []
    for it in street.buildings:
        z = it.near + rng.uniform(0.6, 2.5)
        while z < min(it.far - 1.0, _MAX_DISTANCE):
            if rng.random() < crowd:
                places.append((z, it))
            z += rng.uniform(3.5, 9.0)
    for z, it in sorted(places, key=lambda place: -place[0]):
        word, face = str(rng.choice(_WORDS)), str(rng.choice(_FACES))
        wide, low = rng.uniform(0.8, 1.5), rng.uniform(3.6, 8.5)
        tall = min(wide * len(word) * rng.uniform(0.78, 1.0), it.tall - 0.8 - low)
        ink, frame = (light(hour.signs[n]) for n in rng.integers(len(hour.signs), size=2))
        left = round(street.column(it.side * (it.wall - 0.25 - wide / 2) - wide / 2, z))
        upper, size = round(street.row(low + tall, z)), (street.focal / z * np.array([wide, tall]))
        width, height = size.round().astype(int).tolist()
        inside = left < street.brief.width and left + width > 0 and upper + height > 0
        if tall < wide or min(width, height // 2) < _MIN_WIDTH or not inside:
            continue
        tube, letters = _draw_sign(word, face, width, height)
        unlit = 0.35 * hour.sky_power + 0.25 * hour.sun_power
        color = light((0.24, 0.02, 260)) * (0.35 + hour.sky_power) + ink * (neon * 0.16)
        color = color + (0.6 * ink + 0.4) * (letters * (neon * 2.6 + unlit))
        color += frame * (tube * (neon * 2.2 + unlit))
        shining = np.maximum(letters, tube) * min(1.0, neon)
        street.blend_sheet((left, upper), color, np.ones_like(tube), z, shining, nearest=z)


def _draw_sign(word: str, face: str, wide: int, tall: int) -> list[Floats]:
    """Return the tube around a sign and its letters, each (tall, wide), 0 to 1."""
    scale = 3 if wide < 40 else 2
    size, edge = (wide * scale, tall * scale), max(1, round(0.055 * wide * scale))
    sheets = [Image.new("L", size) for _ in range(2)]
    tube, pen = (ImageDraw.Draw(sheet) for sheet in sheets)
    tube.rectangle((edge, edge, size[0] - 1 - edge, size[1] - 1 - edge), outline=255, width=edge)
    pitch = size[1] * 0.94 / len(word)
    font = font_of(face, max(4, int(min(0.86 * size[0], 1.18 * pitch))))
    for number, letter in enumerate(word):
        at = (size[0] / 2, size[1] * 0.03 + pitch * (number + 0.5))
        pen.text(at, letter, fill=255, font=font, anchor="mm")
    return [np.asarray(it.reduce(scale), np.float32) / np.float32(255.0) for it in sheets]
