"""Flights: land is made and lit once, then every frame looks at it from another place."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import Take, read_take, record
from kit.engines.film.levels import (
    END,
    NEAR,
    SWING,
    CameraPose,
    ColorLevels,
    SkyStrip,
    bands,
    box_of,
    height_levels,
    make_grain,
)  # fmt: skip
from kit.engines.film.weather import Weather
from kit.engines.media.clip import rgb_of, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting import tone
from kit.engines.painting.camera import Camera, View, soften_edges, spread_slices, trace
from kit.engines.painting.land.landscape import SPAN, haze, unit
from kit.engines.painting.land.terrain import (
    OPEN,
    RANGES,
    Terrain,
    develop_colors,
    make_terrain,
    paint_terrain,
)  # fmt: skip
from kit.engines.painting.land.water import MovingWater
from kit.engines.painting.looks import HourLook, look_for
from kit.engines.painting.painting import Painting
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_WIDEST = 0.62  # tangent from the middle of a wide frame to its sides
#: Shorter side of the frame -> share of its pixels that are drawn before it is enlarged.
_SHARES = {360: 1.0, 480: 0.85, 720: 0.66, 1080: 0.55}
_ASIDE = 1.1  # radians between the sun in the sky and the light on the land
_DISSOLVE = 0.8  # seconds in which a loop goes over into its beginning
_FAMILIES = {"lake": "alps", "desert": "desert", "forest": "forest", "sea": "islands"}
#: From the fourth channel of a land's colors to how much is under water.
_WET = np.clip((np.arange(256) - OPEN - SWING) * (255 / (127 - SWING)), 0, 255).astype(np.uint8)

_MIST, _CLEAR = 0.3, 45.0  # share of the mist that a flight is in, and how far there is no haze

_FADES = 0.68  # share of the farthest distance from which the land's end dissolves
_FOOT = 0.3  # height above the water from which there is none
_METERS = 4.0  # of a unit
_SPEED = 44.0  # units a second at full motion
_AHEAD = 80.0  # units that the pilot looks ahead
_LEAST = 6.0  # units: words bring a flight no closer to what it flies over
_HIGHEST, _LOWEST = 0.14, 0.72  # share of the frame between which a horizon that was moved stays
_RADIUS = 170.0  # units of a circle around a place
#: Share of the ground in view that is best under water, and units that land is flown over higher.
_WATERS = {"islands": 0.7, "canyon": 0.2}
#: Land with trees -> share of the slices of the ground that show these.
_WOODED = {"alps": 0.35, "hills": 0.4, "forest": 0.45, "islands": 0.35, "canyon": 0, "desert": 0}
_OVER = {"forest": 7.0, "islands": 10.0, "canyon": 8.0}


@dataclass(frozen=True, slots=True)
class _Move:
    """How a camera flies."""

    pace: float = 1.0  # factor on its speed
    swing: float = 0.0  # radians to both sides
    height: float = 17.0  # units above the ground nearby
    horizon: float = 0.40  # share of the frame
    #: What is added to these at full motion, at the end or, of one that descends, at the start.
    climb: float = 0.0
    tilt: float = 0.0
    descends: bool = False


MOVES = {
    "forward": _Move(swing=0.03),
    "glide": _Move(swing=0.34),
    "skim": _Move(1.15, 0.24, 7, 0.44),
    "high": _Move(1.25, 0.16, 74, 0.24),
    "rise": _Move(0.55, 0.08, 15, 0.46, 85, -0.26),
    "descend": _Move(0.8, 0.12, 9, 0.44, 82, -0.22, descends=True),
    "orbit": _Move(1.25, height=30, horizon=0.36),
    "still": _Move(0.0),
}
#: Word of composition or tone -> factor on the height, how far the horizon moves down, factor on
#: how much is seen to the sides; those of several words add up.
_WORDS = {
    "wide": (1.35, 0.0, 1.2),
    "close": (1.0, 0.0, 0.62),
    "low": (0.5, 0.13, 1.0),
    "minimal": (1.15, 0.19, 1.0),
    "dramatic": (0.72, 0.10, 1.1),
    "outline": (1.5, 0.10, 1.0),
}


def render_flight(job: Job, progress: Progress) -> Asset:
    """Render a job of the fly-through model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, painter="flight", moves=MOVES)
    camera = brief.camera or ("high" if "from_above" in brief.things else "glide")
    take = replace(read_take(values, frame_size(values)), camera=camera)
    said = [kind for kind in ("hills", "canyon") if f"flown_{kind}" in brief.things]
    kind = values["land"]
    if kind == "auto":
        kind = said[0] if said else _FAMILIES.get(brief.family, "alps")
    flight = Flight(brief, kind, take, progress.part(0.0, 0.1))
    facts = {**brief.facts(), "land": kind, "camera": camera}
    drawing = progress.part(0.1, 1.0)
    return record(job, drawing, take, flight.frame, name="flythrough", metadata=facts, light=True)


class Flight:
    """A flight over land that can be seen at any frame."""

    def __init__(self, brief: Brief, kind: str, take: Take, progress: Progress) -> None:
        self._take = take
        rng = [np.random.default_rng([brief.seed, 70 + part]) for part in range(8)]
        self._look = look = look_for(brief)
        terrain = make_terrain(kind, rng[0], progress.part(0.0, 0.5))
        self._lead = min(round(_DISSOLVE * take.fps) if take.loop else 0, take.frames // 3)
        words = (*brief.composition, *brief.tones)
        side = min(_SHARES, key=lambda side: abs(side - min(take.width, take.height)))
        columns, rows = (2 * round(_SHARES[side] * size / 2) for size in (take.width, take.height))
        # A tall frame sees as much upward as a wide one sees to the sides, a little less.
        widest = _WIDEST * min(1.0, (columns / rows) ** 0.6)
        widest *= math.prod(_WORDS[word][2] for word in words if word in _WORDS)
        down = 2 * widest * rows / columns
        self._poses, near = _route(terrain, take, words, self._lead, down, rng[1])
        poses = self._poses
        box = box_of(poses, widest)
        self._slices = spread_slices(max(NEAR, near), END, 195 + rows // 6, 0.3, _WOODED[kind])
        self._size, self._focal = (columns, rows), columns / 2 / widest
        self._heights = height_levels(terrain.surface, box)
        turn = 1.0 if rng[2].random() < 0.5 else -1.0
        # A low sun is worth being seen; a high one lights best from the side.
        turn *= 1.9 if look.elevation >= 0.4 else 0.0 if "centered" in words else 0.36
        ahead = poses[len(poses) // 2].heading
        sun = ahead + turn
        # Land is lit from farther aside than where the sun is seen: it would only show its shade.
        aside = sun + math.copysign(_ASIDE, turn)
        way = unit((math.sin(aside), math.cos(aside), look.high_light))
        colors = paint_terrain(terrain, brief, look, way, rng[3], progress.part(0.5, 0.9))
        grain = make_grain(terrain, way, rng[5])
        turned = abs(math.tan(ahead)) > 1
        self._colors = ColorLevels(colors, box, self._focal, grain, turned=turned)
        headings = [at.heading for at in poses]
        aside = max(_WIDEST, widest) + 0.05
        span = (min(headings) - aside, max(headings) + aside)
        top = max(at.horizon for at in poses) * rows / self._focal + 0.05
        self._sky = SkyStrip(look, span, sun, self._focal, top, rng[4])
        self._water = None
        if terrain.wet:
            shine = np.broadcast_to(tone.light(look.sun, 2.5), (3, 1, 1))
            color = develop_colors(np.asarray(shine, np.float32), look)[0, 0]
            glitter = min(1.0, look.glow + 0.2) if look.elevation > 0 and look.disc else 0.0
            self._water = MovingWater(rng[6], shine=color, sun=sun, glitter=glitter)
        self._weather = None
        if brief.weather in ("rain", "snow"):
            size = (take.width, take.height)
            self._weather = Weather(brief.weather, size, rng[7], take.seconds, take.loop)
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, lead = self._take, self._lead
        out = self._enlarge(self._compose(number + lead, number / take.fps)[0])
        before = number - take.frames + lead
        if before >= 0:
            # The last moments dissolve into those that lead up to the first frame.
            other = self._compose(before, (number - take.frames) / take.fps)[0]
            share = (before + 1) / (lead + 1)
            out = cv2.addWeighted(out, 1 - share, self._enlarge(other), share, 0.0)
        if self._weather is not None:
            self._weather.draw(views(out, take.width, take.height), number / take.frames)
        return out

    def paint(self, number: int = 0) -> Painting:
        """Return a frame as a painting, as bright as it is shown: a still is the first one."""
        picture, view, wet = self._compose(number, 0.0)
        water = np.zeros_like(view.z)
        water[view.first :] = wet * np.float32(1 / 255)
        depth = np.where(view.sky, np.float32(np.inf), _METERS * view.z)
        size = (self._take.width, self._take.height)
        sky, water = (cv2.resize(one, size) for one in (view.sky.astype(np.float32), water))
        return Painting(
            light=tone.decoded(rgb_of(self._enlarge(picture))),
            film=tone.Film(filmic=False, vignette=0.0, grain=0.0),
            depth=np.asarray(cv2.resize(depth, size, interpolation=cv2.INTER_NEAREST)),
            sky=np.asarray(sky),
            water=np.asarray(water),
        )

    def _enlarge(self, picture: Bytes) -> Bytes:
        width, height = self._take.width, self._take.height
        luma, red, blue = cv2.split(picture)
        out = np.empty((height * 3 // 2, width), np.uint8)
        planes = zip((luma, blue, red), views(out, width, height), RANGES, strict=True)
        for source, target, (scale, start) in planes:
            limited = cv2.convertScaleAbs(source, alpha=scale, beta=start)
            cv2.resize(limited, target.shape[::-1], dst=target, interpolation=cv2.INTER_CUBIC)
        return out

    def _compose(self, number: int, seconds: float) -> tuple[Bytes, View, Bytes]:
        """Return land, sky and water, see `develop_colors`; the view, and where it is wet."""
        (columns, rows), at = self._size, self._poses[number]
        level, lean = at.horizon * rows, math.tan(at.bank)
        camera = Camera(columns, rows, self._focal, level, at.height, lean)

        def heights(x: Floats, z: Floats) -> Floats:
            return self._heights(*at.to_world(x, np.ascontiguousarray(z)), self._slices)

        view = trace(heights, camera, self._slices, Progress())
        first = view.first
        z, height, sky = view.z[first:], view.height[first:], view.sky[first:]
        inverse, (x, y) = np.asarray(np.float32(1) / z), at.to_world(view.x[first:], z)
        colors = self._colors.look_up(x, y, inverse)
        wet = np.asarray(cv2.LUT(cv2.extractChannel(colors, 3), _WET))
        # Between two slices the foot of a shore has the colors of the water before it.
        np.copyto(wet, 0, where=sky | (height > _FOOT))
        fog = np.empty_like(z)
        for band in bands(len(fog)):
            fog[band] = _fog(self._look, z[band], height[band])
        air = np.empty((len(z), columns, 3), np.uint8)
        air[:] = self._sky.air(at.heading, camera.across)
        land = cv2.blendLinear(cv2.cvtColor(colors, cv2.COLOR_BGRA2BGR), air, 1 - fog, fog)
        low = min(rows, first + _last_row(sky) + 2)
        picture = np.empty((rows, columns, 3), np.uint8)
        picture[:low] = self._sky.look_up(at.heading, camera, low)
        cv2.copyTo(picture[first:low], sky[: low - first].view(np.uint8), land[: low - first])
        picture[first:] = land
        soften_edges(picture.transpose(2, 0, 1)[:1], view.edge)
        top = len(wet) - 1 - _last_row(wet[::-1])
        if self._water is None or top >= len(wet) - 2:
            return picture, view, wet
        half = cv2.resize(picture, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
        start, water = self._water.mirror(
            np.asarray(half), (inverse, x, y), camera, at.heading, seconds, (first, first + top)
        )
        rest = slice(start - first, None)
        share = wet[rest] * np.float32(1 / 255)
        water = cv2.resize(water, share.shape[::-1], interpolation=cv2.INTER_LINEAR)
        # The mirror already holds the fog of what it shows; a part of the way to it is left.
        thin = np.float32(0.45) * fog[rest]
        water = cv2.blendLinear(water, air[rest], 1 - thin, thin)
        picture[start:] = cv2.blendLinear(picture[start:], water, 1 - share, share)
        return picture, view, wet


def _fog(look: HourLook, distance: Floats, height: Floats) -> Floats:
    """Return how much of each point is lost in the air; the world's last ridges fade out."""
    fog = haze(look, distance, height, _MIST * look.mist, _CLEAR)
    if distance.max() > _FADES * END:
        far = np.clip((distance * np.float32(1 / END) - _FADES) / (1 - _FADES), 0.0, 1.0)
        fog += (1 - fog) * far * far
    return fog


def _last_row(plane: NDArray[Any]) -> int:
    """Return the last row that is not empty; -1: all are."""
    rows = np.flatnonzero(plane.any(axis=1))
    return int(rows[-1]) if len(rows) else -1


def _route(
    terrain: Terrain,
    take: Take,
    words: Collection[str],
    lead: int,
    down: float,
    rng: np.random.Generator,
) -> tuple[list[CameraPose], float]:
    """Return where the camera is at each frame, and a distance nearer than any ground in sight.

    It is always above the ground that it comes to; `down` is the height of a frame, a tangent.
    """
    frames, move = take.frames + lead, MOVES[take.camera]
    start_x, start_y, start = _start(terrain, rng)
    pace = _SPEED * (0.15 + 0.85 * take.motion) * (take.motion > 0) * move.pace
    far = np.linspace(0.0, pace * frames / take.fps, frames)
    if take.camera == "orbit":
        heading = start + far / _RADIUS
        x = _RADIUS * (math.sin(start) - np.sin(heading))
        y = _RADIUS * (math.cos(start) - np.cos(heading))
    else:
        heading = start + move.swing * np.sin(far / 74.0)
        step = np.diff(far, prepend=0.0)
        x, y = np.cumsum(np.sin(heading) * step), np.cumsum(np.cos(heading) * step)
    x, y = x + start_x, y + start_y
    share = np.linspace(1.0, 0.0, frames) if move.descends else np.linspace(0.0, 1.0, frames)
    share = share * share * (3 - 2 * share) * take.motion
    own = move.height + move.climb * share
    framed = [_WORDS[word] for word in words if word in _WORDS]
    clearance = np.maximum(own * math.prod(f[0] for f in framed), np.minimum(own, _LEAST))
    horizon = move.horizon + move.tilt * share
    # Far down in a tall frame there is only what lies right below, often nothing but water.
    lower = sum(f[1] for f in framed) + 0.08 * (take.height > 1.4 * take.width)
    if "thirds" in words:
        lower = (1 / 3 if take.camera == "high" else 2 / 3) - float(np.median(horizon))
    if lower:
        horizon = np.clip(horizon + lower, _HIGHEST, _LOWEST)
    clearance += _OVER.get(terrain.kind, 0.0)
    height = _clear(terrain, x, y, heading, take.fps) + clearance
    bank = np.zeros_like(far)
    if frames > 2:  # it leans into turns as an airplane does, no more than a few degrees
        turning = np.gradient(heading)[None] * take.fps
        sigma, border = max(1.0, 0.35 * take.fps), cv2.BORDER_REPLICATE
        bank = np.clip(
            0.26 * cv2.GaussianBlur(turning, (0, 0), sigma, borderType=border)[0], -0.05, 0.05
        )
    places = zip(x, y, heading, height, horizon, bank, strict=True)
    near = 0.6 * (clearance / ((1 - horizon) * down + 0.1)).min()
    return [CameraPose(*map(float, values)) for values in places], float(near)


def _start(terrain: Terrain, rng: np.random.Generator) -> tuple[float, float, float]:
    """Try places and directions: open ground in front, a lively skyline, a part of it water."""
    tries = [(x * SPAN, y * SPAN, turn * 2 * math.pi) for x, y, turn in rng.random((48, 3))]
    return max(tries, key=lambda start: _worth(terrain, *start))


def _worth(terrain: Terrain, x: float, y: float, heading: float) -> float:
    away = np.geomspace(9, 700, 90)[:, None]
    place = (np.array(value) for value in (x, y, heading))
    tops = _fan(terrain, *place, away, np.linspace(-0.6, 0.6, 40)[None])
    up = (tops - float(terrain.top(np.array(x), np.array(y))) - 22.0) / away
    near, far = up[away[:, 0] < 140].max(axis=0), up[away[:, 0] >= 200].max(axis=0)
    worth = 3 * min(float(far.max()), 0.34) + 4 * float(far.std()) - 4 * abs(far.mean() - 0.11)
    worth -= 3 * max(0.0, float(up.max()) - 0.36) + 4 * max(0.0, float(near.max()) + 0.03)
    if terrain.wet:
        seen = (up >= np.maximum.accumulate(up, axis=0) - 1e-6) & (away < 320)
        wet = ((tops <= 0) & seen).sum() / max(1, seen.sum())
        worth -= 2.5 * abs(wet - _WATERS.get(terrain.kind, 0.33))
    return float(worth)


def _fan(terrain: Terrain, *places: NDArray[Any]) -> Floats:
    """Return heights ahead of places: x, y and heading, distances, and tangents aside."""
    x, y, heading, away, across = places
    forward, aside = np.sin(heading), np.cos(heading)
    return terrain.top(x + away * (forward + across * aside), y + away * (aside - across * forward))


def _clear(
    terrain: Terrain, x: NDArray[Any], y: NDArray[Any], heading: NDArray[Any], rate: float
) -> NDArray[Any]:
    """Return heights that clear what lies on the next stretch of the way, without a jolt."""
    ahead = np.arange(0.0, _AHEAD, 5.0)[:, None]
    tops = _fan(terrain, x, y, heading, ahead, np.linspace(-0.25, 0.25, 5)[:, None, None])
    # What is far ahead is still to be climbed over: it counts a little less.
    highest = (tops - 0.10 * ahead).max(axis=(0, 1))
    # Widened before it is smoothed, the path never cuts through what it was to clear.
    reach = max(1, round(0.8 * rate))
    wide = np.pad(highest, 2 * reach, mode="edge")
    wide = np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1).max(axis=1)
    kernel = np.hanning(2 * reach + 3)[1:-1]
    return np.convolve(wide, kernel / kernel.sum(), "valid")
