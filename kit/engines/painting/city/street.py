"""A street in perspective: its light by hour, camera, buildings and sky.

In meters: x to the right of the street's middle, y up from the road, z ahead of the camera. A
point is (x / z, (eye - y) / z) times the focal length away from the vanishing point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch, mix
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import Camera
from kit.engines.painting.framing import shot_of, third
from kit.engines.painting.looks import HourLook, each_color, look_for
from kit.engines.painting.noise import Plane, distances
from kit.engines.painting.painting import Canvas
from kit.engines.painting.sky import paint_sky, sun_of
from kit.engines.painting.tints import strength, tints_of
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import LOW_SUN, Brief

N = TypeVar("N")

ROAD = 5.6  # half the width between the curbs
STYLES = {"grid": 0.36, "brick": 0.30, "glass": 0.18, "bands": 0.16}  # with their frequencies
_MIN_DISTANCE, _MAX_DISTANCE = 3.0, 210.0
_NEON: tuple[Oklch, ...] = (
    (0.70, 0.25, 350), (0.80, 0.15, 205), (0.68, 0.23, 312), (0.84, 0.16, 92), (0.72, 0.20, 28),
    (0.82, 0.19, 150),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """The light of a street."""

    look: HourLook
    density: float  # density of the air, per meter
    sun_power: float  # strength of the sun, and of the sky
    sky_power: float
    sun_ahead: bool  # the sun is low at the end of the street, not high behind the camera
    windows: float  # share of lit windows
    neon: float  # strength of signs, lamps and shop windows
    exposure: float
    signs: tuple[Oklch, ...]
    wetness: float  # reflectance of the ground

    @property
    def sun(self) -> Plane:
        """Sunlight, shape (3, 1, 1), as are the others."""
        return light(self.look.sun, self.sun_power)

    @property
    def ambient(self) -> Plane:
        """Light from the sky."""
        return light(self.look.shade, self.sky_power)

    @property
    def glow(self) -> Plane:
        """Light of the air near the ground, from signs and lamps."""
        return light(self.look.air)


#: Hour -> density of the air, strength of the sun and of the sky, share of lit windows, strength
#: of signs, exposure.
_HOURS = {
    "night": (0.011, 0.0, 0.16, 0.40, 1.0, 1.35), "dusk": (0.008, 0.0, 0.30, 0.36, 0.85, 1.3),
    "sunset": (0.009, 1.5, 0.42, 0.14, 0.35, 1.1), "dawn": (0.010, 1.1, 0.50, 0.12, 0.25, 1.1),
    "day": (0.0042, 2.3, 0.72, 0.02, 0.05, 1.08),
}  # fmt: skip
#: Weather -> factor on the density of the air, wetness of the ground.
_WEATHER_FACTORS = {
    "clear": (1.0, 0.0), "rain": (1.5, 1.0), "mist": (2.8, 0.45), "fog": (4.0, 0.45),
    "snow": (2.2, 0.25), "overcast": (1.2, 0.0),
}  # fmt: skip
#: Hues of the glow over a city at night: near the ground, and high up.
_GLOW_HUES = ((335.0, 268.0), (305.0, 230.0), (205.0, 265.0), (55.0, 285.0), (285.0, 215.0))
#: Mood -> factors on the share of lit windows, on signs and on the density of the air.
_MOOD_FACTORS = {
    "gloomy": (0.45, 0.55, 1.0), "calm": (0.7, 0.7, 1.0), "vivid": (1.15, 1.12, 1.0),
    "dramatic": (0.8, 1.1, 1.0), "pastel": (0.8, 0.8, 1.4),
}  # fmt: skip
#: Word of composition -> relative focal length, horizon as a share of the height, height of the
#: camera, factors on buildings, on the street's width and on the air, and the position of the main
#: figure: meters aside and ahead.
_SHOTS = {
    "": {"lens": 1.0, "horizon": 0.56, "eye": 0.0, "tall": 1.0, "broad": 1.0, "air": 1.0},
    "close": {"lens": 2.1, "horizon": 0.50, "eye": 1.5, "aside": 0.35, "ahead": 4.7},
    "wide": {"lens": 0.62, "horizon": 0.60, "eye": 2.2, "broad": 1.75, "aside": 1.2, "ahead": 14.0},
    "low": {"lens": 0.8, "horizon": 0.86, "eye": 0.42, "tall": 1.5, "aside": 1.0, "ahead": 4.6},
    "high": {"lens": 0.9, "horizon": 0.10, "eye": 34.0, "air": 0.4},
    "dramatic": {"lens": 0.72, "horizon": 0.76, "eye": 1.2, "tall": 2.3, "air": 1.7,
                 "aside": 0.8, "ahead": 11.0},
    "minimal": {"lens": 0.95, "horizon": 0.62, "eye": 1.7, "aside": 0.9, "ahead": 9.0},
    "thirds": {"horizon": 2 / 3, "eye": 1.7, "aside": 1.4, "ahead": 8.5},
    "centered": {"aside": 0.0, "ahead": 7.0},
}  # fmt: skip


class Building(NamedTuple, Generic[N]):
    """A building, or arrays with the visible building of several pixels."""

    side: N  # of the street, -1 or 1
    near: N  # start and end along the street
    far: N
    wall: N  # distance of its front from the middle of the street
    tall: N
    floor: N  # height of a floor, and width of a window with its wall
    bay: N
    style: N  # which of `STYLES`
    number: N  # index into random tables
    tone: N  # selects one of several colors, 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Street:
    """The layout of a street."""

    brief: Brief
    hour: Hour
    shot: dict[str, float]  # numbers for the words of composition
    x: float  # the vanishing point and the focal length, in pixels
    y: float
    focal: float
    eye: float  # height of the camera
    right: Plane  # x / z of every column, shape (1, width)
    up: Plane  # (y - eye) / z of every row, shape (height, 1)
    buildings: list[Building[float]]  # farthest first
    sunny: int  # the side whose walls a high sun lights, else 0
    air: Plane  # the fog color of each pixel
    canvas: Canvas

    def column(self, x: float, z: float) -> float:
        """Return the column of a point, in pixels from the left."""
        return self.x + self.focal * x / z

    def row(self, y: float, z: float) -> float:
        """Return the row of a point, in pixels from the top."""
        return self.y - self.focal * (y - self.eye) / z

    def shadow(self, z: Plane) -> Plane:
        """Return the height of the roofs between the sun and a place."""
        across = [it for it in reversed(self.buildings) if it.side != self.sunny]
        tall = np.array([6.0, *(it.tall for it in across)], np.float32)
        return np.asarray(tall[np.searchsorted([it.near for it in across], z + 6.0)])

    def blend_sheet(
        self, corner: tuple[int, int], color: Plane, cover: Plane, z: float, shining: Plane,
        nearest: float = 0.0,
    ) -> None:  # fmt: skip
        """Composite a sheet where nothing is nearer than `nearest`, with the fog in front of it."""
        at, part = self.canvas.clip(*corner, *cover.shape)
        clear = float(np.exp(-z * self.hour.density))
        veiled = color[:, *part] * clear + self.air[:, *at] * (1.0 - clear)
        shown = cover[part] * (self.canvas.depth[at] > nearest)
        self.canvas.blend(at, veiled, shown, z, shining[part] * clear)


def street_of(rng: np.random.Generator, brief: Brief) -> Street:
    """Return the street of a brief, with its sky painted."""
    shot, shape = shot_of(brief, _SHOTS), (brief.height, brief.width)
    middle, eye = 0.5 + float(rng.choice([-1, 1])) * 0.06, float(rng.uniform(1.75, 2.3))
    if not {"centered", "thirds"}.isdisjoint(brief.composition):
        middle = 0.5 if "centered" in brief.composition else third(brief)[0]
    x, y, eye = middle * brief.width, shot["horizon"] * brief.height, shot["eye"] or eye
    # Upright frames are narrow: a shorter focal length keeps both walls visible.
    focal = shot["lens"] * (0.52 * brief.width + 0.36 * min(brief.height, 1.4 * brief.width))
    right, down = distances(shape, x - 0.5, y - 0.5, focal)
    hour = _hour_of(rng, brief, shot["air"])
    camera = Camera(brief.width, brief.height, focal, y, eye, aside=x - 0.5 * brief.width)
    low, high = light(hour.look.air), light(hour.look.far)
    # Warm below, and glowing toward a sun at the end of the street.
    air = low + (high - low) * smooth_step(0.0, 0.75, -down)
    air = air + hour.sun * (0.55 * _glare(right, -down) * hour.sun_ahead)
    return Street(
        brief=brief, hour=hour, shot=shot, x=x, y=y, focal=focal, eye=eye, right=right, up=-down,
        buildings=_buildings(rng, brief, shot, eye),
        sunny=int(rng.choice([-1, 1])) if hour.sun_power and not hour.sun_ahead else 0,
        air=np.asarray(air, np.float32), canvas=Canvas.of_sky(_sky(brief, hour, camera)),
    )  # fmt: skip


def lamps_of(brief: Brief) -> list[tuple[float, float]]:
    """Return the positions of lamps, right of the middle and ahead."""
    if "minimal" in brief.composition:
        return []
    places = [(side, z + 10.5 * (side > 0)) for z in np.arange(9.5, 120, 21.0) for side in (-1, 1)]
    return [(side * (ROAD + 0.45), float(z)) for side, z in places]


def cover(inside: Plane, step: Plane | float) -> Plane:
    """Return the coverage of pixels of `step` meters by their distance inside an edge."""
    return np.asarray(np.clip(inside / step + 0.5, 0.0, 1.0))


def pulse(at: Plane, start: float | Plane, long: float | Plane, step: Plane) -> Plane:
    """Return a pulse with period 1, averaged over `step`, so that it never flickers."""
    half = 0.5 * np.maximum(step, 1e-4)
    first, last = at - start - half, at - start + half
    before, after = np.floor(first), np.floor(last)
    total = (after - before) * long + np.minimum(last - after, long)
    return np.asarray((total - np.minimum(first - before, long)) / (2.0 * half))


def _hour_of(rng: np.random.Generator, brief: Brief, air: float) -> Hour:
    look, (thick, power, fill, lit, neon, exposure) = look_for(brief), _HOURS[brief.hour]
    thicker, wet = _WEATHER_FACTORS[brief.weather]
    signs, ahead, dark = _signs_of(rng, brief), brief.hour in LOW_SUN, brief.hour == "night"
    low, high = _GLOW_HUES[int(rng.integers(len(_GLOW_HUES)))]
    if dark and not tints_of(brief):  # city light colors the air
        look = replace(
            look, sky=((0.36, 0.10, low), (0.23, 0.075, low), (0.135, 0.05, high)),
            air=(0.38, 0.10, low), far=(0.23, 0.07, high), shade=(0.52, 0.06, high),
            cloud_lit=(0.28, 0.07, low), cloud_shade=(0.17, 0.05, high),
        )  # fmt: skip
    if brief.dim:  # clouds remove the colors of a low sun
        look = each_color(look, lambda it: (0.92 * it[0], 0.025, 258.0))
    if brief.weather != "clear" and power:  # gray and soft, lights are on earlier
        power, fill, lit, neon = 0.35 * power * ahead, 1.15 * fill, lit + 0.16, neon + 0.45
    if brief.weather == "fog" and brief.dark:  # lit by all lamps, up to the zenith
        near, far = ((0.7 * it[0] + 0.3, 0.62 * it[1], it[2]) for it in (look.air, look.far))
        look = replace(look, sky=(near, mix(near, far, 0.5), far), air=near, far=far)
    windows, shining, dense = _MOOD_FACTORS.get("" if brief.glows else brief.mood, (1.0, 1.0, 1.0))
    neon = shining * (max(neon, 0.5) * 1.15 if "neon" in brief.things else neon)
    hour = Hour(
        look=look, density=thick * thicker * dense * air, sky_power=fill, sun_ahead=ahead,
        sun_power=power if brief.open_sky and not brief.dim else 0.0, neon=neon, exposure=exposure,
        signs=signs, wetness=wet, windows=lit * windows,
    )  # fmt: skip
    if "minimal" in brief.composition:  # the air hides all but near objects
        near, far = look.air, look.far
        plain = (0.44 * (near[0] + far[0]) + 0.12, 0.35 * (near[1] + far[1]), near[2])
        look = replace(look, sky=(plain,) * 2, air=plain, far=plain, clouds=0.0)
        thick = 4.5 * max(hour.density, 0.010)
        hour = replace(hour, look=look, density=thick, windows=0.25 * lit, neon=0.3 * neon)
    return hour


def _signs_of(rng: np.random.Generator, brief: Brief) -> tuple[Oklch, ...]:
    """Return the colors of signs: shades of requested ones, else all neon colors."""
    order, tints, mood = rng.permutation(len(_NEON)), tints_of(brief), strength(brief)
    signs = [_NEON[number] for number in order]
    if tints:
        signs = [
            (level, max(0.05, 1.35 * chroma), (hue + shift) % 360.0)
            for level, shift in ((0.72, 0.0), (0.80, 12.0), (0.66, -12.0))
            for hue, chroma in tints
        ]
    return tuple((level, mood * chroma, hue) for level, chroma, hue in signs)


def _buildings(
    rng: np.random.Generator, brief: Brief, shot: dict[str, float], eye: float
) -> list[Building[float]]:
    tall = 0.7 if brief.mood == "calm" else shot["tall"]
    tall *= 1.7 if "towers" in brief.things else 0.6 if "low_houses" in brief.things else 1.0
    broad = shot["broad"] * (0.62 if "narrow" in brief.things else 1.0)
    found: list[Building[float]] = []
    for side in (-1.0, 1.0):
        z = _MIN_DISTANCE
        while z < _MAX_DISTANCE:
            deep = rng.uniform(9.0, 21.0) * (1.0 + z / 160.0)
            building = Building(
                side=side,
                near=z,
                far=z + deep - float(rng.choice([0.0, 0.0, 0.5, 2.2])),
                wall=(ROAD + rng.uniform(2.6, 4.2)) * broad,
                tall=(rng.uniform(11.0, 34.0) + float(rng.pareto(2.2)) * 9.0 + z / 9.0) * tall,
                floor=rng.uniform(3.0, 3.7),
                bay=rng.uniform(2.1, 3.4),
                style=float(rng.choice(len(STYLES), p=list(STYLES.values()))),
                number=float(rng.integers(0, 4096)),
                tone=float(rng.random()),
            )
            if "high" in brief.composition and z < 130.0:  # the view is over the near roofs
                most = eye * (0.40 + 0.42 * building.tone)
                building = building._replace(tall=min(building.tall, most))
            found.append(building)
            z += deep
    if "centered" in brief.composition:  # both sides are symmetric
        left = [it for it in found if it.side < 0]
        found = [*left, *(it._replace(side=1.0) for it in left)]
    return sorted(found, key=lambda it: -it.near)


def _sky(brief: Brief, hour: Hour, camera: Camera) -> Plane:
    """Return the sky of an hour; a low sun is at the end of the street."""
    low = hour.sun_ahead and hour.sun_power > 0.0
    look = replace(hour.look, stars=0.0, milky=False, moon=False, named=False, disc=low)
    look = replace(look, glow=look.glow * low)
    sun = sun_of(look, camera, camera.middle / camera.columns, 0.75)
    return paint_sky(look, camera, sun, np.random.default_rng([brief.seed, 54]), Progress()).light


def _glare(right: Plane, up: Plane) -> Plane:
    far = np.hypot(right, up - np.float32(0.045))
    return np.asarray(np.exp(-far * 5.5) + 0.8 * np.exp(-far * 19.0))
