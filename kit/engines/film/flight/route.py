"""Routes: where a flight is at each frame, always above the ground that it comes to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.film.flight.framing import PLAIN, Framing
from kit.engines.painting.heightfield.terrain import SIDE, Land, Station

_SPEED = 44.0  # units a second at full motion
_AHEAD = 80.0  # units that the pilot looks ahead
_TRIES = 48
_WATERS = {"islands": 0.7, "canyon": 0.2}  # share of the ground in view that is best under water
_OVER = {
    "forest": 7.0,
    "islands": 10.0,
    "canyon": 8.0,
}  # units that a kind of land is flown over higher


@dataclass(frozen=True, slots=True)
class Start:
    """Where a flight begins, and the height of the ground there."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, slots=True)
class Course:
    """A flight before its heights are known: one value for each frame.

    Parameters
    ----------
    clearance : ndarray
        Units above the highest ground nearby.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    heading: NDArray[np.float64]
    clearance: NDArray[np.float64]
    horizon: NDArray[np.float64]


#: From a start, the distance of each frame along the way, and motion to a course.
Pilot: TypeAlias = Callable[[Start, NDArray[np.float64], float], Course]


def route(
    ground: Land,
    camera: str,
    frames: int,
    seconds: float,
    motion: float,
    rng: np.random.Generator,
    framing: Framing = PLAIN,
) -> list[Station]:
    """Return where the camera is at each frame.

    Parameters
    ----------
    seconds : float
        That the frames last.
    motion : float
        0 for a camera that hangs in the air, 1 for a fast flight.
    framing : Framing
        What words of composition make of it.
    """
    start = _start(ground, rng)
    far = np.linspace(0.0, seconds, frames) * _SPEED * (0.15 + 0.85 * motion) * (motion > 0)
    course = PILOTS[camera](start, far, motion)
    course = _with(course, framing.clearance(course.clearance), framing.horizon(course.horizon))
    heights = _heights(ground, course, frames / seconds) + _OVER.get(ground.kind, 0.0)
    bank = _bank(course.heading, frames / seconds)
    return [
        Station(*(float(value) for value in values))
        for values in zip(
            course.x, course.y, course.heading, heights, course.horizon, bank, strict=True
        )
    ]


def _start(ground: Land, rng: np.random.Generator) -> Start:
    """Try places and directions: open ground in front, a lively skyline, a part of it water."""
    best, chosen = -math.inf, Start(0.0, 0.0, 0.0)
    for x, y, turn in rng.random((_TRIES, 3)):
        start = Start(x * SIDE, y * SIDE, turn * 2 * math.pi)
        if (worth := _worth(ground, start)) > best:
            best, chosen = worth, start
    return chosen


def _worth(ground: Land, start: Start) -> float:
    z = np.geomspace(24, 700, 80)[:, None]
    across = np.linspace(-0.6, 0.6, 40)[None]
    x = start.x + z * (math.sin(start.heading) + across * math.cos(start.heading))
    y = start.y + z * (math.cos(start.heading) - across * math.sin(start.heading))
    eye = float(ground.top(np.array(start.x), np.array(start.y))) + 22.0
    up = (ground.top(x, y) - eye) / z
    near, far = up[z[:, 0] < 140].max(axis=0), up[z[:, 0] >= 200].max(axis=0)
    worth = 3 * min(float(far.max()), 0.34) + 4 * float(far.std()) - 4 * abs(far.mean() - 0.11)
    worth -= 3 * max(0.0, float(up.max()) - 0.36)
    worth -= 4 * max(0.0, float(near.max()) + 0.03)
    if ground.water is None:
        return float(worth)
    visible = (up >= np.maximum.accumulate(up, axis=0) - 1e-6) & (z < 320)
    wet = ground.wet(x, y) & visible
    return float(
        worth - 1.2 * abs(wet.sum() / max(1, visible.sum()) - _WATERS.get(ground.kind, 0.45))
    )


def _straight(start: Start, far: NDArray[np.float64], bend: float) -> Course:
    """Fly ahead, swinging gently to both sides by `bend` radians."""
    heading = start.heading + bend * np.sin(far / 74.0)
    step = np.diff(far, prepend=far[0])
    x = start.x + np.cumsum(np.sin(heading) * step)
    y = start.y + np.cumsum(np.cos(heading) * step)
    flat = np.zeros_like(far)
    return Course(x, y, heading, flat + 17.0, flat + 0.40)


def _with(course: Course, clearance: NDArray[np.float64], horizon: NDArray[np.float64]) -> Course:
    return Course(course.x, course.y, course.heading, clearance, horizon)


def _forward(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    return _straight(start, far, 0.03)


def _glide(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    return _straight(start, far, 0.34)


def _skim(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    course = _straight(start, far * 1.15, 0.24)
    return _with(course, np.full_like(far, 7.0), np.full_like(far, 0.44))


def _high(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    course = _straight(start, far * 1.25, 0.16)
    return _with(course, np.full_like(far, 74.0), np.full_like(far, 0.24))


def _rise(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    course = _straight(start, far * 0.55, 0.08)
    up = _eased(len(far)) * motion
    return _with(course, 8.0 + 92.0 * up, 0.46 - 0.26 * up)


def _descend(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    course = _straight(start, far * 0.8, 0.12)
    up = (1.0 - _eased(len(far))) * motion
    return _with(course, 9.0 + 82.0 * up, 0.44 - 0.22 * up)


def _orbit(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    """Circle around a place ahead, always looking at it."""
    radius = 170.0
    center_x = start.x + radius * math.sin(start.heading)
    center_y = start.y + radius * math.cos(start.heading)
    turned = start.heading + far * 1.25 / radius
    flat = np.zeros_like(far)
    return Course(
        center_x - radius * np.sin(turned),
        center_y - radius * np.cos(turned),
        turned,
        flat + 30.0,
        flat + 0.36,
    )


def _still(start: Start, far: NDArray[np.float64], motion: float) -> Course:
    return _straight(start, far * 0.0, 0.0)


PILOTS: dict[str, Pilot] = {
    "forward": _forward,
    "glide": _glide,
    "skim": _skim,
    "high": _high,
    "rise": _rise,
    "descend": _descend,
    "orbit": _orbit,
    "still": _still,
}


def _heights(ground: Land, course: Course, rate: float) -> NDArray[np.float64]:
    """Return heights that clear what lies on the next stretch of the way, without a jolt."""
    ahead = np.arange(0.0, _AHEAD, 5.0)[:, None]
    side = np.linspace(-0.25, 0.25, 5)[:, None, None]
    x = course.x + ahead * np.sin(course.heading) + side * ahead * np.cos(course.heading)
    y = course.y + ahead * np.cos(course.heading) - side * ahead * np.sin(course.heading)
    # What is far ahead is still to be climbed over: it counts a little less.
    nearby = ground.top(x, y) - 0.10 * ahead
    highest = nearby.max(axis=(0, 1))
    # Widened before it is smoothed, the path never cuts through what it was to clear.
    reach = max(1, round(0.8 * rate))
    wide = np.stack(
        [np.pad(highest, reach, mode="edge")[k : k + len(highest)] for k in range(2 * reach + 1)]
    ).max(axis=0)
    kernel = np.hanning(2 * reach + 3)[1:-1]
    smooth = np.convolve(np.pad(wide, reach, mode="edge"), kernel / kernel.sum(), "valid")
    return np.asarray(smooth + course.clearance)


def _bank(heading: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Lean into turns as an airplane does, no more than a few degrees."""
    if len(heading) < 3:
        return np.zeros_like(heading)
    turning = np.gradient(heading) * rate
    sigma = max(1.0, 0.35 * rate)
    smooth = cv2.GaussianBlur(turning[None], (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)[0]
    return np.asarray(np.clip(smooth * 0.26, -0.05, 0.05))


def _eased(count: int) -> NDArray[np.float64]:
    share = np.linspace(0.0, 1.0, count)
    return np.asarray(share * share * (3 - 2 * share))
