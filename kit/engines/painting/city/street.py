"""A street in perspective: the camera, the buildings along both sides, and the sky behind them.

Lengths are meters: x to the right of the street's middle, y up from the road, z ahead of the
camera. A point is seen at (x / z, (eye - y) / z) times the focal length from the vanishing point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from kit.engines.media.noise import smooth_step
from kit.engines.painting import noise
from kit.engines.painting.canvas import Canvas, distances
from kit.engines.painting.city.light import Hour, hour_of
from kit.engines.painting.framing import framed, third
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import blend, gradient, light
from kit.engines.prompt.brief import Brief

N = TypeVar("N")

ROAD = 5.6  # half the width between the curbs
STYLES = {"grid": 0.36, "brick": 0.30, "glass": 0.18, "bands": 0.16}  # and how often they stand
_NEAREST, _FARTHEST = 3.0, 210.0
#: Word of composition -> focal length against the usual one, horizon as a share of the height,
#: height of the camera, factors on buildings, on the street's width and on the air, and where the
#: figure stands that the picture is about: meters aside and ahead.
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
    """A building, or of several pixels what they show, each in an array."""

    side: N  # of the street, -1 or 1
    near: N  # where it begins and ends along the street
    far: N
    wall: N  # how far its front is from the middle of the street
    tall: N
    floor: N  # height of a floor, and width of a window with the wall beside it
    bay: N
    style: N  # which of `STYLES`
    number: N  # which cells of random tables it has
    tone: N  # which of several colors, 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Street:
    """A street to be painted."""

    brief: Brief
    hour: Hour
    shot: dict[str, float]  # numbers that the words of composition chose
    x: float  # the vanishing point and the focal length, in pixels
    y: float
    focal: float
    eye: float  # height of the camera
    right: Plane  # x / z of every column, shape (1, width)
    up: Plane  # (y - eye) / z of every row, shape (height, 1)
    buildings: list[Building[float]]  # the farthest first
    sunny: int  # the side whose walls a high sun shines on, else 0
    air: Plane  # the color that distance fades to, of each pixel
    canvas: Canvas

    def column(self, x: float, z: float) -> float:
        """Return where a point is seen, in pixels from the left."""
        return self.x + self.focal * x / z

    def row(self, y: float, z: float) -> float:
        """Return where a point is seen, in pixels from the top."""
        return self.y - self.focal * (y - self.eye) / z

    def shadow(self, z: Plane) -> Plane:
        """Return how high the roofs are that stand between the sun and a place."""
        across = [it for it in reversed(self.buildings) if it.side != self.sunny]
        tall = np.array([6.0, *(it.tall for it in across)], np.float32)
        return np.asarray(tall[np.searchsorted([it.near for it in across], z + 6.0)])

    def add_sheet(
        self, corner: tuple[int, int], color: Plane, cover: Plane, z: float, shining: Plane,
        nearest: float = 0.0,
    ) -> None:  # fmt: skip
        """Lay a sheet over what is not nearer than a distance, veiled by the air before it."""
        at, part = self.canvas.clip(*corner, *cover.shape)
        clear = float(np.exp(-z * self.hour.thick))
        veiled = color[:, *part] * clear + self.air[:, *at] * (1.0 - clear)
        shown = cover[part] * (self.canvas.depth[at] > nearest)
        self.canvas.lay(at, veiled, shown, z, shining[part] * clear)


def street_of(rng: np.random.Generator, brief: Brief) -> Street:
    """Return the street that a brief asks for, its sky painted."""
    shot, shape = framed(brief, _SHOTS), (brief.height, brief.width)
    middle, eye = 0.5 + float(rng.choice([-1, 1])) * 0.06, float(rng.uniform(1.75, 2.3))
    if not {"centered", "thirds"}.isdisjoint(brief.composition):
        middle = 0.5 if "centered" in brief.composition else third(brief)[0]
    x, y, eye = middle * brief.width, shot["horizon"] * brief.height, shot["eye"] or eye
    # An upright frame sees less to the sides: a shorter focal length keeps both walls in it.
    focal = shot["lens"] * (0.52 * brief.width + 0.36 * min(brief.height, 1.4 * brief.width))
    right, down = distances(shape, x - 0.5, y - 0.5, focal)
    hour = hour_of(rng, brief, shot["air"])
    return Street(
        brief=brief, hour=hour, shot=shot, x=x, y=y, focal=focal, eye=eye, right=right, up=-down,
        buildings=_buildings(rng, brief, shot, eye),
        sunny=int(rng.choice([-1, 1])) if hour.power and not hour.ahead else 0,
        air=_air(hour, right, -down), canvas=Canvas.over(_sky(rng, hour, right, -down)),
    )  # fmt: skip


def lamps_of(brief: Brief) -> list[tuple[float, float]]:
    """Return where lamps stand, right of the middle and ahead."""
    if "minimal" in brief.composition:
        return []
    apart = 26.0 if brief.mood == "calm" else 21.0
    shift = 0.0 if "centered" in brief.composition else apart / 2
    return [
        (side * (ROAD + 0.45), float(z + (side > 0) * shift))
        for z in np.arange(9.5, 120.0, apart)
        for side in (-1, 1)
    ]


def _buildings(
    rng: np.random.Generator, brief: Brief, shot: dict[str, float], eye: float
) -> list[Building[float]]:
    tall = 0.7 if brief.mood == "calm" else shot["tall"]
    tall *= 1.7 if "towers" in brief.things else 0.6 if "low_houses" in brief.things else 1.0
    broad = shot["broad"] * (0.62 if "narrow" in brief.things else 1.0)
    found: list[Building[float]] = []
    for side in (-1.0, 1.0):
        z = _NEAREST
        while z < _FARTHEST:
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
            if "high" in brief.composition and z < 130.0:  # one looks over the roofs that are near
                most = eye * (0.40 + 0.42 * building.tone)
                building = building._replace(tall=min(building.tall, most))
            found.append(building)
            z += deep
    if "centered" in brief.composition:  # both sides are alike
        left = [it for it in found if it.side < 0]
        found = [*left, *(it._replace(side=1.0) for it in left)]
    return sorted(found, key=lambda it: -it.near)


def _sky(rng: np.random.Generator, hour: Hour, right: Plane, up: Plane) -> Plane:
    height, width = len(up), right.shape[1]
    rise = np.clip(up / 0.62, 0.0, 1.0)
    stops = list(zip((0.0, 0.38, 1.0), hour.colors[:3], strict=True))
    down, across = noise.across(3.4, height, width)
    body = noise.field(rng, height, width, cells=(2 * down, across), octaves=7, gain=0.52)
    cover = smooth_step(0.9 - 1.7 * hour.clouds, 2.0 - 1.1 * hour.clouds, body)
    low, top = light(hour.colors[0]), light(hour.colors[2])
    cloud = light(hour.colors[5], 0.75) if hour.ahead else light((0.93, 0.012, 250))
    if hour.power == 0.0:
        cloud = 0.45 * low + 0.3 * top if hour.fill < 0.4 else 0.85 * low
    cloud = cloud * np.clip(0.75 + 0.22 * body, 0.4, 1.3)
    sky = blend(gradient(stops, rise**0.8), cloud, 0.85 * cover * np.minimum(rise * 5.0, 1.0))
    if hour.ahead and hour.power:
        disc = smooth_step(0.026, 0.021, np.hypot(right, up - np.float32(0.045)))
        sky += light(hour.colors[5]) * (5.0 * disc + 0.9 * _glare(right, up))
    return sky


def _air(hour: Hour, right: Plane, up: Plane) -> Plane:
    """Return air that is warm below, and glows toward a sun at the end of the street."""
    low, high = (light(color) for color in hour.colors[3:5])
    glow = 0.55 * _glare(right, up) * hour.ahead
    return np.asarray(low + (high - low) * smooth_step(0.0, 0.75, up) + hour.sun * glow, np.float32)


def _glare(right: Plane, up: Plane) -> Plane:
    """Return the glow round a sun that stands a little above the vanishing point."""
    far = np.hypot(right, up - np.float32(0.045))
    return np.asarray(np.exp(-far * 5.5) + 0.8 * np.exp(-far * 19.0))
