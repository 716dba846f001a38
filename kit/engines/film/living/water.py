"""Cascades: threads of water that fall, and the mist that drifts over their foot.

The same noise that painted a fall runs down it; what is drawn is the change since it was painted.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.film.living.scroll import Scroll
from kit.engines.film.living.stage import Stage, add, around, inside
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import painting as motion
from kit.engines.painting.land.falls import BEFORE, CLOUD, GRAINS, NEAR, billows, fallen, threads

_SOFT = 4  # mist is drawn at a quarter of the size
_LIFT = 0.34  # own breadths that mist rises in a second
_BOLD = 1.3  # factor on the noise of what runs: threads blur in the eye
_WHITE = 1.2  # slope of what film shows of dark water; that of bright water is less
_MOST = 200.0  # steps of 8 bits by which water may differ from the rock behind it


class Cascade:
    """Falling water in motion."""

    def __init__(self, fall: motion.Fall, stage: Stage) -> None:
        self._window = window = stage.window(fall.window)
        self.rows = window[0].stop
        down = np.broadcast_to(fall.down, fall.across.shape)
        self._across = stage.found(fall.across, fall.window, window, beyond=True)
        self._down = stage.found(np.ascontiguousarray(down), fall.window, window, beyond=True)
        long = fallen(self._across, self._down)
        pace = stage.drop / fall.seconds
        self._noises = [
            Scroll(
                fall.noise,
                self._across * np.float32(across) + np.float32(fall.shift),
                long * np.float32(steps),
                steps * pace,
                stage.take,
            )
            for across, steps in GRAINS
        ]
        # Mist hides the foot.
        free = stage.shown(window, away=NEAR * fall.away)
        self._free = free * (1.0 - 0.75 * smooth_step(0.72, 1.0, self._down))
        self._painted = self._water(0.0)
        self._gains: list[float] = []

    def light_up(self, planes: Frame) -> None:
        """Measure how water differs from the rock behind it, in some planes."""
        parts = inside(planes, self._window)
        self._gains = [_gain(part, _fitted(self._painted, part)) for part in parts]

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw the water of a moment, in place."""
        change = self._water(moment, _BOLD) - self._painted
        for part, gain in zip(inside(planes, self._window), self._gains, strict=True):
            add(part, _fitted(change, part), gain)

    def _water(self, moment: float, bold: float = 1.0) -> Floats:
        """Return how bright water is, where it covers."""
        noises = (noise.at(moment) * np.float32(bold) for noise in self._noises)
        cover, bright = threads(self._across, self._down, *noises)
        water = cover * bright
        # Film shows white water as white, however bright: its threads are faint.
        return np.asarray(water * (_WHITE - (_WHITE - 1.0) * water) * self._free, np.float32)


class Drifting:
    """Mist over the foot of a fall in motion."""

    def __init__(self, spray: motion.Spray, stage: Stage) -> None:
        self._window = window = stage.window(spray.window, _SOFT)
        self.rows = window[0].stop
        across, up = (
            stage.found(part, spray.window, window, _SOFT, beyond=True)
            for part in (spray.across, spray.up)
        )
        thick = stage.found(spray.thick, spray.window, window, _SOFT)
        self._thick = thick * stage.shown(window, _SOFT, away=BEFORE * spray.away)
        x = across * np.float32(CLOUD) + np.float32(spray.shift)
        # Places run against the noise: up is toward larger places here.
        self._noise = Scroll(
            spray.noise, x, up * np.float32(CLOUD), CLOUD * _LIFT * stage.haste, stage.take
        )
        self._painted = self._mist(0.0)
        self._gain = 0.0

    def light_up(self, planes: Frame) -> None:
        """Measure how bright mist is, in some planes."""
        luma = planes[0][self._window]
        small = cv2.resize(luma, self._thick.shape[::-1], interpolation=cv2.INTER_AREA)
        self._gain = _gain(np.asarray(small), self._painted)

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw the mist of a moment, in place."""
        add(planes[0][self._window], self._mist(moment) - self._painted, self._gain)

    def _mist(self, moment: float) -> Floats:
        return np.asarray(self._thick * billows(self._noise.at(moment)), np.float32)


def _gain(plane: Bytes, share: Floats) -> float:
    """Return by how many steps a plane is brighter where a share is 1 than where it is 0."""
    off = share - np.float32(share.mean())
    power = float((off * off).sum())
    if power < 1e-3:
        return 0.0
    return float(np.clip((off * plane).sum() / power, -_MOST, _MOST))


def _fitted(change: Floats, part: Bytes) -> Floats:
    """Return a change of the luma as one of a plane of its size or half of it."""
    if change.shape == part.shape:
        return change
    return np.asarray(cv2.resize(change, part.shape[::-1], interpolation=cv2.INTER_AREA))


_STEP = 2  # water is looked up at half the size, where chroma is
_BEFORE = 0.97  # what is nearer than this share of the water's distance stands before it
_FAINT = 0.02
_FILM = 0.6  # exponent: film shows half of a light as more than half as bright


class Mirror:
    """Still water under something that moves.

    Parameters
    ----------
    rows : int
        Row of the luma below which nothing moves by itself.

    Attributes
    ----------
    rows : int
        Row below which it shows none of it.
    """

    def __init__(self, water: motion.Mirrored, stage: Stage, rows: int) -> None:
        away = np.inf if stage.away is None else stage.away[water.rows]
        at = water.rows, slice(0, stage.painted[1])
        window = stage.window(at, _STEP)
        free = away > _BEFORE * water.level
        share = np.asarray(np.clip(water.share, 0.0, 1.0) ** _FILM * free, np.float32)
        columns, lines, share = (
            stage.found(np.ascontiguousarray(part), at, window, _STEP, beyond=True)
            for part in (water.columns, water.lines, share)
        )
        scale = np.float32(stage.scale / _STEP)
        columns, lines = ((part + 0.5) * scale - 0.5 for part in (columns, lines))
        self._above = rows = min(rows, window[0].start) // _STEP * _STEP
        share *= lines < rows / _STEP
        part = around(share, _FAINT) or (slice(0, 1), slice(0, 1))
        self._share = np.ascontiguousarray(share[part])
        self._columns, self._lines = (
            np.ascontiguousarray(places[part]) for places in (columns, lines)
        )
        down, across = (
            slice(side.start + _STEP * own.start, side.start + _STEP * own.stop)
            for side, own in zip(window, part, strict=True)
        )
        self._window = down, across
        self.rows = down.stop if around(share, _FAINT) and rows else 0

    def draw(self, planes: Frame, before: Frame) -> None:
        """Draw what has changed in some planes upside down into their water, in place.

        Parameters
        ----------
        before : Frame
            The planes in which nothing has moved yet.
        """
        luma, blue, red = inside(planes, self._window)
        half = self._above // _STEP
        add(luma, self._mirrored(_halved(planes[0], half), _halved(before[0], half)))
        for part, now, was in zip((blue, red), planes[1:], before[1:], strict=True):
            add(part, self._mirrored(now[:half], was[:half]))

    def _mirrored(self, now: Bytes, was: Bytes) -> Floats:
        change = cv2.subtract(now, was, dtype=cv2.CV_32F)
        none = cv2.BORDER_CONSTANT
        seen = cv2.remap(change, self._columns, self._lines, cv2.INTER_LINEAR, borderMode=none)
        return np.asarray(cv2.multiply(seen, self._share, dst=seen))


def _halved(luma: Bytes, rows: int) -> Bytes:
    size = (luma.shape[1] // _STEP, rows)
    above = luma[: rows * _STEP, : size[0] * _STEP]
    return np.asarray(cv2.resize(above, size, interpolation=cv2.INTER_AREA))
