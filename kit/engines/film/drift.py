"""Drifting landscapes: compose once, then move the sheets frame by frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import CAMERAS, MAX_SHIFT, FilmView, Take, read_take, record, view_at
from kit.engines.film.sheets import Matrix, Overlay, draw_sheet, sheet_of, to_yuv, warp_sheet
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes
from kit.engines.painting.falling import clouds, kind_of
from kit.engines.painting.poster.compose import PosterWater, compose, mirror, mirror_grid
from kit.engines.painting.poster.planes import Plane, Stage, composite
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_MOVES = CAMERAS.keys() - {"arc"}  # flat layers have no sides to orbit
_CLOUD_SPEED = 0.012  # frame widths per second of the nearest clouds, at full motion
_SHIMMER = ("stars", "glitter")
_BORDER = 2  # rows above a sheet, and below one that ends, to prevent bleeding over its edges


def render_drift(job: Job, progress: Progress) -> Asset:
    """Render a job of the drift model."""
    progress.report(0.0)
    values = job.parameters
    brief = read(job.prompt, values, job.seed, family="poster", moves=_MOVES)
    camera = brief.camera or "drift"
    take = replace(read_take(values, frame_size(values)), camera=camera)
    flight = DriftFlight(brief, take, progress.part(0.0, 0.08))
    drawing = progress.part(0.08, 1.0)
    facts = {**brief.facts(), "camera": camera}
    air = kind_of(brief) or "none"
    return record(job, drawing, take, flight.frame, name="drift", metadata=facts, weather=air)


class _Layer(NamedTuple):
    """Merged planes of one depth; from row `solid` of the stage on they may hide all behind."""

    name: str
    depth: float
    solid: int | None
    sheet: Overlay


class DriftFlight:
    """A landscape that can be rendered at any frame of a take."""

    def __init__(self, brief: Brief, take: Take, progress: Progress) -> None:
        self._take = take
        # The margin that the camera needs.
        across, down = (
            math.ceil(take.motion * reach * size)
            for reach, size in zip(MAX_SHIFT, (take.width, take.height), strict=True)
        )
        rising = down if take.camera == "rise" else 0
        self._stage = stage = Stage(take.width, take.height, across + 8 & ~1, rising + 1 & ~1)
        rng = np.random.default_rng([brief.seed, 98])
        picture = compose(brief, stage)
        progress.report(0.4)
        canvas = np.empty((3, stage.rows, stage.columns), np.float32)
        picture.backdrop(canvas, 0)
        x, y = stage.margin_x, stage.margin_y
        sky = np.ascontiguousarray(canvas[:, y : y + stage.height, x : x + stage.width])
        opaque = np.ones(sky.shape[1:], np.float32)
        self._sky = np.concatenate([plane.ravel() for plane in to_yuv(sky, opaque, rng)])
        self._back = self._merge(picture.back, rng)
        progress.report(0.6)
        self._front = self._merge(picture.front, rng)
        progress.report(0.7)
        self._water = wet = picture.water
        self._waves = [wet.wave(number) for number in (0, 1)] if wet else []
        self._surface = self._merge(wet.planes if wet else (), rng)
        progress.report(0.85)
        shimmer = clouds(rng, take.height, take.width, cells=128, peak=255, octaves=1, floor=64)
        self._shimmer = np.tile(shimmer, (1, 2))
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, stage = self._take, self._stage
        moment, seen = take.moment(number), view_at(take, number)
        out = self._sky.copy().reshape(stage.height * 3 // 2, stage.width)
        frame = views(out, stage.width, stage.height)
        self._draw_layers(frame, self._back, seen, moment)
        if self._water is not None:
            matrix = self._matrix(seen, self._surface[0].depth)
            self._reflect(frame, self._water, matrix, moment)
            self._draw_layers(frame, self._surface, seen, moment)
        self._draw_layers(frame, self._front, seen, moment)
        return out

    def _draw_layers(
        self, frame: Frame, layers: Sequence[_Layer], seen: FilmView, moment: float
    ) -> None:
        take, stop, ends = self._take, self._stage.height, []
        matrices = [self._matrix(seen, one.depth) for one in layers]
        for one, matrix in zip(reversed(layers), reversed(matrices), strict=True):
            ends.append(stop)
            if one.solid is not None:
                row = math.ceil(one.solid * matrix[1, 1] + matrix[1, 2]) + 2
                stop = min(stop, max(0, row))
        wind = math.sin(2 * math.pi * moment) if take.loop else (moment - 0.5) * take.seconds
        for one, matrix, stop in zip(layers, matrices, reversed(ends), strict=True):
            if one.name in ("cloud", "birds"):
                matrix[0, 2] += _CLOUD_SPEED * take.motion * wind * (one.depth / 0.08) * take.width
            shine = None
            if one.name in _SHIMMER:  # a patch of the shimmer glides along, once around in a loop
                step = int(moment * max(1, round(take.seconds / 4)) * take.width) % take.width
                shine = self._shimmer[:, step : step + take.width]
            draw_sheet(frame, one.sheet, matrix, stop, shine)

    def _reflect(self, frame: Frame, wet: PosterWater, matrix: Matrix, moment: float) -> None:
        height, width = frame[0].shape
        edge = float(np.clip(matrix[1, 1] * wet.shore + matrix[1, 2], 2, height - 4))
        # Chroma rows cover two rows, but a shore that moved in steps of two would visibly jump.
        shore = int(edge) & ~1
        turn = 2 * math.pi * max(1, round(self._take.seconds * 0.45)) * moment
        wave = cv2.addWeighted(self._waves[0], math.cos(turn), self._waves[1], math.sin(turn), 0)
        swell = warp_sheet(wave, (width, height - shore), matrix, (0, wet.shore), (0, shore))
        at_x, at_y = mirror_grid(swell, edge, shore)
        np.minimum(at_y, np.float32(shore - 1), out=at_y)
        mirror(frame[0][:shore], (at_x, at_y), frame[0][shore:])
        half = (width // 2, (height - shore) // 2)
        small_x, small_y = (
            cv2.resize(grid, half, interpolation=cv2.INTER_AREA) / 2 for grid in (at_x, at_y)
        )
        for chroma in frame[1:]:
            mirror(chroma[: shore // 2], (small_x, small_y), chroma[shore // 2 :])

    def _matrix(self, seen: FilmView, depth: float) -> Matrix:
        stage, near = self._stage, 0.02 + 0.98 * min(depth, 1.1) ** 1.6
        scale = 1.0 + seen.zoom * near
        center_x, center_y = stage.width * 0.5, stage.height * 0.56
        x = center_x - scale * (center_x + stage.margin_x) + seen.x * near * stage.width
        y = center_y - scale * (center_y + stage.margin_y) + seen.y * near * stage.height
        return np.array([[scale, 0.0, x], [0.0, scale, y]])

    def _merge(self, planes: Sequence[Plane], rng: np.random.Generator) -> list[_Layer]:
        groups: list[tuple[str, float]] = []
        for plane in planes:
            name = "sun" if plane.name == "glare" else plane.name
            is_mist = name == "mist" and groups
            groups.append(groups[-1] if is_mist else (name, round(plane.depth, 2)))
        merged = groupby(zip(groups, planes, strict=True), lambda pair: pair[0])
        return [_layer_of([plane for _, plane in group], self._stage, rng) for _, group in merged]


def _layer_of(planes: Sequence[Plane], stage: Stage, rng: np.random.Generator) -> _Layer:
    name = planes[0].name
    endless = name in ("ridge", "water")
    top = (min(plane.top for plane in planes) & ~1) - _BORDER
    rows = max(plane.bottom for plane in planes) - top
    canvas = np.zeros((4, rows + rows % 2 + (0 if endless else _BORDER), stage.columns), np.float32)
    for plane in planes:
        composite(canvas, plane, top)
    if endless:  # including the row added for an even height
        canvas[:, rows:] = canvas[:, rows - 1 : rows]
    sheet = sheet_of(canvas[:3], canvas[3], rng, top=top, endless=endless)
    full = np.flatnonzero(cv2.reduce(sheet.alpha, 1, cv2.REDUCE_MIN) == 255)
    solid = top + int(full[0]) if len(full) and name == "ridge" else None
    return _Layer(name, planes[0].depth, solid, sheet)
