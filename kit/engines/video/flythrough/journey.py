"""A journey: the land is made and lit once, then every frame looks at it from another place."""

from __future__ import annotations

import math
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
from kit.engines.video.filming import Take, filmed, take_of
from kit.engines.video.flythrough.eye import WIDEST, Eye, Seen, softened, textured
from kit.engines.video.flythrough.ground import colored
from kit.engines.video.flythrough.heaven import air_color, heaven
from kit.engines.video.flythrough.lake import Lake
from kit.engines.video.flythrough.route import Station, route
from kit.engines.video.flythrough.terrain import detail, land
from kit.engines.video.settings import frame_size
from kit.engines.video.sheets import views
from kit.engines.video.weather import Weather

#: Shorter side of the frame -> share of its pixels that are drawn before it is enlarged.
_SHARES = {360: 1.0, 480: 0.9, 720: 0.72, 1080: 0.58}
_OVER = 1.07  # drawn larger than the frame, so that a leaning camera shows no corners
_ASIDE = 0.75  # radians between the sun in the sky and the light on the land
_DISSOLVE = 0.8  # seconds in which a loop goes over into its beginning
#: How much finer than the map a grain is, and how far it shows, in units.
_GRAINS = ((9.0, 75.0), (31.0, 45.0))
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
    take = take_of(values, frame_size(values))
    kind = land_of(brief) if values["land"] == "auto" else values["land"]
    journey = Journey(brief, kind, take, progress.part(0.0, 0.1))
    facts = {"scene": {**brief.facts(), "family": kind}}
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
        ground = land(kind, rng[0])
        progress.report(0.25)
        self._lead = round(_DISSOLVE * take.fps) if take.loop else 0
        self._lead = min(self._lead, take.frames // 3)
        count = take.frames + self._lead
        self._stations = route(ground, take.camera, count, count / take.fps, take.motion, rng[1])
        turn = _sun_turn(look, rng[2])
        sun = self._stations[count // 2].heading + turn
        # Land is lit from farther aside than where the sun is seen: it would only show its shade.
        lit = sun + math.copysign(_ASIDE, turn)
        self._colors = colored(ground, brief.season, look, (math.sin(lit), math.cos(lit)), rng[3])
        progress.report(0.6)
        self._eye = _eye(ground.surface, take)
        headings = [station.heading for station in self._stations]
        span = (min(headings) - WIDEST - 0.05, max(headings) + WIDEST + 0.05)
        self._heaven = heaven(look, span, sun, self._eye.focal, rng[4])
        progress.report(0.85)
        self._air = air_color(look, rng[5])
        self._haze = _haze(look)
        self._detail, self._grain = detail(kind, rng[5])
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
        at, eye = self._stations[number], self._eye
        seen = eye.look(at)
        picture, wet = self._seen(seen, at, seconds)
        frame = rgb_frame(picture)
        self._roughen(views(frame, eye.columns, eye.rows)[0], seen, wet)
        return _leaning(frame, eye, at, self._take)

    def _seen(self, seen: Seen, at: Station, seconds: float) -> tuple[Bytes, Bytes]:
        """Return land, sky and water, and how much of each pixel is water."""
        eye = self._eye
        colors = cv2.remap(
            self._colors, seen.x, seen.y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP
        )
        picture, wet = cv2.cvtColor(colors, cv2.COLOR_RGBA2RGB), colors[..., 3].copy()
        fog = self._fog(seen.inverse)
        picture = _faded(picture, fog, self._air)
        low = min(eye.rows, _last(seen.sky) + 3)
        sky = self._heaven.seen(at.heading, eye.across, eye.up(at)[:low])
        cv2.copyTo(sky, seen.sky[:low].view(np.uint8), picture[:low])
        softened(picture, sky, seen.skyline)
        wet[seen.sky] = 0
        if self._lake is not None and (top := _first(wet)) < eye.rows - 2:
            first, water = self._lake.mirrored(picture, seen, eye, at, seconds, top)
            # The mirror already holds the fog of what it shows; a part of the way to it is left.
            water = _faded(water, np.float32(0.45) * fog[first:], self._air)
            _flood(picture[first:], water, wet[first:])
        return picture, wet

    def _roughen(self, luma: Bytes, seen: Seen, wet: Bytes) -> None:
        """Give near ground the grain that the map is too coarse for, in place.

        Fine grain is only looked up in the rows that are near enough to show it.
        """
        for scale, reach in _GRAINS:
            near = np.flatnonzero(seen.inverse.max(axis=1) * np.float32(reach) > 0.25)
            if not len(near):
                continue
            rows = slice(int(near[0]), None)
            share = cv2.min(seen.inverse[rows] * np.float32(reach), 1.0)
            share *= np.float32(1) - wet[rows] * np.float32(1 / 255)
            share[seen.sky[rows]] = 0
            grain = textured(self._detail, seen, scale, rows).astype(np.float32)
            grain -= 128
            grain *= share * share * np.float32(self._grain / 64)
            grain += 1
            luma[rows] = cv2.multiply(luma[rows], grain, dtype=cv2.CV_8U)

    def _fog(self, inverse: Floats) -> Floats:
        away = np.maximum(1.0 / inverse - 40.0, 0.0)
        # The world ends in air: whatever the weather, its last ridges fade out.
        share = 1.0 - np.exp(away * np.float32(-self._haze))
        end = np.clip((away - 560.0) / 200.0, 0.0, 1.0)
        return np.asarray(np.maximum(share, end * end))


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


def _eye(surface: Floats, take: Take) -> Eye:
    share = _SHARES[min(_SHARES, key=lambda side: abs(side - min(take.width, take.height)))]
    columns, rows = (2 * round(side * share * _OVER / 2) for side in (take.width, take.height))
    return Eye(surface, columns, rows, slices=300 + rows // 4)


def _leaning(frame: Bytes, eye: Eye, at: Station, take: Take) -> Bytes:
    """Turn a drawn frame by the camera's lean and enlarge it to the clip's size."""
    out = np.empty((take.height * 3 // 2, take.width), np.uint8)
    sources = views(frame, eye.columns, eye.rows)
    targets = views(out, take.width, take.height)
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        height, width = target.shape
        step = source.shape[1] / width / _OVER
        cos, sin = step * np.cos(at.bank), step * np.sin(at.bank)
        middle = ((source.shape[1] - 1) / 2, (source.shape[0] - 1) / 2)
        x, y = (width - 1) / 2, (height - 1) / 2
        matrix = np.array(
            [[cos, -sin, middle[0] - cos * x + sin * y], [sin, cos, middle[1] - sin * x - cos * y]]
        )
        way = cv2.INTER_LINEAR if number else cv2.INTER_CUBIC
        cv2.warpAffine(
            source,
            matrix,
            (width, height),
            dst=target,
            flags=way | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
    return out


def _faded(picture: Bytes, fog: Floats, air: Floats) -> Bytes:
    far = np.empty_like(picture)
    far[:] = np.rint(air)
    return np.asarray(cv2.blendLinear(picture, far, 1.0 - fog, fog))


def _haze(look: Look) -> float:
    """Return how much light the air takes per unit of distance."""
    return float(0.0007 + 0.0010 * look.haze**1.5)


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

    power = 0.25 + 0.75 * min(1.0, (look.sun_power + look.shade_power) / 3.0)
    deep = encoded((0.36, 0.055, 226), power)
    strength = 0.0 if look.elevation <= 0 else min(1.0, look.glow + 0.2)
    return Lake(level, rng, deep=deep, shine=encoded(look.sun, 2.5), sun=sun, glitter=strength)
