"""How a drifting landscape is made: compose once, then move its sheets frame by frame.

Colors of sheets are multiplied by the alpha beforehand, so that moving one by a part of a pixel and
laying it over a frame needs no division, and everything stays in 8 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import (
    CAMERAS,
    REACH,
    FilmView,
    Take,
    nearness,
    read_take,
    record,
    view,
)
from kit.engines.film.weather import Weather
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import YUV, Bytes, Floats, noise_tile
from kit.engines.painting.falling import clouds, kind_of
from kit.engines.painting.poster.compose import PosterWater, compose, mirror, mirror_grid
from kit.engines.painting.poster.planes import Plane, Stage, over
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_MOVES = CAMERAS.keys() - {"arc"}  # flat layers have no sides to go around
_WIND = 0.012  # frame widths that the nearest clouds move in a second, at full motion
_SHINING = ("stars", "glitter")
_EMPTY = 2  # rows above a sheet, and below one that ends: nothing bleeds over its edges
#: Shape (2, 3), from a place on the stage to its place in the frame.
Matrix: TypeAlias = NDArray[np.float64]


def fly(job: Job, progress: Progress) -> Asset:
    """Render a job of the drift model."""
    progress.report(0.0)
    values = job.parameters
    brief = read(job.prompt, values, job.seed, family="poster", moves=_MOVES)
    camera = brief.camera or "drift"
    take = replace(read_take(values, frame_size(values)), camera=camera)
    flight = DriftFlight(brief, take, progress.part(0.0, 0.08))
    drawing = progress.part(0.08, 1.0)
    facts = {**brief.facts(), "camera": camera}
    return record(job, drawing, take, flight.frame, name="drift", metadata=facts)


class DriftFlight:
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
        picture.backdrop(canvas, 0)
        x, y = stage.margin_x, stage.margin_y
        sky = np.ascontiguousarray(canvas[:, y : y + stage.height, x : x + stage.width])
        opaque = np.ones(sky.shape[1:], np.float32)
        self._sky = np.concatenate([plane.ravel() for plane in _yuv(sky, opaque, rng)])
        self._back = self._merged(picture.back, rng)
        progress.report(0.6)
        self._front = self._merged(picture.front, rng)
        progress.report(0.7)
        self._water = picture.water
        self._waves = [picture.water.wave(number) for number in (0, 1)] if picture.water else []
        self._surface = self._merged(picture.water.planes if picture.water else (), rng)
        progress.report(0.85)
        kind, size = kind_of(brief), (take.width, take.height)
        self._air = Weather(kind, size, rng, take.seconds, take.loop) if kind else None
        shimmer = clouds(rng, *size[::-1], cells=128, most=255, octaves=1, floor=64)
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
            matrix = self._matrix(seen, self._surface[0].depth)
            self._reflect(frame, self._water, matrix, moment)
            self._lay_all(frame, self._surface, seen, moment)
        self._lay_all(frame, self._front, seen, moment)
        if self._air is not None:
            self._air.draw(frame, moment)
        return out

    def _lay_all(
        self, frame: Frame, sheets: Sequence[_Sheet], seen: FilmView, moment: float
    ) -> None:
        """Lay sheets over a frame, each down to where a nearer one hides it."""
        matrices = [self._matrix(seen, one.depth) for one in sheets]
        stop, ends = self._stage.height, []
        for one, matrix in zip(reversed(sheets), reversed(matrices), strict=True):
            ends.append(stop)
            if one.solid is not None:
                row = math.ceil(one.solid * matrix[1, 1] + matrix[1, 2]) + 2
                stop = min(stop, max(0, row))
        take = self._take
        wind = math.sin(2 * math.pi * moment) if take.loop else (moment - 0.5) * take.seconds
        for one, matrix, stop in zip(sheets, matrices, reversed(ends), strict=True):
            if one.name in ("cloud", "birds"):
                matrix[0, 2] += _WIND * take.motion * wind * (one.depth / 0.08) * take.width
            shine = self._twinkle(moment) if one.name in _SHINING else None
            _lay(frame, one, matrix, stop, shine)

    def _reflect(self, frame: Frame, wet: PosterWater, matrix: Matrix, moment: float) -> None:
        """Mirror the rows above the shore of a frame in waves that go where the stage does."""
        height, width = frame[0].shape
        edge = float(np.clip(matrix[1, 1] * wet.shore + matrix[1, 2], 2, height - 4))
        # Rows of color come in twos, but a shore that moved in such steps would be seen to jump.
        shore = int(edge) & ~1
        turn = 2 * math.pi * max(1, round(self._take.seconds * 0.45)) * moment
        wave = cv2.addWeighted(self._waves[0], math.cos(turn), self._waves[1], math.sin(turn), 0)
        swell = _warped(wave, (width, height - shore), matrix, wet.shore, shore)
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
        """From the stage to the frame: enlarged about the vanishing point, then shifted."""
        stage, near = self._stage, nearness(depth)
        scale = 1.0 + seen.zoom * near
        center_x, center_y = stage.width * 0.5, stage.height * 0.56
        x = center_x - scale * (center_x + stage.margin_x) + seen.x * near * stage.width
        y = center_y - scale * (center_y + stage.margin_y) + seen.y * near * stage.height
        return np.array([[scale, 0.0, x], [0.0, scale, y]])

    def _twinkle(self, moment: float) -> Bytes:
        """Cut a patch of the shimmer that glides along, once around in a loop."""
        width = self._stage.width
        step = int(moment * max(1, round(self._take.seconds / 4)) * width) % width
        return self._shimmer[:, step : step + width]

    def _merged(self, planes: Sequence[Plane], rng: np.random.Generator) -> list[_Sheet]:
        """Merge neighbors that move together; a bank of mist moves with the ridge behind it."""
        groups: list[tuple[str, float]] = []
        for plane in planes:
            name = "sun" if plane.name == "glare" else plane.name
            is_mist = name == "mist" and groups
            groups.append(groups[-1] if is_mist else (name, round(plane.depth, 2)))
        merged = groupby(zip(groups, planes, strict=True), lambda pair: pair[0])
        return [_sheet([plane for _, plane in group], self._stage, rng) for _, group in merged]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Planes of one depth, merged, from an even row of the stage down, which may lie above it.

    Alpha is kept at full size and for the chromas. From the row `solid` on it hides everything
    behind it; what is endless goes on below its last row.
    """

    name: str
    depth: float
    top: int
    color: Frame
    alpha: tuple[Bytes, Bytes]
    solid: int | None
    endless: bool


def _sheet(planes: Sequence[Plane], stage: Stage, rng: np.random.Generator) -> _Sheet:
    name = planes[0].name
    endless = name in ("ridge", "water")
    top = (min(plane.top for plane in planes) & ~1) - _EMPTY
    rows = max(plane.bottom for plane in planes) - top
    canvas = np.zeros((4, rows + rows % 2 + (0 if endless else _EMPTY), stage.columns), np.float32)
    for plane in planes:
        over(canvas, plane, top)
    if endless:  # through the row that was added to make them even
        canvas[:, rows:] = canvas[:, rows - 1 : rows]
    alpha, half = (
        np.rint(255 * cover).astype(np.uint8) for cover in (canvas[3], _halved(canvas[3]))
    )
    full = np.flatnonzero(cv2.reduce(alpha, 1, cv2.REDUCE_MIN) == 255)
    solid = top + int(full[0]) if len(full) and name == "ridge" else None
    color = _yuv(canvas[:3], canvas[3], rng)
    return _Sheet(name, planes[0].depth, top, color, (alpha, half), solid, endless)


def _lay(frame: Frame, moved: _Sheet, matrix: Matrix, stop: int, twinkle: Bytes | None) -> None:
    """Lay a sheet over a frame, in place, down to a row; stars are as bright as a shimmer lets."""
    height, width = frame[0].shape
    scale, shift = matrix[0, 0], matrix[1, 2]
    first = int(np.clip(np.floor(moved.top * scale + shift) - 1, 0, height)) & ~1
    end = (moved.top + len(moved.alpha[0])) * scale + shift
    last = int(np.clip(stop if moved.endless else min(np.ceil(end) + 1, stop), 0, height))
    last += last % 2
    if last <= first:
        return
    cover: Any = None
    for part, (target, source) in enumerate(zip(frame, moved.color, strict=True)):
        share = 2 if part else 1
        place = (width // share, (last - first) // share), matrix, moved.top, first, share
        if part < 2:
            cover = _warped(moved.alpha[part], *place)
        moving = _warped(source, *place)
        if twinkle is not None and not part:
            for plane in (cover, moving):
                cv2.multiply(plane, twinkle[first:last], dst=plane, scale=1 / 255)
        piece = target[first // share : last // share]
        cv2.multiply(piece, cv2.bitwise_not(cover), dst=piece, scale=1 / 255)
        cv2.add(piece, moving, dst=piece)


def _warped(
    source: Bytes | Floats,
    size: tuple[int, int],
    matrix: Matrix,
    top: int,
    first: int,
    share: int = 1,
) -> Any:
    """Return what is seen of a plane, whose first row is `top`, from a row of the frame on.

    Pixel centers stand at halves, so that planes of a share of the size stay where they belong.
    """
    scale = matrix[0, 0]
    center = 0.5 / scale - 0.5
    x = center - matrix[0, 2] / scale / share
    y = center + ((first - matrix[1, 2]) / scale - top) / share
    back = np.array([[1 / scale, 0.0, x], [0.0, 1 / scale, y]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(source, back, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _yuv(rgb: Floats, alpha: Floats, rng: np.random.Generator) -> Frame:
    """Return planes of 0 to 1, multiplied by alpha, as luma and chromas, dithered."""
    tile, planes = noise_tile(rng), []
    for number, (*row, offset) in enumerate(YUV):
        plane, cover = offset * alpha, alpha  # it rides on alpha
        for weight, channel in zip(row, rgb, strict=True):
            plane += 255 * weight * channel
        if number:
            plane, cover = _halved(plane), _halved(alpha)
        height, width = plane.shape
        repeats = -(-height // tile.shape[1]), -(-width // tile.shape[2])
        # Only where something covers: what is empty must stay exactly zero.
        plane += 0.5 * np.tile(tile[number], repeats)[:height, :width] * (cover > 0.5)
        planes.append(np.clip(np.rint(plane), 0, 255).astype(np.uint8))
    return planes[0], planes[1], planes[2]


def _halved(plane: Floats) -> Floats:
    height, width = plane.shape
    size = ((width + 1) // 2, (height + 1) // 2)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA))
