"""How a drifting landscape is made: compose once, then move its sheets frame by frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import CAMERAS, REACH, Take, View, filmed, nearness, take_of, view
from kit.engines.film.sheets import Matrix, Sheet, back, lay, sheet, warped, yuv
from kit.engines.film.weather import Weather
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes
from kit.engines.painting.falling import clouds, kind_of
from kit.engines.painting.poster.compose import Water, compose, mirror, mirror_grid
from kit.engines.painting.poster.planes import Plane, Stage
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_MOVES = CAMERAS.keys() - {"arc"}  # flat layers have no sides to go around
_WIND = 0.012  # frame widths that the nearest clouds move in a second, at full motion
_SHINING = ("stars", "glitter")


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

    def __init__(self, brief: Brief, take: Take, progress: Progress) -> None:
        self._take = take
        # As much margin as the camera needs.
        across, down = (
            math.ceil(take.motion * reach * size)
            for reach, size in zip(REACH, (take.width, take.height), strict=True)
        )
        rising = down if take.camera == "rise" else 0
        self._stage = stage = Stage(take.width, take.height, across + 8 & ~1, rising + 1 & ~1)
        rng = np.random.default_rng([brief.seed, 98])
        picture = compose(brief, stage)
        progress.report(0.4)
        canvas = np.empty((3, stage.rows, stage.columns), np.float32)
        picture.backdrop.fill(canvas, 0)
        x, y = stage.margin_x, stage.margin_y
        sky = np.ascontiguousarray(canvas[:, y : y + stage.height, x : x + stage.width])
        opaque = np.ones(sky.shape[1:], np.float32)
        self._sky = np.concatenate([plane.ravel() for plane in yuv(sky, opaque, rng)])
        self._back = self._sheets(picture.back, rng)
        progress.report(0.6)
        self._front = self._sheets(picture.front, rng)
        progress.report(0.7)
        self._water = picture.water
        self._surface = self._sheets(picture.water.planes if picture.water else (), rng)
        # The shore moves as the last ridge behind the water does.
        far = [plane.depth for plane in picture.back if plane.name == "ridge"]
        self._shore = max(far, default=0.5)
        progress.report(0.85)
        kind, size = kind_of(brief), (take.width, take.height)
        self._air = Weather(kind, size, rng, take.seconds, take.loop) if kind else None
        cells = (take.height // 6, take.width // 6)
        shimmer = clouds(rng, *size[::-1], cells=cells, most=255, octaves=1, floor=64)
        self._shimmer = np.tile(shimmer, (1, 2))
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, stage = self._take, self._stage
        moment = take.moment(number)
        seen = view(take.camera, moment, motion=take.motion, loop=take.loop)
        out = self._sky.copy().reshape(stage.height * 3 // 2, stage.width)
        frame = views(out, stage.width, stage.height)
        self._lay_all(frame, self._back, seen, moment)
        if self._water is not None:
            matrix = self._matrix(seen, self._shore)
            self._reflect(frame, self._water, matrix, moment)
            self._lay_all(frame, self._surface, seen, moment, matrix)
        self._lay_all(frame, self._front, seen, moment)
        if self._air is not None:
            self._air.draw(frame, moment)
        return out

    def _lay_all(
        self,
        frame: Frame,
        sheets: Sequence[Sheet],
        seen: View,
        moment: float,
        shared: Matrix | None = None,
    ) -> None:
        """Lay sheets over a frame, each down to where a nearer one hides it."""
        matrices = [self._matrix(seen, one.depth) if shared is None else shared for one in sheets]
        stop, ends = self._stage.height, []
        for one, matrix in zip(reversed(sheets), reversed(matrices), strict=True):
            ends.append(stop)
            if one.solid is not None:
                row = math.ceil(one.solid * matrix[1, 1] + matrix[1, 2]) + 2
                stop = min(stop, max(0, row))
        for one, matrix, stop in zip(sheets, matrices, reversed(ends), strict=True):
            if one.name in ("cloud", "birds"):
                matrix[0, 2] += self._wind(moment) * (one.depth / 0.08) * self._stage.width
            shine = self._twinkle(moment) if one.name in _SHINING else None
            lay(frame, one, matrix, stop=stop, twinkle=shine)

    def _reflect(self, frame: Frame, wet: Water, matrix: Matrix, moment: float) -> None:
        """Mirror the rows above the shore of a frame in waves that go where the stage does."""
        height, width = frame[0].shape
        edge = float(np.clip(matrix[1, 1] * wet.shore + matrix[1, 2], 2, height - 4))
        # Rows of color come in twos, but a shore that moved in such steps would be seen to jump.
        shore = int(edge) & ~1
        turn = 2 * math.pi * max(1, round(self._take.seconds * 0.45)) * moment
        wave = cv2.addWeighted(wet.waves[0], math.cos(turn), wet.waves[1], math.sin(turn), 0)
        swell = warped(wave, back(matrix, wet.shore, shore, 1.0), (width, height - shore))
        at_x, at_y = mirror_grid(swell, edge, shore)
        np.minimum(at_y, np.float32(shore - 1), out=at_y)
        mirror(frame[0][:shore], (at_x, at_y), frame[0][shore:])
        half = (width // 2, (height - shore) // 2)
        small_x, small_y = (
            cv2.resize(grid, half, interpolation=cv2.INTER_AREA) / 2 for grid in (at_x, at_y)
        )
        for chroma in frame[1:]:
            mirror(chroma[: shore // 2], (small_x, small_y), chroma[shore // 2 :])

    def _matrix(self, seen: View, depth: float) -> Matrix:
        """From the stage to the frame: enlarged about the vanishing point, then shifted."""
        stage, near = self._stage, nearness(depth)
        scale = 1.0 + seen.zoom * near
        center_x, center_y = stage.width * 0.5, stage.height * 0.56
        x = center_x - scale * (center_x + stage.margin_x) + seen.x * near * stage.width
        y = center_y - scale * (center_y + stage.margin_y) + seen.y * near * stage.height
        return np.array([[scale, 0.0, x], [0.0, scale, y]])

    def _wind(self, moment: float) -> float:
        take = self._take
        gone = math.sin(2 * math.pi * moment) if take.loop else (moment - 0.5) * take.seconds
        return _WIND * take.motion * gone

    def _twinkle(self, moment: float) -> Bytes:
        """Cut a patch of the shimmer that glides along, once around in a loop."""
        width = self._stage.width
        step = int(moment * max(1, round(self._take.seconds / 4)) * width) % width
        return self._shimmer[:, step : step + width]

    def _sheets(self, planes: Sequence[Plane], rng: np.random.Generator) -> list[Sheet]:
        """Merge neighbors that move together; a bank of mist moves with the ridge behind it."""
        groups: list[tuple[str, float]] = []
        for plane in planes:
            name = "sun" if plane.name == "glare" else plane.name
            is_mist = name == "mist" and groups
            groups.append(groups[-1] if is_mist else (name, round(plane.depth, 2)))
        merged = groupby(zip(groups, planes, strict=True), lambda pair: pair[0])
        return [sheet([plane for _, plane in group], self._stage, rng) for _, group in merged]
