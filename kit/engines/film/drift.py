"""How a drifting landscape is made: compose once, then move its sheets frame by frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import CAMERAS, REACH, Take, View, filmed, nearness, take_of, view
from kit.engines.film.ripples import Ripples
from kit.engines.film.sheets import Matrix, Sheet, backdrop, lay, sheet
from kit.engines.film.weather import Weather
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes
from kit.engines.painting.poster import falling
from kit.engines.painting.poster.compose import Look, Picture, compose
from kit.engines.painting.poster.plane import Plane, Stage
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_MOVES = CAMERAS.keys() - {"arc"}  # flat layers have no sides to go around
_WIND = 0.012  # frame widths that the nearest clouds move in a second, at full motion


def fly(job: Job, progress: Progress) -> Asset:
    """Render a job of the drift model."""
    progress.report(0.0)
    values = job.parameters
    brief = read(job.prompt, values, job.seed, family="poster", moves=_MOVES)
    camera = brief.camera or "drift"
    take = replace(take_of(values, frame_size(values)), camera=camera)
    flight = Flight(brief, take, progress.part(0.0, 0.08))
    drawing = progress.part(0.08, 1.0)
    facts = {**brief.facts(), "camera": camera}
    return filmed(job, drawing, take, flight.frame, name="drift", metadata=facts)


class Flight:
    """A landscape that can be seen at any moment of a take."""

    def __init__(self, brief: Brief, take: Take, progress: Progress | None = None) -> None:
        progress = progress or Progress()
        self._take = take
        self._stage = _stage(take)
        rng = np.random.default_rng([brief.seed, 98])
        picture = compose(brief, Look(), self._stage)
        progress.report(0.4)
        self._sky = backdrop(picture.sky, self._stage, rng)
        self._back = _sheets(picture.back, self._stage, rng)
        progress.report(0.6)
        self._front = _sheets(picture.front, self._stage, rng)
        progress.report(0.7)
        self._water = Ripples(picture, picture.water, rng) if picture.water else None
        progress.report(0.85)
        self._shore = _shore_depth(picture)
        kind = falling.kind_of(brief)
        size = (take.width, take.height)
        self._air = Weather(kind, size, rng, take.seconds, take.loop) if kind else None
        self._shimmer = _shimmer(rng, *size)
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, stage = self._take, self._stage
        moment = take.moment(number)
        seen = view(take.camera, moment, motion=take.motion, loop=take.loop)
        out = self._sky.copy()
        frame = views(out, stage.width, stage.height)
        twinkle = self._twinkle(moment)
        self._lay_all(frame, self._back, seen, moment, twinkle)
        if self._water is not None:
            turns = max(1, round(take.seconds * 0.45)) * moment
            self._water.draw(frame, _matrix(stage, seen, self._shore), turns, twinkle)
        self._lay_all(frame, self._front, seen, moment, twinkle)
        if self._air is not None:
            self._air.draw(frame, moment)
        return out

    def _lay_all(
        self, frame: Frame, sheets: Sequence[Sheet], seen: View, moment: float, twinkle: Bytes
    ) -> None:
        matrices = [self._placed(sheet, seen, moment) for sheet in sheets]
        stops = _stops(sheets, matrices, self._stage.height)
        for one, matrix, stop in zip(sheets, matrices, stops, strict=True):
            shine = twinkle if one.name == "stars" else None
            lay(frame, one, matrix, stop=stop, twinkle=shine)

    def _placed(self, one: Sheet, seen: View, moment: float) -> Matrix:
        matrix = _matrix(self._stage, seen, one.depth)
        if one.name in ("cloud", "birds"):
            matrix[0, 2] += self._wind(moment) * (one.depth / 0.08) * self._stage.width
        return matrix

    def _wind(self, moment: float) -> float:
        take = self._take
        if take.loop:
            return _WIND * take.motion * math.sin(2 * math.pi * moment)
        return _WIND * take.motion * (moment - 0.5) * take.seconds

    def _twinkle(self, moment: float) -> Bytes:
        """Cut a patch of the shimmer that glides along, once around in a loop."""
        height, width = self._stage.height, self._stage.width
        turns = max(1, round(self._take.seconds / 4))
        step = int(moment * turns * (self._shimmer.shape[1] - width)) % (
            self._shimmer.shape[1] - width
        )
        return self._shimmer[:height, step : step + width]


def _stage(take: Take) -> Stage:
    """Return the frame with as much margin as the camera needs."""
    across, down = (
        math.ceil(take.motion * reach * size)
        for reach, size in zip(REACH, (take.width, take.height), strict=True)
    )
    margin_y = down if take.camera == "rise" else 0
    return Stage(take.width, take.height, across + 8 & ~1, margin_y + 1 & ~1)


def _matrix(stage: Stage, seen: View, depth: float) -> Matrix:
    """From the stage to the frame: enlarged about the vanishing point, then shifted."""
    near = nearness(depth)
    scale = 1.0 + seen.zoom * near
    center_x, center_y = stage.width * 0.5, stage.height * 0.56
    x = center_x - scale * (center_x + stage.margin_x) + seen.x * near * stage.width
    y = center_y - scale * (center_y + stage.margin_y) + seen.y * near * stage.height
    return np.array([[scale, 0.0, x], [0.0, scale, y]])


def _sheets(planes: Sequence[Plane], stage: Stage, rng: np.random.Generator) -> list[Sheet]:
    """Merge neighbors that move together; a bank of mist moves with the ridge behind it."""
    return [sheet(list(group), stage, rng) for _, group in groupby(planes, _group(planes))]


def _group(planes: Sequence[Plane]) -> Any:
    owner: dict[int, tuple[str, float]] = {}
    last = ("", -1.0)
    for plane in planes:
        if plane.name != "mist":
            name = "sun" if plane.name in ("sun", "glare") else plane.name
            last = (name, round(plane.depth, 2))
        owner[id(plane)] = last
    return lambda plane: owner[id(plane)]


def _stops(sheets: Sequence[Sheet], matrices: Sequence[Matrix], height: int) -> Iterator[int]:
    """Row from which each sheet is hidden by a nearer one."""
    hidden = [height] * (len(sheets) + 1)
    for number in range(len(sheets) - 1, -1, -1):
        solid, matrix = sheets[number].solid, matrices[number]
        row = height if solid is None else math.ceil(solid * matrix[1, 1] + matrix[1, 2]) + 2
        hidden[number] = min(hidden[number + 1], max(0, row))
    return iter(hidden[1:])


def _shore_depth(picture: Picture) -> float:
    """Depth at which the shore moves: that of the last ridge behind the water."""
    return max((plane.depth for plane in picture.back if plane.name == "ridge"), default=0.5)


def _shimmer(rng: np.random.Generator, width: int, height: int) -> Bytes:
    """Brightness that varies from place to place, seamless across."""
    small = rng.uniform(0.25, 1.0, (height // 6 + 1, width // 6 + 1)).astype(np.float32) * 255
    tile = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR).astype(np.uint8)
    return np.ascontiguousarray(np.hstack([tile, tile]))
