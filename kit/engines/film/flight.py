"""Flights: the land of a still is lit once, and each frame views it from another place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.film import levels
from kit.engines.film.filming import Take, read_take, record
from kit.engines.media.clip import views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import tone
from kit.engines.painting.camera import Camera, soften_edges, spread_slices, trace
from kit.engines.painting.land import desert, forest, lake, sea
from kit.engines.painting.land.ground import Land
from kit.engines.painting.land.landscape import SPAN, Landscape
from kit.engines.painting.land.terrain import (
    OPEN_GROUND,
    RANGES,
    Terrain,
    develop_colors,
    make_terrain,
    paint_terrain,
)  # fmt: skip
from kit.engines.painting.land.water import MovingWater
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

#: Shorter side of the frame -> share of its pixels that are rendered before enlarging.
_SHARES = {360: 1.0, 480: 0.85, 720: 0.66, 1080: 0.55}
_DISSOLVE_SECONDS = 0.8  # seconds of a loop's dissolve into its start
#: Family -> the function that lays out its land.
_LAYOUTS: dict[str, Callable[[Brief, Progress], Land]] = {
    "lake": lake.lay_out,
    "desert": desert.lay_out,
    "forest": forest.lay_out,
    "sea": sea.lay_out,
}
#: A land's name -> its family and defining objects.
_LANDS = {
    "alps": ("lake", {"heights", "open_water"}),
    "hills": ("lake", {"hills"}),
    "forest": ("forest", set()),
    "islands": ("sea", {"islands"}),
    "desert": ("desert", {"dunes"}),
    "canyon": ("desert", {"rocks"}),
}
_SHAPES = frozenset(
    ("heights", "open_water", "hills", "islands", "cliffs", "beach", "palms", "dunes", "rocks")
)
#: From the fourth channel of a land's colors to the amount of water.
_TO_WATER = np.clip(
    (np.arange(256) - OPEN_GROUND - levels.OVERSHOOT) * (255 / (127 - levels.OVERSHOOT)), 0, 255
).astype(np.uint8)

_FADE = 0.68  # share of the maximum distance from which the land fades out
_WATER_EDGE = 0.3  # height above the water from which there is none
_SPEED = 44.0  # meters per second at full motion
_LOOK_AHEAD = 80.0  # meters that the pilot looks ahead
_DESCENT_METERS = 70.0  # meters of flight from the height of the still's camera to its own
_MIN_HEIGHT = 2.5  # minimum meters above the ground
_MIN_HORIZON, _MAX_HORIZON = 0.14, 0.86  # share of the frame in which a shifted horizon stays
_RADIUS = 170.0  # meters of a circle around a place
_WOODED, _TALL = 0.4, 3.0  # share of ground slices with trees of such a height, in meters


@dataclass(frozen=True, slots=True)
class _Move:
    """The motion of a camera."""

    pace: float = 1.0  # factor on the speed
    swing: float = 0.0  # radians to both sides
    height: float = 17.0  # meters above the ground nearby
    #: Change of the height, and of the horizon as a share of the frame, at full motion: at the
    #: end, or for a descent at the start.
    climb: float = 0.0
    tilt: float = 0.0
    descends: bool = False


MOVES = {
    "forward": _Move(swing=0.03),
    "glide": _Move(swing=0.34),
    "skim": _Move(1.15, 0.24, 7),
    "high": _Move(1.25, 0.16),
    "rise": _Move(0.55, 0.08, 15, 85, -0.26),
    "descend": _Move(0.8, 0.12, 9, 82, -0.22, descends=True),
    "orbit": _Move(1.25, height=30),
    "still": _Move(0.0),
}


def render_flight(job: Job, progress: Progress) -> Asset:
    """Render a job of the fly-through model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, painter="flight", moves=MOVES)
    camera = brief.camera or "glide"
    take = replace(read_take(values, frame_size(values)), camera=camera)
    flight = Flight(brief, take, progress.part(0.0, 0.1), values["land"])
    facts = {**brief.facts(), "land": flight.land, "camera": camera}
    drawing = progress.part(0.1, 1.0)
    air = brief.weather if brief.weather in ("rain", "snow") else "none"
    return record(job, drawing, take, flight.frame, name="flythrough", metadata=facts, weather=air)


def _flight_brief(brief: Brief, take: Take, name: str) -> Brief:
    """Return the brief of a flight's land, based on that of a still.

    Three things differ from a still: woods are crowns seen from above, islands are targets in
    an open sea and before a beach, and there are no palms, whose crowns would be a hill.
    """
    brief = replace(brief, width=take.width, height=take.height, detail="standard")
    if name in _LANDS:
        family, things = _LANDS[name]
        brief = replace(brief, family=family, things=brief.things - _SHAPES | things)
    if brief.family not in _LAYOUTS:
        brief = replace(brief, family="lake")
    if brief.family == "sea" and "palms" in brief.things:
        brief = replace(brief, things=brief.things - {"palms"} | {"beach", "tropical"})
    if brief.family == "sea" and sea.shore_of(brief) in ("none", "beach"):
        brief = replace(brief, things=brief.things | {"islands"})
    if take.camera == "high" and "high" not in brief.composition:
        high = read("from high above", {}, 0)
        words = (*brief.composition, *high.composition)
        brief = replace(brief, composition=words, horizon=brief.horizon + high.horizon)
    return brief


class Flight:
    """A flight over land that can be rendered at any frame."""

    def __init__(self, brief: Brief, take: Take, progress: Progress, name: str = "auto") -> None:
        self._take = take
        brief = _flight_brief(brief, take, name)
        rng = [np.random.default_rng([brief.seed, 70 + part]) for part in range(4)]
        land = _LAYOUTS[brief.family](brief, progress.part(0.0, 0.2))
        self._scene = scene = land.scene
        self.land = name if name in _LANDS else brief.family
        terrain = make_terrain(land, rng[0], progress.part(0.2, 0.5))
        self._lead = min(round(_DISSOLVE_SECONDS * take.fps) if take.loop else 0, take.frames // 3)
        side = min(_SHARES, key=lambda side: abs(side - min(take.width, take.height)))
        columns, rows = (2 * round(_SHARES[side] * size / 2) for size in (take.width, take.height))
        self._size, self._focal = (columns, rows), scene.camera.focal * columns / take.width
        self._poses, near = _route(terrain, take, self._lead)
        poses, widest = self._poses, scene.camera.widest
        box = levels.box_of(poses, widest)
        wooded = _WOODED * bool(terrain.woods.any() and land.woods.tall[1] > _TALL)
        self._slices = spread_slices(
            near, levels.END, 205 + rows // 6, 0.4 if wooded else 0.6, wooded
        )
        self._heights = levels.height_levels(terrain.surface, box)
        colors = paint_terrain(terrain, rng[1], progress.part(0.5, 0.9))
        grain = levels.make_grain(terrain, rng[2])
        self._colors = levels.ColorLevels(colors, box, self._focal, grain)
        headings = [at.heading for at in poses]
        span = (min(headings) - widest - 0.05, max(headings) + widest + 0.05)
        top = max(at.horizon for at in poses) * rows / self._focal + 0.05
        self._sky = levels.SkyStrip(scene, span, self._focal, top)
        self._water, look = None, scene.look
        if terrain.has_water:
            shine = np.broadcast_to(tone.light(look.sun, 2.5), (3, 1, 1))
            color = develop_colors(np.asarray(shine, np.float32), look)[0, 0]
            glitter = min(1.0, look.glow + 0.2) if look.elevation > 0 and look.disc else 0.0
            sun = math.atan((scene.sun.x - scene.camera.middle) / scene.camera.focal)
            self._water = MovingWater(rng[3], shine=color, sun=sun, glitter=glitter)
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, lead = self._take, self._lead
        out = self._enlarge(self._compose(number + lead, number / take.fps))
        before = number - take.frames + lead
        if before >= 0:
            # The last frames dissolve into those before the first frame.
            other = self._compose(before, (number - take.frames) / take.fps)
            share = (before + 1) / (lead + 1)
            out = cv2.addWeighted(out, 1 - share, self._enlarge(other), share, 0.0)
        return out

    def _enlarge(self, picture: Bytes) -> Bytes:
        width, height = self._take.width, self._take.height
        luma, red, blue = cv2.split(picture)
        out = np.empty((height * 3 // 2, width), np.uint8)
        planes = zip((luma, blue, red), views(out, width, height), RANGES, strict=True)
        for source, target, (scale, start) in planes:
            limited = cv2.convertScaleAbs(source, alpha=scale, beta=start)
            cv2.resize(limited, target.shape[::-1], dst=target, interpolation=cv2.INTER_CUBIC)
        return out

    def _compose(self, number: int, seconds: float) -> Bytes:
        """Return land, sky and water, see `develop_colors`."""
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
        wet = np.asarray(cv2.LUT(cv2.extractChannel(colors, 3), _TO_WATER))
        # Between two slices the foot of a shore has the colors of the water before it.
        np.copyto(wet, 0, where=sky | (height > _WATER_EDGE))
        fog = np.empty_like(z)
        for band in levels.row_bands(len(fog)):
            fog[band] = _fog(self._scene, z[band], height[band])
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
            return picture
        half = cv2.resize(picture, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
        start, water = self._water.mirror(
            np.asarray(half), (inverse, x, y), camera, at.heading, seconds, (first, first + top)
        )
        rest = slice(start - first, None)
        share = wet[rest] * np.float32(1 / 255)
        water = cv2.resize(water, share.shape[::-1], interpolation=cv2.INTER_LINEAR)
        # The reflection already includes the fog of its objects; a part of the distance remains.
        thin = np.float32(0.25) * fog[rest]
        water = cv2.blendLinear(water, air[rest], 1 - thin, thin)
        picture[start:] = cv2.blendLinear(picture[start:], water, 1 - share, share)
        return picture


def _fog(scene: Landscape, distance: Floats, height: Floats) -> Floats:
    """Return the fog at each point; the world's last ridges fade out."""
    fog = scene.haze(distance, height)
    # Colors are blended encoded, not as linear light, which needs more fog.
    fog *= np.float32(1.25) - np.float32(0.25) * fog
    if distance.max() > _FADE * levels.END:
        far = np.clip((distance * np.float32(1 / levels.END) - _FADE) / (1 - _FADE), 0.0, 1.0)
        fog += (1 - fog) * far * far
    return fog


def _last_row(plane: NDArray[Any]) -> int:
    """Return the last row that is not empty; -1 if all are."""
    rows = np.flatnonzero(plane.any(axis=1))
    return int(rows[-1]) if len(rows) else -1


def _route(terrain: Terrain, take: Take, lead: int) -> tuple[list[levels.CameraPose], float]:
    """Return the camera's pose at each frame, and a distance nearer than any visible ground.

    It starts at the still's viewpoint, or for a descent high up, and always stays above the
    ground.
    """
    frames, move, scene = take.frames + lead, MOVES[take.camera], terrain.land.scene
    camera, level = scene.camera, max(terrain.land.level, 0.0)
    pace = _SPEED * (0.15 + 0.85 * take.motion) * (take.motion > 0) * move.pace
    far = np.linspace(0.0, pace * frames / take.fps, frames)
    far -= far[lead]  # the first shown frame is the still; the frames before it are behind
    if take.camera == "orbit":
        heading = far / _RADIUS
        x, y = _RADIUS * (1 - np.cos(heading)), _RADIUS * np.sin(heading)
    else:
        heading, step = move.swing * np.sin(far / 74.0), np.diff(far, prepend=0.0)
        x, y = np.cumsum(np.sin(heading) * step), np.cumsum(np.cos(heading) * step)
    # It turns toward the subject of the still.
    side = 1.0 if scene.subject > 0 else -1.0
    x, y, heading = SPAN / 2 + side * (x - x[lead]), y - y[lead], side * heading
    share = np.linspace(1.0, 0.0, frames) if move.descends else np.linspace(0.0, 1.0, frames)
    share = share * share * (3 - 2 * share) * take.motion
    horizon = camera.horizon / take.height + move.tilt * share
    if move.tilt:
        horizon = np.clip(horizon, _MIN_HORIZON, _MAX_HORIZON)
    least = max(camera.height, move.height * (0.6 if "low" in scene.words else 1.0))
    own = least + move.climb * share
    height = _safe_heights(terrain, x, y, heading, take.fps) + own
    if not move.descends:
        start = camera.height - level
        height = start + (height - start) * smooth_step(0.0, _DESCENT_METERS, far)
    height = np.maximum(height, terrain.top(x, y) + _MIN_HEIGHT)
    bank = np.zeros_like(far)
    if frames > 2:  # it banks in turns like an airplane, by a few degrees at most
        turning = np.gradient(heading)[None] * take.fps
        sigma, border = max(1.0, 0.35 * take.fps), cv2.BORDER_REPLICATE
        bank = np.clip(
            0.26 * cv2.GaussianBlur(turning, (0, 0), sigma, borderType=border)[0], -0.05, 0.05
        )
    places = zip(x, y, heading, height, horizon, bank, strict=True)
    return [levels.CameraPose(*map(float, values)) for values in places], 0.26 * camera.nearest


def _safe_heights(
    terrain: Terrain, x: NDArray[Any], y: NDArray[Any], heading: NDArray[Any], rate: float
) -> NDArray[Any]:
    """Return heights that clear the ground on the next stretch of the way, smoothly."""
    ahead = np.arange(0.0, _LOOK_AHEAD, 5.0)[:, None]
    across = np.linspace(-0.25, 0.25, 5)[:, None, None]
    forward, aside = np.sin(heading), np.cos(heading)
    tops = terrain.top(
        x + ahead * (forward + across * aside), y + ahead * (aside - across * forward)
    )
    # Distant ground can still be climbed over: it counts a little less.
    highest = (tops - 0.10 * ahead).max(axis=(0, 1))
    # Widened before smoothing, so that the path never cuts through the ground.
    reach = max(1, round(0.8 * rate))
    wide = np.pad(highest, 2 * reach, mode="edge")
    wide = np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1).max(axis=1)
    kernel = np.hanning(2 * reach + 3)[1:-1]
    return np.convolve(wide, kernel / kernel.sum(), "valid")
