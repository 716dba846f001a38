"""A journey: the land is made and lit once, then every frame looks at it from another place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.clip import rgb_frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.scene.brief import Brief, read
from kit.engines.scene.land import tone
from kit.engines.scene.land.look import Look, look_for
from kit.engines.scene.land.tinting import of_land, of_water
from kit.engines.video.directions import camera_for
from kit.engines.video.filming import Take, filmed, take_of
from kit.engines.video.flythrough.air import Air, faded
from kit.engines.video.flythrough.covers import cover_of, tinted
from kit.engines.video.flythrough.eye import WIDEST, Eye, Seen, softened
from kit.engines.video.flythrough.grain import grains, walls
from kit.engines.video.flythrough.ground import colored, light_of
from kit.engines.video.flythrough.heaven import heaven
from kit.engines.video.flythrough.lake import Lake, View
from kit.engines.video.flythrough.near import Near
from kit.engines.video.flythrough.patches import Atlas, box_of, repeated
from kit.engines.video.flythrough.relief import land
from kit.engines.video.flythrough.route import PILOTS, Station, route
from kit.engines.video.settings import frame_size
from kit.engines.video.sheets import views
from kit.engines.video.weather import Weather

#: Shorter side of the frame -> share of its pixels that are drawn before it is enlarged.
_SHARES = {360: 1.0, 480: 0.85, 720: 0.66, 1080: 0.55}
_ASIDE = 1.1  # radians between the sun in the sky and the light on the land
_DISSOLVE = 0.8  # seconds in which a loop goes over into its beginning
_LAYERS, _ALONG = 3.0, 1.4  # texels of rock to a unit of height, and of way
_LANDS = {
    "hills": "hill meadow countryside field valley tuscany pasture vineyard farm rolling highland",
    "canyon": "canyon mesa butte badlands gorge mars martian arizona",
}
_FAMILIES = {"lake": "alps", "desert": "desert", "forest": "forest", "sea": "islands"}


def travel(job: Job, progress: Progress) -> Asset:
    """Render a job of the fly-through model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, {**values, "size": 512}, job.seed)
    camera = camera_for(values["camera"], job.prompt, PILOTS, "glide")
    take = replace(take_of(values, frame_size(values)), camera=camera)
    kind = land_of(brief) if values["land"] == "auto" else values["land"]
    journey = Journey(brief, kind, take, progress.part(0.0, 0.1))
    facts = {"scene": {**brief.facts(), "family": kind}, "camera": camera}
    drawing = progress.part(0.1, 1.0)
    return filmed(job, drawing, take, journey.frame, name="flythrough", metadata=facts)


def land_of(brief: Brief) -> str:
    """Return the kind of land that a brief asks for; what is no land becomes mountains."""
    said = (kind for kind, words in _LANDS.items() if brief.says(*words.split()))
    return next(said, None) or _FAMILIES.get(brief.family, "alps")


class Journey:
    """A flight over a land that can be seen at any frame."""

    def __init__(self, brief: Brief, kind: str, take: Take, progress: Progress) -> None:
        self._take = take
        rng = [np.random.default_rng([brief.seed, 70 + part]) for part in range(8)]
        look = look_for(brief)
        ground = land(kind, rng[0], progress.part(0.0, 0.5))
        self._lead = round(_DISSOLVE * take.fps) if take.loop else 0
        self._lead = min(self._lead, take.frames // 3)
        count = take.frames + self._lead
        self._stations = route(ground, take.camera, count, count / take.fps, take.motion, rng[1])
        turn = _sun_turn(look, rng[2])
        sun = self._stations[count // 2].heading + turn
        # Land is lit from farther aside than where the sun is seen: it would only show its shade.
        lit = sun + math.copysign(_ASIDE, turn)
        light = light_of(look, (math.sin(lit), math.cos(lit)))
        cover = tinted(cover_of(kind, brief.season), of_land(brief), of_water(brief))
        colors = colored(ground, cover, look, light, rng[3], progress.part(0.5, 0.85))
        self._eye = _eye(take)
        box = box_of(self._stations, self._eye.widest)
        self._eye.over(ground.surface, box)
        progress.report(0.88)
        self._atlas = Atlas(
            colors, box, self._eye.focal, ground.woods, grains(kind, light.way, rng[5])
        )
        self._walls = walls(kind, rng[5])
        self._near = Near(kind, rng[5])
        progress.report(0.92)
        headings = [station.heading for station in self._stations]
        span = (min(headings) - WIDEST - 0.05, max(headings) + WIDEST + 0.05)
        self._heaven = heaven(look, span, sun, self._eye.focal, rng[4])
        self._air = Air(look, ground.water or 0.0)
        self._lake = None if ground.water is None else _lake(ground.water, look, sun, rng[6])
        size = (take.width, take.height)
        self._weather = (
            Weather(brief.weather, size, rng[7], take.seconds, take.loop)
            if brief.weather in ("rain", "snow")
            else None
        )
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, lead = self._take, self._lead
        out = self._drawn(number + lead, number / take.fps)
        before = number - take.frames + lead
        if before >= 0:
            # The last moments dissolve into those that lead up to the first frame.
            other = self._drawn(before, (number - take.frames) / take.fps)
            share = (before + 1) / (lead + 1)
            out = cv2.addWeighted(out, 1 - share, other, share, 0.0)
        if self._weather is not None:
            frame = views(out, take.width, take.height)
            self._weather.draw(frame, number / take.frames)
        return out

    def _drawn(self, number: int, seconds: float) -> Bytes:
        at, eye, take = self._stations[number], self._eye, self._take
        picture = self._seen(eye.look(at), at, seconds)
        frame = rgb_frame(picture)
        out = np.empty((take.height * 3 // 2, take.width), np.uint8)
        sources = views(frame, eye.columns, eye.rows)
        for source, target in zip(sources, views(out, take.width, take.height), strict=True):
            cv2.resize(source, target.shape[::-1], dst=target, interpolation=cv2.INTER_CUBIC)
        return out

    def _seen(self, seen: Seen, at: Station, seconds: float) -> Bytes:
        """Return land, sky and water."""
        eye = self._eye
        first = seen.first
        colors = self._atlas.seen(seen.x, seen.y, seen.inverse)
        wet = cv2.extractChannel(colors, 3)
        if self._walls is not None:
            _roughen(colors, self._walls, seen, wet)
        self._near.lay(colors, seen, at)
        wet[seen.sky] = 0
        low = min(eye.rows, first + _last(seen.sky) + 2)
        picture = np.empty((eye.rows, eye.columns, 3), np.uint8)
        air = self._heaven.air(at.heading, eye.across)
        fog = self._air.fog(seen, at.height)
        faded(cv2.cvtColor(colors, cv2.COLOR_RGBA2RGB), fog, air, picture[first:])
        sky = self._heaven.seen(at.heading, eye.across, eye.horizon(at), eye.focal, low)
        picture[:first] = sky[:first]
        cv2.copyTo(sky[first:], seen.sky[: low - first].view(np.uint8), picture[first:low])
        softened(picture, seen)
        if self._lake is not None and (top := _first(wet)) < len(wet) - 2:
            view = View(picture, seen, fog, air)
            start, water = self._lake.mirrored(view, eye, at, seconds, first + top)
            _flood(picture[start:], water, wet[start - first :])
        return picture


def _roughen(colors: Bytes, walls: Bytes, seen: Seen, wet: Bytes) -> None:
    """Give dry land the cracks and layers of rock by its height, in place; see `grain.walls`."""
    # Half the size is enough: what is near has its grain already.
    along = seen.x[::2, ::2] - seen.y[::2, ::2]
    along *= np.float32(_ALONG)
    rock = repeated(walls, along, seen.height[::2, ::2] * np.float32(_LAYERS))
    cv2.copyTo(np.full_like(rock, 128), np.ascontiguousarray(wet[::2, ::2]), rock)
    rock = cv2.resize(rock, wet.shape[::-1], interpolation=cv2.INTER_LINEAR)
    cv2.multiply(colors, rock, dst=colors, scale=1 / 128)


def _flood(picture: Bytes, water: Bytes, wet: Bytes) -> None:
    """Lay water over a picture, in place."""
    share = wet.astype(np.float32) * np.float32(1 / 255)
    picture[:] = cv2.blendLinear(picture, water, 1.0 - share, share)


def _first(plane: NDArray[Any]) -> int:
    """Return the first row that is not empty; as many as there are: all are."""
    rows = np.flatnonzero(plane.any(axis=1))
    return int(rows[0]) if len(rows) else len(plane)


def _last(plane: NDArray[Any]) -> int:
    """Return the last row that is not empty; -1: all are."""
    return len(plane) - 1 - _first(plane[::-1])


def _eye(take: Take) -> Eye:
    share = _SHARES[min(_SHARES, key=lambda side: abs(side - min(take.width, take.height)))]
    columns, rows = (2 * round(side * share / 2) for side in (take.width, take.height))
    return Eye(columns, rows, slices=270 + rows // 5)


def _sun_turn(look: Look, rng: np.random.Generator) -> float:
    """Return how far from the middle of the view the light stands, in radians."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    # A low sun is worth being seen; a high one lights best from the side.
    return side * (0.36 if look.elevation < 0.4 else 1.9)


def _lake(level: float, look: Look, sun: float, rng: np.random.Generator) -> Lake:
    def encoded(color: tuple[float, float, float], power: float = 1.0) -> Floats:
        planes = np.repeat(np.repeat(tone.light(color, power), 8, axis=1), 8, axis=2)
        flat = tone.developed(planes, rng, exposure=look.exposure, vignette=0.0, grain=0.0)
        return np.asarray(flat.reshape(-1, 3).mean(axis=0), np.float32)

    strength = 0.0 if look.elevation <= 0 else min(1.0, look.glow + 0.2)
    return Lake(level, rng, shine=encoded(look.sun, 2.5), sun=sun, glitter=strength)
