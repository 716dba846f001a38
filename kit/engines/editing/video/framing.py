"""Framing: a picture of one shape comes into a frame of another, sharp and without black bars.

Frames are moved in their three planes, luma with more care than chroma: half the work of moving
them in color.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.clip import views
from kit.engines.media.color import Bytes

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
