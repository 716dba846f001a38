"""Motions: animated changes of a painting before the camera is applied.

A layer changes the light of a painting's planes in place, within the painter's mask: by a factor,
so that it suits every hour. `kit.engines.film.living` applies all layers in turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.film.parallax import DepthRelief
from kit.engines.media.clip import Frame
from kit.engines.media.color import Floats
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting import noise
from kit.engines.painting.painting import Motion, Painting, Window

_PERIOD_SECONDS = 5.0  # seconds of a period of slow motions
_RUN_SECONDS = 4.0  # seconds after which noise restarts in a loop
_LIGHT_GROUPS = 24  # of lights that flicker together
#: Cycles of each wave of a light per period, and its amplitude as a share of the light.
_LAMP_WAVES = ((1, 0.32), (3, 0.24), (7, 0.16))
_STAR_WAVES = ((3, 0.20), (7, 0.24), (13, 0.16))
_CLOUD_SPEED = 0.018  # widths per second of clouds
_MIN_MASK = 0.02  # mask values below are invisible
_OCCLUSION = 0.92  # pixels nearer than this share of a distance occlude it


class MotionLayer(Protocol):
    """A motion in the planes of a painting."""

    rows: int  # rows of the luma that it may change
    night: bool  # only visible at night

    def draw(self, planes: Frame, moment: float, share: float) -> None:
        """Draw a share of the change at a moment, 0 to 1 of the clip, in place."""


@dataclass(frozen=True, slots=True)
class LayerCanvas:
    """The planes of a painting, with even width and height in pixels of the luma."""

    width: int
    height: int
    painted: tuple[int, int]  # rows and columns of the painting
    take: Take

    def fit(self, part: Floats, window: Window | None = None, step: int = 2) -> Floats:
        """Return a window of the painting as planes `step` times smaller than the luma."""
        if window is not None:
            whole = np.zeros(self.painted, np.float32)
            target = whole[window]
            target[...] = cv2.resize(part, target.shape[::-1])
            part = whole
        size = (self.width // step, self.height // step)
        way = cv2.INTER_AREA if part.shape[1] > size[0] else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(part, size, interpolation=way))


def bounds_of(mask: Floats) -> Window:
    """Return the rows and columns of the visible part of a mask, even and never empty."""
    ends = []
    for axis, most in enumerate(mask.shape):
        found = np.flatnonzero((mask > _MIN_MASK).any(axis=1 - axis))
        first, last = (int(found[0]) & ~1, int(found[-1]) + 1) if len(found) else (0, 0)
        ends.append(slice(min(first, most - 2), min(most & ~1, max(first + 2, last + last % 2))))
    return ends[0], ends[1]


def count_turns(take: Take, period: float = _PERIOD_SECONDS) -> int:
    """Return how many times a motion of about a period repeats in a clip."""
    return max(1, round(take.seconds / period))


class Shimmer:
    """Light with moving noise: smoke, lava, falling water, mist, northern lights."""

    def __init__(
        self, motion: Motion, painting: Painting, canvas: LayerCanvas, rng: np.random.Generator
    ) -> None:
        free = np.ones(canvas.painted, np.float32) if painting.sky is None else painting.sky
        if motion.distance is not None and painting.depth is not None:
            free = np.asarray(painting.depth > _OCCLUSION * motion.distance, np.float32)
        parts = (motion.mask, motion.x, motion.y)
        mask, x, y = (canvas.fit(plane, motion.window) for plane in parts)
        mask *= canvas.fit(free)
        part = bounds_of(mask)
        rows, columns = (slice(2 * side.start, 2 * side.stop) for side in part)
        self._window, self.rows, self.night = (rows, columns), rows.stop, motion.kind == "curtains"
        self._motion, self._mask, self._take = motion, mask[part], canvas.take
        self._tile = noise.tile(rng, cells=64, octaves=2)
        # Scaled by the motion setting, 1 by default; gravity hardly depends on it.
        pace = 0.7 + 0.5 * self._take.motion if motion.kind == "fall" else 0.4 + self._take.motion
        self._waves = [
            (x[part] * np.float32(across), y[part] * np.float32(along), speed * pace, share)
            for across, along, speed, share in motion.waves
        ]

    def draw(self, planes: Frame, moment: float, share: float) -> None:
        """Draw a moment, in place."""
        turn = 2 * math.pi * count_turns(self._take) * moment
        beat = sum(math.sin(count * turn) / (1 + n) for n, count in enumerate((2, 5, 11, 23)))
        level = np.full_like(self._mask, self._motion.flicker * beat)
        for x, y, speed, part in self._waves:
            level += np.float32(part) * self._noise(x, y, speed, moment)
        level = np.clip(level, -0.5, self._motion.max_gain) * self._mask * np.float32(share)
        luma = planes[0][self._window]
        half = tuple(slice(side.start // 2, side.stop // 2) for side in self._window)
        chroma = [plane[half] for plane in planes[1:]]
        big = cv2.resize(level, luma.shape[::-1], interpolation=cv2.INTER_LINEAR)
        luma[...] = cv2.multiply(luma, 1.0 + big, dtype=cv2.CV_8U)
        # Brighter light is whiter; darker light keeps its color.
        dark = cv2.resize(np.minimum(level, 0.0), chroma[0].shape[::-1])
        for plane in chroma:
            colored = cv2.multiply(plane, 1.0 + dark, dtype=cv2.CV_32F)
            plane[...] = cv2.scaleAdd(dark, -128.0, colored).astype(np.uint8)

    def _noise(self, x: Floats, y: Floats, speed: float, moment: float) -> Floats:
        seconds = self._take.seconds
        if not self._take.loop:
            return noise.sample(self._tile, x, y - np.float32(speed * seconds * moment))
        # Two alternating runs: each restarts while it is invisible.
        rounds = count_turns(self._take, _RUN_SECONDS)
        first = rounds * moment % 1.0
        total = np.zeros_like(y)
        for part, aside in ((first, 0.0), ((first + 0.5) % 1.0, 211.0)):
            shift = speed * seconds / rounds * (part - 0.5)
            total += np.float32(1.0 - abs(2.0 * part - 1.0)) * noise.sample(
                self._tile, x, y - np.float32(shift + aside)
            )
        share = 1.0 - abs(2.0 * first - 1.0)
        return total / np.float32(math.hypot(share, 1.0 - share))


class Flicker:
    """Flickering lights in independent groups; of stars nearly all, and quickly."""

    night = True

    def __init__(
        self, lights: Floats, canvas: LayerCanvas, rng: np.random.Generator, *, stars: bool
    ) -> None:
        mask = canvas.fit(lights, step=1)
        self.rows = bounds_of(mask)[0].stop
        self._mask = np.rint(mask[: self.rows] * 255).astype(np.uint8)
        self._take, self._waves = canvas.take, _STAR_WAVES if stars else _LAMP_WAVES
        # Adjacent lights, like the letters of a sign, are one.
        near = np.ones((3, 3) if stars else (max(3, canvas.height // 90) | 1,) * 2, np.uint8)
        wide = cv2.threshold(cv2.dilate(self._mask, near), 24, 1, cv2.THRESH_BINARY)[1]
        count, labels = cv2.connectedComponents(wide)
        self._groups = rng.integers(0, _LIGHT_GROUPS, count).astype(np.uint8)[labels]
        self._phases = rng.random((len(self._waves), _LIGHT_GROUPS))
        self._calm = rng.random(_LIGHT_GROUPS) < (0.15 if stars else 0.45)

    def draw(self, planes: Frame, moment: float, share: float) -> None:
        """Dim the lights at a moment, in place."""
        level = np.full(_LIGHT_GROUPS, 0.32)
        for (count, far), phase in zip(self._waves, self._phases, strict=True):
            level += far * np.sin(2 * np.pi * (count * count_turns(self._take) * moment + phase))
        dim = np.zeros(256, np.uint8)
        dim[:_LIGHT_GROUPS] = np.where(self._calm, 0, 255 * share * np.clip(level, 0.0, 1.0))
        over = planes[0][: self.rows]
        lost = cv2.multiply(self._mask, cv2.LUT(self._groups, dim), scale=1 / 255)
        cv2.subtract(over, cv2.multiply(over, lost, scale=1 / 255), dst=over)


class Clouds:
    """Thin clouds that drift over the sky and dim a share of its light."""

    night = False

    def __init__(
        self, sky: Floats, dense: float, canvas: LayerCanvas, rng: np.random.Generator
    ) -> None:
        self._take, self._width, height = canvas.take, canvas.width, canvas.height
        horizon = float(np.clip(np.median((sky > 0.5).mean(axis=0)), 0.15, 0.75))
        self.rows = rows = int(height * min(1.0, horizon + 0.25))
        # A plane overhead: rows near the horizon are far away and close together.
        up = np.clip(horizon - np.arange(rows, dtype=np.float32) / height, 0.0, 1.0)[:, None]
        across = np.arange(self._width, dtype=np.float32)[None] * (noise.SIDE / self._width)
        x, y = np.broadcast_arrays(across, 130.0 / (up + np.float32(0.14)))
        flat = noise.sample(noise.tile(rng, cells=4), x, y)
        tile = np.rint(120 * smooth_step(-0.2, 2.6, flat)).astype(np.uint8)
        self._tile = np.hstack([tile, tile])
        mask = canvas.fit(sky, step=1)[:rows] * smooth_step(0.03, 0.28, up) * np.float32(dense)
        self._mask = np.rint(mask * 255).astype(np.uint8)

    def draw(self, planes: Frame, moment: float, share: float) -> None:
        """Draw the clouds at a moment over the sky, in place."""
        far = _CLOUD_SPEED * self._take.seconds
        shift = far * moment
        if self._take.loop:  # all around, or there and back
            shift = round(far) * moment or far / 2 * math.sin(2 * math.pi * moment)
        left = -shift * self._width % self._width
        center = (left + (self._width - 1) / 2, (self.rows - 1) / 2)
        patch = cv2.getRectSubPix(self._tile, (self._width, self.rows), center)
        over = planes[0][: self.rows]
        light = cv2.convertScaleAbs(over, alpha=0.45, beta=10)
        light = cv2.multiply(light, self._mask, scale=1 / 255)
        cv2.add(over, cv2.multiply(patch, light, scale=1 / 255), dst=over)


class Ripples:
    """Circular displacements: ripples of water, flow of ink.

    The mask, of any size, is the amplitude at each place, in heights of the frame; cells are the
    blobs down and across.
    """

    def __init__(
        self,
        mask: Floats,
        cells: tuple[int, int],
        take: Take,
        relief: DepthRelief,
        rng: np.random.Generator,
    ) -> None:
        self._turns = count_turns(take, 2.6 if cells[0] > cells[1] else _PERIOD_SECONDS)
        rows, columns = relief.shape
        whole = cv2.resize(mask, (relief.width, relief.height), interpolation=cv2.INTER_LINEAR)
        left, top = (relief.width - take.width) // 2, (relief.height - take.height) // 2
        part = whole[top : top + take.height, left : left + take.width]
        amount = cv2.resize(part, (columns, rows), interpolation=cv2.INTER_AREA) * take.height
        moved = np.flatnonzero(amount.any(axis=1))
        self._top = int(moved[0]) if len(moved) else rows  # no ripples above the water
        self._fields = [
            (field(rng, rows, columns, cells=cells, octaves=2) * amount)[self._top :]
            for _ in range(4)
        ]

    def displace(self, moment: float, maps: tuple[Floats, Floats]) -> None:
        """Add the displacements at a moment to the source columns and rows of blocks."""
        turn = 2 * math.pi * self._turns * moment
        for part, fields in zip(maps, (self._fields[:2], self._fields[2:]), strict=True):
            below = part[self._top :]
            for shift, amount in zip(fields, (math.cos(turn), math.sin(turn)), strict=True):
                cv2.scaleAdd(shift, amount, below, dst=below)
