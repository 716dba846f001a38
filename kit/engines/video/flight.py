"""How a drifting landscape is made: compose once, then move its sheets frame by frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.landscape import falling
from kit.engines.landscape.compose import Look, Picture, compose
from kit.engines.landscape.falling import Fall
from kit.engines.landscape.plane import Plane, Stage
from kit.engines.landscape.scene import Scene, read
from kit.engines.landscape.settings import shortest_side
from kit.engines.media.clip import CONTENT_TYPE, Clip, rgb_of
from kit.engines.media.color import Bytes
from kit.engines.media.picture import write_thumbnail
from kit.engines.video.camera import REACH, View, nearness, view
from kit.engines.video.ripples import Ripples
from kit.engines.video.sheets import Frame, Matrix, Sheet, backdrop, lay, sheet, views

_POSTER = 0.4  # the preview shows this moment of the clip
_WIND = 0.012  # frame widths that the nearest clouds move in a second, at full motion


@dataclass(frozen=True, slots=True)
class Shot:
    """What the settings ask of the camera."""

    camera: str
    motion: float
    loop: bool
    seconds: float
    frames: int


def fly(job: Job, progress: Progress) -> Asset:
    """Render a job of the drift model."""
    values = job.parameters
    progress.report(0.0)
    scene = read(job.prompt, seed=job.seed, palette=values["palette"])
    shot = _shot(values)
    width, height = shortest_side(values["aspect_ratio"], int(values["resolution"].rstrip("p")))
    flight = Flight(scene, shot, width, height)
    progress.report(0.08)
    path = job.folder / "drift.mp4"
    thumbnail = job.folder / "thumbnail.jpg"
    drawing = progress.part(0.08, 0.98)
    with Clip(path, width, height, fps=values["fps"]) as clip:
        for number in drawing.over(range(shot.frames)):
            frame = flight.frame(number)
            if number == int(_POSTER * shot.frames):
                thumbnail = write_thumbnail(rgb_of(frame), job.folder)
            clip.add(frame)
    progress.report(1.0)
    return Asset(
        path=path,
        content_type=CONTENT_TYPE,
        width=width,
        height=height,
        duration_seconds=shot.frames / values["fps"],
        thumbnail=thumbnail,
        metadata={"scene": scene.facts(), "seed": job.seed, "frames": shot.frames},
    )


class Flight:
    """A landscape that can be seen at any moment of a shot."""

    def __init__(self, scene: Scene, shot: Shot, width: int, height: int) -> None:
        self._shot = shot
        self._stage = _stage(shot, width, height)
        rng = np.random.default_rng([scene.number, 98])
        picture = compose(scene, Look(), self._stage)
        self._sky = backdrop(picture.sky, self._stage, rng)
        self._back = _sheets(picture.back, self._stage, rng)
        self._front = _sheets(picture.front, self._stage, rng)
        self._water = Ripples(picture, picture.water, rng) if picture.water else None
        self._shore = _shore_depth(picture)
        kind = falling.kind_of(scene)
        self._falls = falling.falls(rng, width, height, kind) if kind else []
        self._tiles = [np.tile(fall.tile, (2, 2)) for fall in self._falls]
        self._warm = kind == "fireflies"
        self._shimmer = _shimmer(rng, width, height)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        shot, stage = self._shot, self._stage
        last = shot.frames if shot.loop else max(1, shot.frames - 1)
        moment = number / last
        seen = view(shot.camera, moment, motion=shot.motion, loop=shot.loop)
        out = self._sky.copy()
        frame = views(out, stage.width, stage.height)
        twinkle = self._twinkle(moment)
        self._lay_all(frame, self._back, seen, moment, twinkle)
        if self._water is not None:
            turns = max(1, round(shot.seconds * 0.45)) * moment
            self._water.draw(frame, _matrix(stage, seen, self._shore), turns, twinkle)
        self._lay_all(frame, self._front, seen, moment, twinkle)
        self._fall(frame, moment, twinkle)
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
        shot = self._shot
        if shot.loop:
            return _WIND * shot.motion * math.sin(2 * math.pi * moment)
        return _WIND * shot.motion * (moment - 0.5) * shot.seconds

    def _twinkle(self, moment: float) -> Bytes:
        """Cut a patch of the shimmer that glides along, once around in a loop."""
        height, width = self._stage.height, self._stage.width
        turns = max(1, round(self._shot.seconds / 4))
        step = int(moment * turns * (self._shimmer.shape[1] - width)) % (
            self._shimmer.shape[1] - width
        )
        return self._shimmer[:height, step : step + width]

    def _fall(self, frame: Frame, moment: float, twinkle: Bytes) -> None:
        height, width = self._stage.height, self._stage.width
        for number, (fall, tile) in enumerate(zip(self._falls, self._tiles, strict=True)):
            x, y = self._sway(moment, number) if self._warm else self._way(fall, moment)
            left, top = round(-x * width) % width, round(-y * height) % height
            patch = tile[top : top + height, left : left + width]
            if self._warm:
                patch = cv2.multiply(patch, twinkle, scale=1 / 200)
                small = cv2.resize(patch, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
                cv2.subtract(frame[1], cv2.convertScaleAbs(small, alpha=0.4), dst=frame[1])
            cv2.add(frame[0], patch, dst=frame[0])

    def _way(self, fall: Fall, moment: float) -> tuple[float, float]:
        """Return how far weather has fallen; in a loop it goes around a whole number of times."""
        seconds = self._shot.seconds
        x, y = (speed * seconds for speed in fall.speed)
        if self._shot.loop:
            x, y = float(round(x)), float(max(1, round(y)))
        return x * moment, y * moment

    def _sway(self, moment: float, number: int) -> tuple[float, float]:
        """Return where fireflies hover: each layer on its own small round."""
        turn = 2 * math.pi * (max(1, round(self._shot.seconds / 4)) * moment + number / 3)
        return 0.014 * math.sin(turn), 0.018 * math.cos(turn)


def _shot(values: Any) -> Shot:
    frames = max(1, round(values["duration"] * values["fps"]))
    return Shot(
        values["camera"], values["motion"], values["loop"], float(values["duration"]), frames
    )


def _stage(shot: Shot, width: int, height: int) -> Stage:
    """Return the frame with as much margin as the camera needs."""
    across, down = (
        math.ceil(shot.motion * reach * size)
        for reach, size in zip(REACH, (width, height), strict=True)
    )
    margin_y = down if shot.camera == "rise" else 0
    return Stage(width, height, across + 8 & ~1, margin_y + 1 & ~1)


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
