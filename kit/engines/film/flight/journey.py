"""A journey: the land is made and lit once, then every frame looks at it from another place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import Take, filmed, take_of
from kit.engines.film.flight.framing import framing_of
from kit.engines.film.flight.route import PILOTS, route
from kit.engines.film.weather import Weather
from kit.engines.media.clip import views
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting import tone
from kit.engines.painting.heightfield.air import Air
from kit.engines.painting.heightfield.ashore import OPEN, SWING, bring_ashore
from kit.engines.painting.heightfield.camera import WIDEST, Eye
from kit.engines.painting.heightfield.canvas import (
    Picture,
    empty,
    halved,
    picture_of,
    striped,
    toned,
)
from kit.engines.painting.heightfield.covers import cover_of, dulled, tinted
from kit.engines.painting.heightfield.detail import Near
from kit.engines.painting.heightfield.grain import grains
from kit.engines.painting.heightfield.ground import colored
from kit.engines.painting.heightfield.light import light_of
from kit.engines.painting.heightfield.patches import Atlas, box_of
from kit.engines.painting.heightfield.relief import land
from kit.engines.painting.heightfield.sky import heaven
from kit.engines.painting.heightfield.slices import Fineness, sliced
from kit.engines.painting.heightfield.terrain import Land, Station
from kit.engines.painting.heightfield.visible import Seen, softened
from kit.engines.painting.heightfield.walls import Walls
from kit.engines.painting.heightfield.water import Lake, View
from kit.engines.painting.looks import Look, look_for
from kit.engines.painting.tints import of_land, of_water
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

#: Shorter side of the frame -> share of its pixels that are drawn before it is enlarged.
_SHARES = {360: 1.0, 480: 0.85, 720: 0.66, 1080: 0.55}
_ASIDE = 1.1  # radians between the sun in the sky and the light on the land
_DISSOLVE = 0.8  # seconds in which a loop goes over into its beginning
#: From the fourth channel of a land's colors to how much is under water, and under trees.
_SAYS = np.arange(256) - OPEN
_WET: Bytes = np.rint(np.clip((_SAYS - SWING) * (255 / (127 - SWING)), 0, 255)).astype(np.uint8)
_WOODED: Bytes = np.rint(np.clip(_SAYS * (-255 / 128), 0, 255)).astype(np.uint8)
_FAMILIES = {"lake": "alps", "desert": "desert", "forest": "forest", "sea": "islands"}


def travel(job: Job, progress: Progress) -> Asset:
    """Render a job of the fly-through model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, painter="flight", moves=PILOTS)
    usual = "high" if "from_above" in brief.things else "glide"
    camera = brief.camera or usual
    take = replace(take_of(values, frame_size(values)), camera=camera)
    kind = land_of(brief) if values["land"] == "auto" else values["land"]
    journey = Journey(brief, kind, take, progress.part(0.0, 0.1))
    facts = {**brief.facts(), "land": kind, "camera": camera}
    drawing = progress.part(0.1, 1.0)
    return filmed(job, drawing, take, journey.frame, name="flythrough", metadata=facts, light=True)


def land_of(brief: Brief) -> str:
    """Return the kind of land that a brief asks for; what is no land becomes mountains."""
    said = (kind for kind in ("hills", "canyon") if f"flown_{kind}" in brief.things)
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
        told = (*brief.composition, *brief.tones)
        framing = framing_of(told, high=take.camera == "high", shape=take.height / take.width)
        self._stations = route(
            ground, take.camera, count, count / take.fps, take.motion, rng[1], framing
        )
        turn = _sun_turn(look, rng[2], centered="centered" in told)
        ahead = self._stations[count // 2].heading
        sun = ahead + turn
        # Land is lit from farther aside than where the sun is seen: it would only show its shade.
        lit = sun + math.copysign(_ASIDE, turn)
        light = light_of(look, (math.sin(lit), math.cos(lit)), outlined="outline" in told)
        cover = cover_of(kind, brief.season)
        cover = tinted(dulled(cover) if brief.covered else cover, of_land(brief), of_water(brief))
        colors = colored(ground, cover, look, light, rng[3], progress.part(0.5, 0.85))
        self._eye = _eye(take, framing.lens)
        box = box_of(self._stations, self._eye.widest)
        self._eye.over(ground.surface, box, *_slices(ground, self._stations, self._eye))
        progress.report(0.88)
        tiles = grains(kind, light.way, rng[5], ground.crowns[..., 0], ahead)
        progress.report(0.9)
        self._atlas = Atlas(
            _marked(toned(colors), ground.woods),
            box,
            self._eye.focal,
            ground.woods,
            tiles,
            turned=abs(math.tan(ahead)) > 1,
        )
        self._walls = Walls(kind, rng[5])
        self._near = Near(kind, rng[5], ahead)
        progress.report(0.92)
        headings = [station.heading for station in self._stations]
        aside = max(WIDEST, self._eye.widest) + 0.05
        span = (min(headings) - aside, max(headings) + aside)
        self._heaven = heaven(look, span, sun, self._eye.focal, rng[4])
        self._air = Air(look, ground.water or 0.0)
        self._water = ground.water
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
        return self._seen(eye.look(at), at, seconds).frame(take.width, take.height)

    def _seen(self, seen: Seen, at: Station, seconds: float) -> Picture:
        """Return land, sky and water."""
        eye, first = self._eye, seen.first
        picture = empty(eye.rows, eye.columns)
        wet = self._land(picture.below(first), seen, at)
        air = self._heaven.air(at.heading, eye.across)
        fog = self._air.fog(seen, at.height)
        shares = fog, halved(fog)
        picture.below(first).blend(striped(air, eye.rows - first), shares)
        self._sky(picture, seen, at)
        softened(picture.luma, seen)
        if self._lake is not None and (top := _first(wet)) < len(wet) - 2:
            view = View(picture.small(), seen, shares[1], air[::2, :3])
            start, water = self._lake.mirrored(view, eye, at, seconds, first + top)
            _flood(picture.below(start), water, wet[start - first :])
        return picture

    def _land(self, picture: Picture, seen: Seen, at: Station) -> Bytes:
        """Draw the land in clear air; return where it is under water."""
        shown = self._atlas.seen(seen.x, seen.y, seen.inverse)
        if self._water is not None:
            bring_ashore(shown, self._atlas, self._eye, seen, at, self._water)
        colors, cover = picture_of(shown)
        wet, woods = (np.asarray(cv2.LUT(cover, table)) for table in (_WET, _WOODED))
        self._walls.lay(colors.luma, wet, seen)
        self._near.lay(colors.luma, (wet, woods), seen, at)
        np.copyto(wet, 0, where=seen.sky)
        picture.copy(colors)
        return wet

    def _sky(self, picture: Picture, seen: Seen, at: Station) -> None:
        """Draw the sky above the land."""
        eye, first = self._eye, seen.first
        low = min(eye.rows, (first + _last(seen.sky) + 3) & ~1)
        sky, _ = picture_of(
            self._heaven.seen(at.heading, eye.across, eye.horizon(at), eye.focal, low)
        )
        picture.above(first).copy(sky.above(first))
        share = seen.sky[: low - first].astype(np.float32)
        picture.above(low).below(first).blend(sky.below(first), (share, halved(share)))


def _marked(colors: Bytes, woods: Bytes) -> Bytes:
    """Return colors whose fourth channel, how much is water, says too how much is under trees."""
    cover = cv2.addWeighted(cv2.extractChannel(colors, 3), 127 / 255, woods, -128 / 255, OPEN)
    cv2.insertChannel(cover, colors, 3)
    return colors


def _flood(picture: Picture, water: Bytes, wet: Bytes) -> None:
    """Lay water, at half the size, over a picture, in place."""
    share = wet.astype(np.float32)
    share *= np.float32(1 / 255)
    luma, red, blue = cv2.split(water)
    full = cv2.resize(luma, wet.shape[::-1], interpolation=cv2.INTER_LINEAR)
    picture.blend(Picture(full, red, blue), (share, halved(share)))


def _first(plane: NDArray[Any]) -> int:
    """Return the first row that is not empty; as many as there are: all are."""
    rows = np.flatnonzero(plane.any(axis=1))
    return int(rows[0]) if len(rows) else len(plane)


def _last(plane: NDArray[Any]) -> int:
    """Return the last row that is not empty; -1: all are."""
    return len(plane) - 1 - _first(plane[::-1])


def _eye(take: Take, lens: float) -> Eye:
    share = _SHARES[min(_SHARES, key=lambda side: abs(side - min(take.width, take.height)))]
    columns, rows = (2 * round(side * share / 2) for side in (take.width, take.height))
    return Eye(columns, rows, lens)


def _slices(ground: Land, stations: Sequence[Station], eye: Eye) -> tuple[Floats, Fineness]:
    return sliced(ground, stations, eye.widest, eye.rows / eye.focal, 210 + eye.rows // 6)


def _sun_turn(look: Look, rng: np.random.Generator, *, centered: bool) -> float:
    """Return how far from the middle of the view the light stands, in radians."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    # A low sun is worth being seen; a high one lights best from the side.
    low = 0.0 if centered else 0.36
    return side * (low if look.elevation < 0.4 else 1.9)


def _lake(level: float, look: Look, sun: float, rng: np.random.Generator) -> Lake:
    shine = np.repeat(np.repeat(tone.light(look.sun, 2.5), 8, axis=1), 8, axis=2)
    flat = tone.develop(shine, tone.Film(exposure=look.film.exposure, vignette=0.0, grain=0.0))
    color = toned(flat)[..., :3].reshape(-1, 3).mean(axis=0).astype(np.float32)
    strength = min(1.0, look.glow + 0.2) if look.elevation > 0 and look.disc else 0.0
    return Lake(level, rng, shine=color, sun=sun, glitter=strength)
