"""Strokes: lines that follow a current and never cross, thick ones first."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes
from kit.engines.painting.framing import pool
from kit.engines.painting.noise import Plane, across, enlarge_middle, field

_GRID = 320  # cells of the longer side in which the current and the taken room are kept
#: Cells around the frame: at its own edge noise runs flat, and all lines would meet it squarely.
_MARGIN = 28
_SPARSE = 400  # strokes, below which they gather about one place
_SHIFT = 4  # fractional bits of OpenCV's drawing coordinates


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a drawing of strokes is laid out.

    Parameters
    ----------
    whirls : float
        Along the longer side.
    count : int
        Strokes that are tried; most later ones find no room.
    length : float
        Of the longest strokes, as a share of the longer side.
    widths : tuple of float
        Of the thickest and the thinnest strokes, as shares of the longer side.
    gap : float
        Room between strokes, likewise.
    zoom : float
        Above 1, how near the whirls are seen.
    around : tuple of float or None
        A whirl that all strokes turn about: its place as shares of width and height, and its
        reach in shorter sides. With few strokes they keep to it.
    """

    whirls: float
    count: int
    length: float
    widths: tuple[float, float]
    gap: float
    zoom: float = 1.0
    around: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """One line: points (n, 2) in pixels, its width there, and where in the inks its color lies."""

    points: NDArray[np.float64]
    width: float
    tone: float


def laid(
    rng: np.random.Generator, height: int, width: int, course: Course, progress: Progress
) -> list[Stroke]:
    """Return strokes that fill a frame, thick ones first, without touching one another."""
    size = max(height, width)
    cell = size / _GRID
    rows, columns = int(np.ceil(height / cell)), int(np.ceil(width / cell))
    wide_rows, wide_columns = rows + 2 * _MARGIN, columns + 2 * _MARGIN
    whirls = across(course.whirls * max(1.0, course.zoom), wide_rows, wide_columns)
    height_of = field(rng, wide_rows, wide_columns, cells=whirls, octaves=3)
    if course.zoom > 1.0:
        height_of = enlarge_middle(height_of, course.zoom)
    tone_of = field(rng, rows, columns, cells=across(2.5, rows, columns), octaves=3)
    starts = rng.random((course.count, 2)) * (width, height)
    if course.around:
        _gather(height_of, starts, course, (height, width))
    ranks = np.linspace(0.0, 1.0, course.count)
    wide, slim = course.widths[0] * size, course.widths[1] * size
    widths = slim + (wide - slim) * (1.0 - ranks) ** 2.6
    paths = (
        _followed(height_of, starts / cell + _MARGIN, int(course.length * _GRID / 2 / 1.2))
        - _MARGIN
    )
    half = len(paths) // 2
    room = np.zeros((rows, columns), np.uint8)
    strokes = []
    for number in range(course.count):
        if number % 128 == 0:
            progress.report(number / course.count)
        free = _free(room, paths[:, number], half)
        if len(free) < 7 + 2.2 * widths[number] / cell:
            continue
        around = max(1, round((widths[number] + 2 * course.gap * size) / cell))
        cv2.polylines(room, [np.round(free).astype(np.int32)], False, 1, around)
        x, y = free[len(free) // 2].astype(int)
        tone = float(tone_of[min(y, rows - 1), min(x, columns - 1)]) + 0.5 * rng.standard_normal()
        strokes.append(Stroke(points=free * cell, width=float(widths[number]), tone=tone))
    return strokes


def _gather(
    height_of: Plane, starts: NDArray[np.float64], course: Course, shape: tuple[int, int]
) -> None:
    """Make a current turn about one place, in place; few strokes start near it."""
    x, y, reach = course.around or (0.5, 0.5, 1.0)
    height, width = shape
    rows, columns = height_of.shape
    inner = (rows - 2 * _MARGIN, columns - 2 * _MARGIN)
    at = (_MARGIN + x * inner[1]) / columns, (_MARGIN + y * inner[0]) / rows
    height_of *= np.float32(0.55)
    height_of += np.float32(3.2) * pool(rows, columns, at, reach * min(inner) / min(rows, columns))
    if course.count < _SPARSE:
        starts -= (0.5 * width, 0.5 * height)
        starts *= 0.9 * reach * min(shape) / np.array([width, height])
        starts += (x * width, y * height)


def drawn(canvas: Bytes, strokes: list[Stroke], colors: NDArray[np.uint8], scale: float) -> None:
    """Draw strokes, pointed at both ends, on a canvas that is `scale` times as large."""
    for stroke in strokes:
        place = np.clip(0.5 + 0.27 * stroke.tone, 0.0, 0.999)
        color = colors[int(place * len(colors))]
        outline = np.round(_outline(stroke) * scale * 2**_SHIFT).astype(np.int32)
        cv2.fillPoly(canvas, [outline], color.tolist(), cv2.LINE_AA, _SHIFT)


def _followed(height_of: Plane, starts: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Return paths along the contours of a field, both ways, shape (2 * steps + 1, n, 2)."""
    right = cv2.Sobel(height_of, cv2.CV_32F, 1, 0, ksize=5)
    down = cv2.Sobel(height_of, cv2.CV_32F, 0, 1, ksize=5)
    steep = np.hypot(right, down) + 1e-6
    flow = np.stack([down / steep, -right / steep], axis=-1)
    forth = _stepped(flow, starts, steps, 1.2)
    back = _stepped(flow, starts, steps, -1.2)
    return np.concatenate([back[:0:-1], forth])


def _stepped(
    flow: Plane, starts: NDArray[np.float64], steps: int, step: float
) -> NDArray[np.float64]:
    rows, columns = flow.shape[:2]
    path = np.empty((steps + 1, *starts.shape))
    at = starts
    for number in range(steps + 1):
        path[number] = at
        x = np.clip(at[:, 0], 0, columns - 1).astype(np.int32)
        y = np.clip(at[:, 1], 0, rows - 1).astype(np.int32)
        at = at + flow[y, x] * step
    return path


def _free(room: NDArray[np.uint8], path: NDArray[np.float64], half: int) -> NDArray[np.float64]:
    """Return the stretch of a path round its start that runs through free room."""
    rows, columns = room.shape
    x, y = path[:, 0].astype(np.int32), path[:, 1].astype(np.int32)
    inside = (x >= -4) & (x < columns + 4) & (y >= -4) & (y < rows + 4)
    taken = room[np.clip(y, 0, rows - 1), np.clip(x, 0, columns - 1)].astype(bool) | ~inside
    if taken[half]:
        return path[:0]
    blocked = np.flatnonzero(taken)
    place = int(np.searchsorted(blocked, half))
    first = int(blocked[place - 1]) + 1 if place else 0
    last = int(blocked[place]) if place < len(blocked) else len(path)
    return path[first:last]


def _outline(stroke: Stroke) -> NDArray[np.float64]:
    points = stroke.points
    kernel = np.ones(5) / 5
    padded = np.pad(points, ((2, 2), (0, 0)), mode="edge")
    points = np.stack([np.convolve(padded[:, axis], kernel, "valid") for axis in (0, 1)], axis=1)
    ahead = np.gradient(points, axis=0)
    ahead /= np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-6)[:, None]
    share = np.linspace(0.0, 1.0, len(points))
    half = 0.5 * stroke.width * np.clip(4.2 * share * (1.0 - share), 0.0, 1.0) ** 0.55
    side = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) * half[:, None]
    return np.concatenate([points + side, (points - side)[::-1]])
