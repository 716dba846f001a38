"""Framing: a picture of one shape comes into a frame of another, sharp and without black bars.

Frames are moved in their three planes, luma with more care than chroma: half the work of moving
them in color.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.video.survey import Moves, Survey, shots
from kit.engines.media.clip import views
from kit.engines.media.color import Bytes, Floats

_TINY = 16  # the blurred copy is worked out at so many times smaller a size
_DIM, _FADE = 0.6, 0.9  # brightness and color of the blurred copy
#: Shapes that differ by less than this are the same; the picture is stretched by a hair.
_SAME = 0.012


@dataclass(frozen=True, slots=True)
class Frame:
    """How a picture comes into a frame.

    Parameters
    ----------
    whole : (width, height)
        Of the picture at the scale at which it is shown; even.
    window : (width, height)
        Of the part that is shown; even.
    size : (width, height)
        Of the whole frame; where it is larger than the window, a blurred copy fills the rest.
    read : (width, height)
        Size at which the picture is to be read: smaller than the whole where only a part of it is
        enlarged, which then costs no more than the part.
    """

    whole: tuple[int, int]
    window: tuple[int, int]
    size: tuple[int, int]
    read: tuple[int, int]

    @property
    def room(self) -> tuple[int, int]:
        """Pixels by which the window can move, across and down."""
        return self.whole[0] - self.window[0], self.whole[1] - self.window[1]

    @property
    def filled(self) -> bool:
        """Whether there is something to fill."""
        return self.window != self.size


def frame_of(source: tuple[int, int], size: tuple[int, int], fit: str) -> Frame:
    """Return how a picture of one size comes into a frame of another.

    Parameters
    ----------
    fit : str
        ``smart_crop`` or ``blurred_fill``; equal shapes need neither.
    """
    across, down = size[0] / source[0], size[1] / source[1]
    if abs(across / down - 1) < _SAME:
        return Frame(size, size, size, size)
    scale = max(across, down) if fit == "smart_crop" else min(across, down)
    whole = _even(source[0] * scale), _even(source[1] * scale)
    window = (min(whole[0], size[0]), min(whole[1], size[1]))
    part = scale > 1 and window != whole
    read = (_even(source[0]), _even(source[1])) if part else whole
    return Frame(whole, window, size, read)


def framed(planes: Bytes, how: Frame, matrix: NDArray[np.float64] | None) -> Bytes:
    """Return an I420 frame of the whole size.

    Parameters
    ----------
    planes : ndarray of uint8
        The picture as it was read, I420.
    matrix : ndarray or None
        Shape (2, 3), from places in the whole picture to places in the window; None leaves it
        where the two have the same size.
    """
    shown = planes if matrix is None else _moved(planes, how, matrix)
    return _filled(shown, how) if how.filled else shown


def shifted(left: float, top: float) -> NDArray[np.float64]:
    """Return the matrix for a window whose corner is at a place."""
    return np.array([[1.0, 0.0, -left], [0.0, 1.0, -top]])


def turned(
    how: Frame, correction: NDArray[np.float64], zoom: float, left: float, top: float
) -> NDArray[np.float64]:
    """Return the matrix that steadies a picture and moves a window over it.

    Parameters
    ----------
    correction : ndarray
        Shift across and down in shares of the width, turn, logarithm of the scale.
    zoom : float
        Enlargement about the window's middle; the shift is held back so that no edge shows.
    """
    scale = zoom * float(np.exp(correction[3]))
    cos, sin = scale * np.cos(correction[2]), scale * np.sin(correction[2])
    middle = np.array([left + how.window[0] / 2, top + how.window[1] / 2])
    linear = np.array([[cos, -sin], [sin, cos]])
    half = np.array(how.window) / 2
    spare = np.maximum(0.0, [(zoom - 1) / 2 * how.window[0], (zoom - 1) / 2 * how.window[1]])
    shift = _held(correction[:2] * how.whole[0] * zoom, spare)
    offset = half + shift - linear @ middle
    return np.column_stack([linear, offset])


def _held(shift: NDArray[np.float64], spare: NDArray[np.float64]) -> NDArray[np.float64]:
    """Hold shifts back softly before they reach the edge; small ones stay as they are."""
    free, rest = 0.7 * spare, np.maximum(0.3 * spare, 1e-9)
    over = np.maximum(np.abs(shift) - free, 0.0)
    held = np.minimum(np.abs(shift), free) + rest * np.tanh(over / rest)
    return np.asarray(np.sign(shift) * held)


def _moved(planes: Bytes, how: Frame, matrix: NDArray[np.float64]) -> Bytes:
    if how.read != how.whole:
        matrix = matrix @ np.vstack([_enlarging(how), [0.0, 0.0, 1.0]])
    elif np.array_equal(matrix[:, :2], np.eye(2)):
        whole = np.rint(matrix[:, 2] / 2) * 2
        if np.abs(matrix[:, 2] - whole).max() < 1e-3:
            return _sliced(planes, how, int(-whole[0]), int(-whole[1]))
    out = np.empty((how.window[1] * 3 // 2, how.window[0]), np.uint8)
    sources, targets = views(planes, *how.read), views(out, *how.window)
    half = matrix.copy()
    # Pixel centers stand at halves, so that chroma stays under its luma.
    half[:, 2] = (matrix[:, 2] + matrix[:, :2] @ (0.5, 0.5) - 0.5) / 2
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        cv2.warpAffine(
            source,
            half if number else matrix,
            target.shape[::-1],
            dst=target,
            flags=cv2.INTER_LINEAR if number else cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )
    return out


def _enlarging(how: Frame) -> NDArray[np.float64]:
    """Return the matrix from the picture as it was read to the whole one."""
    scale = np.array(how.whole) / np.array(how.read)
    return np.column_stack([np.diag(scale), (scale - 1) / 2])


def _sliced(planes: Bytes, how: Frame, left: int, top: int) -> Bytes:
    out = np.empty((how.window[1] * 3 // 2, how.window[0]), np.uint8)
    sources, targets = views(planes, *how.read), views(out, *how.window)
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        x, y = (left // 2, top // 2) if number else (left, top)
        target[:] = source[y : y + target.shape[0], x : x + target.shape[1]]
    return out


def _filled(shown: Bytes, how: Frame) -> Bytes:
    """Lay the window over a blurred, darker copy of itself that fills the frame."""
    width, height = how.size
    out = np.empty((height * 3 // 2, width), np.uint8)
    left, top = (width - how.window[0]) // 4 * 2, (height - how.window[1]) // 4 * 2
    places = views(shown, *how.window)
    for number, (source, target) in enumerate(zip(places, views(out, *how.size), strict=True)):
        target[:] = _blurred(source, target.shape, how)
        _dimmed(target, *((128, _FADE) if number else (16, _DIM)))
        x, y = (left // 2, top // 2) if number else (left, top)
        target[y : y + source.shape[0], x : x + source.shape[1]] = source
    return out


def _blurred(plane: Bytes, shape: tuple[int, ...], how: Frame) -> Bytes:
    """Return a plane enlarged to cover a shape and blurred beyond recognition."""
    height, width = shape
    scale = max(how.size[0] / how.window[0], how.size[1] / how.window[1]) / _TINY
    small = (max(4, round(plane.shape[1] * scale)), max(4, round(plane.shape[0] * scale)))
    tiny = cv2.resize(plane, small, interpolation=cv2.INTER_AREA)
    across, down = max(2, round(width / _TINY)), max(2, round(height / _TINY))
    x, y = max(0, (small[0] - across) // 2), max(0, (small[1] - down) // 2)
    tiny = cv2.GaussianBlur(tiny[y : y + down, x : x + across], (0, 0), 1.6)
    return np.asarray(cv2.resize(tiny, (width, height), interpolation=cv2.INTER_CUBIC))


def _dimmed(plane: Bytes, zero: int, share: float) -> None:
    cv2.convertScaleAbs(plane, dst=plane, alpha=share, beta=zero * (1 - share))


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))


_CALM = 0.65  # seconds over which a steadied camera averages its way
#: Seconds over which a crop averages its way: the first that leaves it by less than a share of the
#: crop's length, as whoever runs to and fro is soon out of a crop that turns slowly.
_GLIDES, _OFF = (0.6, 0.45, 0.3), 0.25
#: How far the picture may be enlarged to hide the edges that steadying lays bare.
_LEAST, _MOST = 1.04, 1.14
_LARGEST = np.array([0.06, 0.06, 0.035, 0.04])  # of the corrections
_PLACES = 49  # where a crop may stand
_LAZY = 0.3  # what a move over the whole way costs, against looking at the best place
#: How softly a place draws the crop's middle, in shares of the crop's length; and what it counts
#: to hold it anywhere, against holding it in the middle.
_SOFT, _ANYWHERE = 0.3, 0.3
_CALMLY = 0.25  # of the crop's length: for less than this it does not move at all

Line = NDArray[np.float64]


def steadied(seen: Survey, fps: float, frame: Frame) -> tuple[Moves, float]:
    """Return the correction of each frame and by how much to enlarge the picture.

    Parameters
    ----------
    frame : Frame
        The picture's size and that of the part which is shown.

    Returns
    -------
    corrections : ndarray
        Shape (frames, 4), in the units of `Moves`.
    zoom : float
        1.04 to 1.14.
    """
    corrections = np.zeros_like(seen.moves)
    for shot in shots(seen.cuts):
        way = np.cumsum(seen.moves[shot], axis=0)
        smooth = np.stack([_smoothed(line, _CALM * fps) for line in way.T], axis=1)
        # A large correction is held back softly, so that it never runs into a wall.
        corrections[shot] = _LARGEST * np.tanh((smooth - way) / _LARGEST)
    wide, high = frame.window
    across, down, turn, size = np.abs(corrections).T
    width = frame.whole[0]
    edges = (
        2 * across * width / wide + turn * high / wide,
        2 * down * width / high + turn * wide / high,
    )
    needed = 1 + float(np.maximum(*edges).max()) + float(size.max())
    return corrections, float(np.clip(needed, _LEAST, _MOST))


def followed(seen: Survey, share: float, *, across: bool, fps: float) -> Line:
    """Return where a crop begins in each frame, in shares of the way that it can go, 0 to 1.

    Parameters
    ----------
    share : float
        Length of the crop, in shares of the frame's.
    across : bool
        Whether it moves to the side or up and down.
    """
    frames = len(seen.cuts)
    out = np.full(frames, 0.5)
    for shot in shots(seen.cuts):
        inside = [(n, m) for n, m in seen.looks if shot.start <= n < shot.stop]
        if not inside:
            continue
        held = np.stack([_paths_held(look, share, across=across) for _, look in inside])
        places = _best_way(held) / (_PLACES - 1)
        if np.ptp(places) * (1 - share) < _CALMLY * share:
            places[:] = places.mean()
        at = np.interp(np.arange(shot.start, shot.stop), [n for n, _ in inside], places)
        # Smoothing goes on in a straight line past the ends, which may lead out of the picture.
        out[shot] = np.clip(_gliding(at, _OFF * share / max(1 - share, 1e-9), fps), 0.0, 1.0)
    return out


def _gliding(at: Line, most: float, fps: float) -> Line:
    """Return a way averaged over as long as it is not left by more than `most`."""
    smooth = at
    for seconds in _GLIDES:
        smooth = _smoothed(at, seconds * fps)
        if np.abs(smooth - at).max() <= most:
            break
    return smooth


def _paths_held(look: Floats, share: float, *, across: bool) -> Line:
    """Return how well a crop shows what draws the eye at each of its places, 0 to about 1.

    Whatever holds a thing holds as much of it at its edge as in its middle. To the side, what is
    striking therefore counts most in the middle; up and down a head is to keep its hair, and the
    body below it must not draw the crop.
    """
    starts = np.linspace(0.0, 1.0 - share, _PLACES)
    line = look.sum(axis=0 if across else 1, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(line)])
    knots = np.linspace(0.0, 1.0, len(sums))
    inside = np.interp(starts + share, knots, sums) - np.interp(starts, knots, sums)
    inside /= max(sums[-1], 1e-9)
    if not across:
        return np.asarray(inside)
    striking = (np.maximum(look - np.float32(np.median(look)), 0.0) ** 2).sum(axis=0)
    at = (np.arange(len(line)) + 0.5) / len(line)
    away = (at - starts[:, None] - share / 2) / (_SOFT * share)
    centered = np.exp(-0.5 * away**2) @ striking / max(float(striking.sum()), 1e-9)
    return np.asarray(centered + _ANYWHERE * inside)


def _best_way(held: Line) -> Line:
    """Return the place at each look that holds most while moving little, over all looks at once."""
    places = np.arange(_PLACES) / (_PLACES - 1)
    cost = _LAZY * np.abs(places[:, None] - places[None, :])
    # Equal places are all as good as the middle one.
    score = held[0] - 1e-4 * np.abs(places - 0.5)
    back = []
    for look in held[1:]:
        reached = score[None, :] - cost
        back.append(reached.argmax(axis=1))
        score = reached.max(axis=1) + look - 1e-4 * np.abs(places - 0.5)
    way = [int(score.argmax())]
    for choice in reversed(back):
        way.append(int(choice[way[-1]]))
    return np.array(way[::-1], np.float64)


def _smoothed(line: Line, sigma: float) -> Line:
    """Average along a line with a bell of a width in frames; the ends go on as they are."""
    if len(line) < 2 or sigma < 0.5:
        return line
    reach = round(3 * sigma)
    bell = cv2.getGaussianKernel(2 * reach + 1, sigma).ravel()
    # Mirrored through its ends, a steady pan stays a steady pan up to the last frame.
    before = 2 * line[0] - line[1 : reach + 1][::-1]
    after = 2 * line[-1] - line[-reach - 1 : -1][::-1]
    padded = np.concatenate([before, line, after])
    padded = np.pad(padded, (reach - len(before), reach - len(after)), mode="edge")
    return np.convolve(padded, bell, "valid")
