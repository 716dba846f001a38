"""Living scenes: painted once per hour, then animated with camera, air and light."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import CAMERAS, Take, read_take, record, view_at
from kit.engines.film.motions import Clouds, Flicker, LayerCanvas, MotionLayer, Ripples, Shimmer
from kit.engines.film.parallax import (
    Blocks,
    DepthRelief,
    add_border,
    blocks_of,
    fill_quads,
    padded_size,
    pair_columns,
)
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.falling import kind_of
from kit.engines.painting.families import paint
from kit.engines.painting.painting import Painting
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_MAX_SIDE = 1600  # pixels of the longer side of the painting
_DEPTH_SIDE = 192  # pixels of the longer side of a depth map: soft ones do not tear
_HOURS = {
    "fixed": (),
    "day_to_night": ("day", "sunset", "night"),
    "night_to_day": ("night", "dawn", "day"),
}
_DARK_HOURS = ("dusk", "night")  # hours with northern lights and stars


def render_living_scene(job: Job, progress: Progress) -> Asset:
    """Render a job of the living-scene model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, moves=CAMERAS)
    camera = brief.camera or "push"
    take = replace(read_take(values, frame_size(values)), camera=camera)
    width, height = padded_size(take)
    scale = min(1.0, _MAX_SIDE / max(width, height))
    brief = replace(brief, width=round(width * scale), height=round(height * scale))
    hours, air = _HOURS[brief.hours] or (brief.hour,), _weather(brief, values["weather"])
    if brief.closed_sky and {"sun", "fire"}.isdisjoint(brief.lights):
        hours = tuple("dusk" if hour == "sunset" else hour for hour in hours)
    end = 0.10 + 0.06 * len(hours)
    step = end / len(hours)
    paintings = [
        paint(_without_motion(brief, hour), progress.part(number * step, (number + 1) * step))
        for number, hour in enumerate(hours)
    ]
    progress.report(end)
    living = Living(brief, paintings, take, hours=hours, clouds=values["clouds"])
    facts = {**brief.facts(), "camera": camera, "weather": air, "hours": list(hours)}
    drawing = progress.part(end + 0.03, 1.0)
    draw = living.frame
    return record(job, drawing, take, draw, name="living-scene", metadata=facts, weather=air)


class Living:
    """A painted scene that can be rendered at any frame."""

    def __init__(
        self,
        brief: Brief,
        paintings: Sequence[Painting],
        take: Take,
        *,
        hours: Sequence[str] = (),
        clouds: bool = True,
    ) -> None:
        self._take = take
        rngs = [np.random.default_rng([brief.seed, 40 + part]) for part in range(4)]
        # The night painting has the clearest lights, and lava that glows at night does not by day.
        first = paintings[0]
        self._dark = hours.index("night") if "night" in hours else 0
        night = paintings[self._dark]
        near = _nearness(first.depth, first.light.shape[1:])
        self._relief = DepthRelief(near, take)
        self._paintings = [self._relief.planes(painting.pixels()) for painting in paintings]
        canvas = LayerCanvas(self._relief.width, self._relief.height, first.light.shape[1:], take)
        moving = max(paintings, key=lambda painting: len(painting.motions))
        self._layers: list[MotionLayer] = []
        sky = first.sky
        if sky is not None and (dense := _density(brief)) and clouds:
            self._layers.append(Clouds(sky, dense, canvas, rngs[0]))
        if night.emitters is not None:
            over = np.zeros_like(night.emitters) if sky is None else (sky > 0.5).astype(np.float32)
            for stars in (True, False):
                lights = night.emitters * (over if stars else 1 - over)
                if lights.max() > 0.1:
                    self._layers.append(Flicker(lights, canvas, rngs[1 + stars], stars=stars))
        for number, motion in enumerate(moving.motions):
            rng = np.random.default_rng([brief.seed, 60 + number])
            self._layers.append(Shimmer(motion, moving, canvas, rng))
        rows = max((layer.rows for layer in self._layers), default=0)
        self._rows = min(self._relief.height, rows + rows % 2)
        self._ripples = _ripples(brief, first, near, take, self._relief, rngs[3])
        self._set_planes(self._paintings[0])

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, moment = self._take, self._take.moment(number)
        out = np.empty((take.height * 3 // 2, take.width), np.uint8)
        frame = views(out, take.width, take.height)
        displace = None if self._ripples is None else partial(self._ripples.displace, moment)
        seen = view_at(take, number)
        self._relief.view(self._draw_layers(moment), seen, displace).spread(frame)
        return out

    def _set_planes(self, planes: Frame) -> None:
        self._blocks = blocks_of(planes)
        self._planes: Frame = add_border(planes[0]), planes[1], planes[2]

    def _draw_layers(self, moment: float) -> Blocks:
        night = 1.0
        if len(self._paintings) > 1:
            position = 0.5 - 0.5 * math.cos(2 * math.pi * moment) if self._take.loop else moment
            place = min(max(position, 0.0), 1.0) * (len(self._paintings) - 1)
            first = min(int(place), len(self._paintings) - 2)
            # Each hour is held for a while: a blend of two is neither.
            share = float(smooth_step(0.15, 0.85, np.array(place - first)))
            one, other = self._paintings[first : first + 2]
            self._set_planes(tuple(
                cv2.addWeighted(before, 1 - share, after, share, 0.0)
                for before, after in zip(one, other, strict=True)
            ))  # fmt: skip
            night = {first: 1.0 - share, first + 1: share}.get(self._dark, 0.0)
        if rows := self._rows:
            # Includes the row below: the last one's blocks reach into it.
            luma = self._planes[0][: rows + 1].copy()
            tints = [tint[: rows // 2].copy() for tint in self._planes[1:]]
            planes = (luma[:rows, :-1], tints[0], tints[1])
            for layer in self._layers:
                share = night if layer.night else 1.0
                if share > 0.0:
                    layer.draw(planes, moment, share)
            luma[:, -1] = luma[:, -2]
            fill_quads(luma, self._blocks.luma[:rows])
            self._blocks.chroma[: rows // 2] = pair_columns(*tints)
        return self._blocks


def _nearness(depth: Floats | None, shape: tuple[int, int]) -> Floats:
    scale = _DEPTH_SIDE / max(shape)
    size = (round(shape[1] * scale), round(shape[0] * scale))
    if depth is None or not np.isfinite(depth).any():
        return np.full(size[::-1], 0.5, np.float32)
    closest = np.percentile(depth[np.isfinite(depth)], 2)
    near = np.minimum(closest / np.maximum(depth, 1e-3), 1.0).astype(np.float32) ** np.float32(0.6)
    near = cv2.resize(near, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(cv2.dilate(near, np.ones((3, 3), np.uint8)), (0, 0), 1.2))


def _density(brief: Brief) -> float:
    if brief.family in ("space", "poster") or brief.weather == "fog":
        return 0.0
    if "minimal" in brief.composition or "cloudless" in brief.things:
        return 0.0
    return 0.45 if "dark" in brief.tones or brief.mood == "gloomy" else 1.0


def _without_motion(brief: Brief, hour: str) -> Brief:
    weather = brief.weather
    if weather == "mist" and brief.family == "lake" and "fog" not in brief.things:
        weather = "clear"  # random mist suits a still; in motion it hides moving things
    hidden = ("fireflies",) if hour in _DARK_HOURS else ("fireflies", "aurora")
    things = brief.things.difference(hidden)
    return replace(brief, hour=hour, weather=weather, things=things, falling=False)


def _weather(brief: Brief, asked: str) -> str:
    if asked != "auto":
        return asked
    if brief.family in ("liquid", "flow", "space"):
        return "none"
    if brief.family == "desert" and brief.weather in ("mist", "rain", "snow"):
        return "dust"
    if kind := kind_of(brief):
        return kind
    # Fog only if the prompt asks for it: random fog is already in the painting.
    said = brief.weather == "fog" or (brief.weather == "mist" and "fog" in brief.things)
    return "fog" if said else "none"


def _ripples(
    brief: Brief,
    painting: Painting,
    near: Floats,
    take: Take,
    relief: DepthRelief,
    rng: np.random.Generator,
) -> Ripples | None:
    if brief.family in ("liquid", "flow"):
        amount = np.full((2, 2), 0.004 + 0.012 * take.motion, np.float32)
        return Ripples(amount, (3, 4), take, relief, rng)
    if painting.water is None or not painting.water.any():
        return None
    water = cv2.resize(painting.water, near.shape[::-1], interpolation=cv2.INTER_AREA)
    if painting.still:
        return Ripples((0.0006 + 0.0022 * near) * water, (48, 10), take, relief, rng)
    return Ripples(0.018 * near * water, (12, 5), take, relief, rng)
