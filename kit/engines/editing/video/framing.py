"""Framing: video into a frame of another aspect, stabilized, following the subject.

A first, small analysis of every frame finds camera shake, subjects and shot changes; it runs only
if needed. Frames are warped in their three planes, luma with better filters than chroma: half the
work of warping in color.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.clip import rgb_of, views
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.engines.media.subject import Subject, find

Line: TypeAlias = NDArray[np.float64]
#: From the number of a frame to its matrix, from the whole picture to the window; None if frames
#: are not warped.
Motion: TypeAlias = Callable[[int], Line] | None

#: Reduction of the blurred copy, and its brightness and saturation.
_COPY_SCALE, _COPY_LIGHT, _COPY_CHROMA = 16, 0.6, 0.9
#: Relative difference up to which aspects count as equal and the picture is stretched; and
#: reduction from which cubic weights, which take four times the work, are not needed.
_SAME_ASPECT, _MIN_REDUCTION = 0.012, 1.1
_CHART_SIDE = 320  # pixels of the first analysis
#: Mean difference of two small gray frames above which a new shot may start, and its minimum ratio
#: to the differences around it.
_MIN_CHANGE, _MIN_RATIO = 22.0, 3.0
_LOOK_SECONDS = 0.5  # seconds between two searches for the subject
_MAX_CHANGE = 4.0  # steps of gray; larger differences of a place are all treated alike
_CALM_SECONDS = 0.65  # seconds over which a stabilized camera path is averaged
#: Limits of the enlargement that hides the edges exposed by stabilization, and maximum corrections:
#: shifts in shares of the width, rotation in radians, logarithm of the scale.
_MIN_ZOOM, _MAX_ZOOM = 1.04, 1.14
_MAX_CORRECTION = np.array([0.06, 0.06, 0.035, 0.04])
#: Seconds over which a crop path is averaged: the first with an error below a share of the crop's
#: length, as a subject that runs to and fro soon leaves a slow crop.
_GLIDE_SECONDS, _MAX_ERROR = (0.6, 0.45, 0.3), 0.25
#: Number of crop positions; and the cost of a move relative to the same offset at one sample: more
#: than half, so that it does not move for a single sample, and less than all.
_POSITIONS, _MOVE_COST = 65, 0.7
_MIN_MOVE = 0.25  # of the crop's length: for shorter moves it does not move at all


@dataclass(frozen=True, slots=True)
class Frame:
    """How a picture is placed in a frame; all sizes are (width, height) and even."""

    #: Size of the picture at its display scale, and of the visible part.
    whole: tuple[int, int]
    window: tuple[int, int]
    #: Size of the frame; if it is larger than the window, a blurred copy fills the rest.
    size: tuple[int, int]
    #: Size at which the picture is read; if it is warped, one step warps and scales.
    read: tuple[int, int]

    @property
    def room(self) -> tuple[int, int]:
        """Pixels by which the window can move, across and down."""
        return self.whole[0] - self.window[0], self.whole[1] - self.window[1]


def frame_of(footage: Footage, size: tuple[int, int], fit: str, *, steady: bool = False) -> Frame:
    """Return the placement of a video's pictures in a frame of a size, to be `steady` or not.

    Equal aspects need neither ``smart_crop`` nor ``blurred_fill``.
    """
    across, down = size[0] / footage.width, size[1] / footage.height
    scale, whole, window = across, size, size
    if abs(across / down - 1) >= _SAME_ASPECT:
        scale = max(across, down) if fit == "smart_crop" else min(across, down)
        whole = _even(footage.width * scale), _even(footage.height * scale)
        window = (min(whole[0], size[0]), min(whole[1], size[1]))
    if (not steady and window == whole) or (scale <= 1 and not footage.plain):
        return Frame(whole, window, size, whole)
    # Halved to twice the size at most: linear weights cover only adjacent pixels.
    times = 1 << (max(1, math.ceil(1 / scale) - 1).bit_length() - 1)
    return Frame(whole, window, size, (_even(footage.width / times), _even(footage.height / times)))


def frame_picture(planes: Bytes, how: Frame, matrix: Line | None) -> Bytes:
    """Return an I420 frame of the whole size, from an I420 picture as it was read.

    The matrix, shape (2, 3), maps the whole picture to the window.
    """
    shown = planes if matrix is None else _warp(planes, how, matrix)
    return shown if how.window == how.size else _fill_around(shown, how)


def _warp(planes: Bytes, how: Frame, matrix: Line) -> Bytes:
    out = np.empty((how.window[1] * 3 // 2, how.window[0]), np.uint8)
    pairs = list(zip(views(planes, *how.read), views(out, *how.window), strict=True))
    if how.read != how.whole:
        scale = np.array(how.whole) / np.array(how.read)
        enlarging = np.column_stack([np.diag(scale), (scale - 1) / 2])
        matrix = matrix @ np.vstack([enlarging, [0.0, 0.0, 1.0]])
    if np.array_equal(matrix[:, :2], np.eye(2)):
        for number, (source, target) in enumerate(pairs):
            _shift(source, target, -matrix[:, 2] / (2 if number else 1))
        return out
    half, reduced = matrix.copy(), how.read[0] > _MIN_REDUCTION * how.whole[0]
    # Pixel centers are at halves, so that chroma stays aligned with luma.
    half[:, 2] = (matrix[:, 2] + matrix[:, :2] @ (0.5, 0.5) - 0.5) / 2
    for number, (source, target) in enumerate(pairs):
        cv2.warpAffine(
            source,
            half if number else matrix,
            target.shape[::-1],
            dst=target,
            flags=cv2.INTER_LINEAR if number or reduced else cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )
    return out


def _shift(source: Bytes, target: Bytes, corner: Line) -> None:
    """Fill a window from a corner of a plane: a filter takes a tenth of the time of a warp."""
    x, y = (int(place) for place in np.floor(corner + 1e-3))
    beside, below = (_cubic(place) for place in corner - (x, y))
    left, top = (min(place, len(taps) // 4) for place, taps in ((x, beside), (y, below)))
    part = source[y - top : y + target.shape[0] + 2, x - left : x + target.shape[1] + 2]
    anchor, edge = (len(beside) // 4, len(below) // 4), cv2.BORDER_REPLICATE
    part = cv2.filter2D(part, -1, np.outer(below, beside), anchor=anchor, borderType=edge)
    target[:] = part[top : top + target.shape[0], left : left + target.shape[1]]


def _cubic(share: float) -> Line:
    """Return the cubic weights of four pixels at a share between the second and the third."""
    if abs(share) < 1e-3:
        return np.ones(1)
    far = np.abs(np.arange(1, -3, -1) + share)
    near = (1.25 * far - 2.25) * far**2 + 1
    return np.asarray(np.where(far < 1, near, ((3.75 - 0.75 * far) * far - 6) * far + 3))


def _fill_around(shown: Bytes, how: Frame) -> Bytes:
    """Place the window on a blurred, darker copy of itself that fills the frame."""
    width, height = how.size
    out = np.empty((height * 3 // 2, width), np.uint8)
    left, top = (width - how.window[0]) // 4 * 2, (height - how.window[1]) // 4 * 2
    scale = max(width / how.window[0], height / how.window[1]) / _COPY_SCALE
    pairs = zip(views(shown, *how.window), views(out, *how.size), strict=True)
    for number, (source, target) in enumerate(pairs):
        high, wide = target.shape
        small = [max(4, round(side * scale)) for side in source.shape[::-1]]
        tiny = cv2.resize(source, small, interpolation=cv2.INTER_AREA)
        across, down = max(2, round(wide / _COPY_SCALE)), max(2, round(high / _COPY_SCALE))
        x, y = max(0, (small[0] - across) // 2), max(0, (small[1] - down) // 2)
        tiny = cv2.GaussianBlur(tiny[y : y + down, x : x + across], (0, 0), 1.6)
        zero, share = (128, _COPY_CHROMA) if number else (16, _COPY_LIGHT)
        cv2.convertScaleAbs(tiny, dst=tiny, alpha=share, beta=zero * (1 - share))
        cv2.resize(tiny, (wide, high), dst=target, interpolation=cv2.INTER_CUBIC)
        x, y = (left // 2, top // 2) if number else (left, top)
        target[y : y + source.shape[0], x : x + source.shape[1]] = source
    return out


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))


def motion_of(
    footage: Footage,
    frame: Frame,
    progress: Progress,
    *,
    span: tuple[float, float],
    reading: float,
    fps: float,
    frames: int,
    steady: bool = False,
) -> Motion:
    """Return the motion of a part of a video, which needs an analysis of all its pictures.

    Of each second of the span (start and end in seconds of the video), `reading` frames are
    analyzed, and `fps` are shown. `steady` removes camera shake.
    """
    if not steady and frame.room == (0, 0):
        return None
    scale = _CHART_SIDE / max(footage.width, footage.height)
    size = max(16, _even(footage.width * scale)), max(16, _even(footage.height * scale))
    aspect = frame.window[0] / frame.window[1]
    small = footage.frames(
        reading,
        start=span[0],
        end=span[1],
        size=size,
        i420=True,
        coarse=not steady,
        check=partial(progress.report, 0.0),
    )
    moves, changes = np.zeros((frames, 4)), np.zeros(frames)
    looks: list[tuple[int, Subject]] = []
    before: Bytes | None = None
    every = max(1, round(_LOOK_SECONDS * fps))
    for number, planes in zip(range(frames), small, strict=False):
        gray = views(planes, *size)[0]
        if before is not None:
            tiny = [cv2.resize(it, (48, 27), interpolation=cv2.INTER_AREA) for it in (before, gray)]
            changes[number] = cv2.absdiff(*tiny).mean()
            moves[number] = _motion_between(before, gray) if steady else 0.0
        look = number % every == 0 or changes[number] > _MIN_CHANGE or number == frames - 1
        if look and frame.room != (0, 0):
            looks.append((number, find(rgb_of(planes))))
        before = gray
        progress.report((number + 1) / frames)
    shots = _shots(changes)
    moves[[shot.start for shot in shots]] = 0.0
    corners = np.zeros((frames, 2))
    for axis, room in enumerate(frame.room):
        if room:
            share = frame.window[axis] / frame.whole[axis]
            places = [(number, _best_start(seen, aspect, axis)) for number, seen in looks]
            way = room * _follow(places, shots, share, fps)
            # A crop that hardly moves stays fixed, on whole pixels: that is sharper.
            corners[:, axis] = 2 * np.rint(way.mean() / 2) if np.ptp(way) < 2.0 else way
    if not steady:
        return lambda number: np.column_stack([np.eye(2), -corners[number]])
    corrections, zoom = _steady(moves, shots, frame, fps)
    return lambda number: _steady_matrix(frame, corrections[number], zoom, corners[number])


def _shots(changes: Line) -> list[slice]:
    """Return the intervals between cuts: changes larger than those before and after."""
    count, padded = len(changes), np.pad(changes, 2, mode="edge")
    around = np.max([padded[:count], padded[1 : count + 1], padded[3 : count + 3]], axis=0)
    cuts = np.flatnonzero((changes > _MIN_CHANGE) & (changes > _MIN_RATIO * around)).tolist()
    return [slice(a, b) for a, b in pairwise([*sorted({0, *cuts}), count])]


def _motion_between(before: Bytes, after: Bytes) -> Line:
    """Return the motion of a picture, in the units of corrections; zeros if tracking fails."""
    points = cv2.goodFeaturesToTrack(before, 140, 0.01, 8)
    if points is None or len(points) < 8:
        return np.zeros(4)
    found, state, _ = cv2.calcOpticalFlowPyrLK(
        before, after, points, None, winSize=(17, 17), maxLevel=3
    )
    good = state.ravel() == 1
    if good.sum() < 8:
        return np.zeros(4)
    matrix, inside = cv2.estimateAffinePartial2D(
        points[good], found[good], method=cv2.RANSAC, ransacReprojThreshold=1.5
    )
    if matrix is None or inside.mean() < 0.3:
        return np.zeros(4)
    height, width = before.shape
    middle = matrix @ np.array([width / 2, height / 2, 1.0]) - (width / 2, height / 2)
    turn = np.arctan2(matrix[1, 0], matrix[0, 0])
    size = np.log(max(1e-3, float(np.hypot(matrix[0, 0], matrix[1, 0]))))
    move = np.array([middle[0] / width, middle[1] / width, turn, size])
    # Only sharp areas can be tracked: with a background out of focus all points may be on a person
    # who walks by. The camera's true motion aligns the two pictures better than no motion
    # does.
    one, other = (cv2.GaussianBlur(gray, (0, 0), 1.5) for gray in (before, after))
    stood, moved = (
        np.minimum(cv2.absdiff(guess, other), _MAX_CHANGE).sum()
        for guess in (one, _move_picture(np.asarray(one), move))
    )
    return move if moved < stood else np.zeros(4)


def _move_picture(gray: Bytes, move: Line) -> Bytes:
    """Return a picture after a motion, its edges extended."""
    height, width = gray.shape
    turn, size = float(-np.degrees(move[2])), float(np.exp(move[3]))
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), turn, size)
    matrix[:, 2] += move[:2] * width
    edge = cv2.BORDER_REPLICATE
    return np.asarray(cv2.warpAffine(gray, matrix, (width, height), borderMode=edge))


def _steady(moves: Line, shots: list[slice], frame: Frame, fps: float) -> tuple[Line, float]:
    """Return the correction of each frame and the enlargement of the picture."""
    corrections = np.zeros_like(moves)
    for shot in shots:
        way = np.cumsum(moves[shot], axis=0)
        smooth = np.stack([_smooth(line, _CALM_SECONDS * fps) for line in way.T], axis=1)
        # Large corrections are limited softly, so that they never stop abruptly.
        corrections[shot] = _MAX_CORRECTION * np.tanh((smooth - way) / _MAX_CORRECTION)
    wide, high = frame.window
    across, down, turn, size = np.abs(corrections).T
    shift = 2 * frame.whole[0]
    needed = np.maximum((shift * across + turn * high) / wide, (shift * down + turn * wide) / high)
    return corrections, float(np.clip(1 + needed.max() + size.max(), _MIN_ZOOM, _MAX_ZOOM))


def _steady_matrix(how: Frame, correction: Line, zoom: float, corner: Line) -> Line:
    """Return the matrix that stabilizes a picture and moves a window; no edge is visible."""
    scale = zoom * float(np.exp(correction[3]))
    cos, sin = scale * np.cos(correction[2]), scale * np.sin(correction[2])
    linear, half = np.array([[cos, -sin], [sin, cos]]), np.array(how.window) / 2
    # Shifts are limited softly before they reach the edge; small ones are unchanged.
    shift, spare = correction[:2] * how.whole[0] * zoom, (zoom - 1) * half
    free, rest = 0.7 * spare, np.maximum(0.3 * spare, 1e-9)
    over = np.maximum(np.abs(shift) - free, 0.0)
    held = np.sign(shift) * (np.minimum(np.abs(shift), free) + rest * np.tanh(over / rest))
    return np.column_stack([linear, half + held - linear @ (corner + half)])


def _follow(looks: list[tuple[int, float]], shots: list[slice], share: float, fps: float) -> Line:
    """Return the start of a crop in each frame, in shares of its range, 0 to 1.

    `looks` are (frame, best start) pairs; the crop's length is a share of the frame's.
    """
    out = np.full(shots[-1].stop, 0.5)
    for shot in shots:
        inside = [(n, place) for n, place in looks if shot.start <= n < shot.stop]
        if not inside:
            continue
        places = _calm_path([place for _, place in inside])
        if np.ptp(places) * (1 - share) < _MIN_MOVE * share:
            places[:] = np.median(places)
        at = np.interp(np.arange(shot.start, shot.stop), [n for n, _ in inside], places)
        smooth, most = at, _MAX_ERROR * share / max(1 - share, 1e-9)
        for seconds in _GLIDE_SECONDS:
            smooth = _smooth(at, seconds * fps)
            if np.abs(smooth - at).max() <= most:
                break
        # Smoothing extrapolates past the ends, possibly out of the picture.
        out[shot] = np.clip(smooth, 0.0, 1.0)
    return out


def _best_start(seen: Subject, aspect: float, axis: int) -> float:
    """Return the best start of a crop, in shares of its range."""
    window = seen.window(aspect)
    start, length = float(window[axis]), window[2 + axis]
    most = max(1, seen.size[axis] - length)
    if axis == 0 and len(seen.faces) < 2:
        # A window contains an object equally well at its edge and in its middle.
        middle = seen.faces[0].center[0] if seen.faces else seen.center[0] * seen.size[0]
        start = min(max(middle - length / 2, 0.0), float(most))
    return start / most


def _calm_path(best: list[float]) -> Line:
    """Return positions near the best ones with little motion, optimized over all samples."""
    places = np.linspace(0.0, 1.0, _POSITIONS)
    cost = _MOVE_COST * np.abs(places[:, None] - places[None, :])
    off, back = np.abs(places - best[0]), []
    for place in best[1:]:
        reached = off[None, :] + cost
        back.append(reached.argmin(axis=1))
        off = reached.min(axis=1) + np.abs(places - place)
    way = [int(off.argmin())]
    for choice in reversed(back):
        way.append(int(choice[way[-1]]))
    return places[way[::-1]]


def _smooth(line: Line, sigma: float) -> Line:
    """Smooth along a line with a Gaussian of a deviation in frames; steady pans stay steady."""
    if len(line) < 2 or sigma < 0.5:
        return line
    reach = round(3 * sigma)
    bell = cv2.getGaussianKernel(2 * reach + 1, sigma).ravel()
    padded = np.pad(line, reach, mode="reflect", reflect_type="odd")
    return np.asarray(np.convolve(padded, bell, "valid"))
