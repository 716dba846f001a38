"""The rostrum camera: warps the planes of YUV themselves, so no frame is ever converted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.blocks import pairs, spread_pairs
from kit.engines.film.filming import Take, filmed, take_of
from kit.engines.film.kenburns.moves import MOVES, Room, Window, between, fitting, position
from kit.engines.media import stills, subject
from kit.engines.media.clip import Frame, rgb_frame, views
from kit.engines.media.color import Bytes
from kit.engines.sizes import frame_size

_EARLIEST = 40  # pixels of the result that may be cut off
_FLAGS = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def scale(
    source: Bytes, target: Bytes, step: float, corner: tuple[float, float], *, error: float
) -> None:
    """Fill a plane from a part of another one.

    Parameters
    ----------
    target : ndarray of uint8
        Written to.
    step : float
        Pixels of the source to a pixel of the target.
    corner : tuple of float
        Where the target's left and upper edges lie in the source, in pixels.
    error : float
        Pixels of the source by which the result may be off.
    """
    height, width = target.shape
    if step == 1.0:
        center = (corner[0] + (width - 1) / 2, corner[1] + (height - 1) / 2)
        cv2.getRectSubPix(source, (width, height), center, target)
    else:
        target[:] = _scaling_scaled(source, (width, height), (step, step), corner, error)


def scale_pairs(
    source: Bytes,
    targets: tuple[Bytes, Bytes],
    step: float,
    corner: tuple[float, float],
    *,
    error: float,
) -> None:
    """Fill two planes from a part of two others that stand in blocks.

    Parameters
    ----------
    source : ndarray of uint8
        See `kit.engines.film.kenburns.drawing.pairs`.
    """
    height, width = targets[0].shape
    # A block's middle lies half a pixel to the right of its pixel's.
    corner = (corner[0] - 0.5, corner[1])
    size = (width + 1) // 2, height
    spread_pairs(_scaling_scaled(source, size, (2 * step, step), corner, error), targets)


def _scaling_scaled(
    source: Bytes,
    size: tuple[int, int],
    steps: tuple[float, float],
    corner: tuple[float, float],
    error: float,
) -> Bytes:
    """Return a part of a plane at a size, width and height; everything else goes the same way."""
    starts = [
        _start(*place, error)
        for place in zip(corner, steps, size, source.shape[1::-1], strict=True)
    ]
    if None in starts:
        return _warped(source, size, steps, corner)
    (x, skip_x), (y, skip_y) = (start for start in starts if start is not None)
    width, height = size
    across, down = skip_x + width, skip_y + height
    # A scale is only exact if it is not worked out from rounded sizes.
    part = source[y : y + _needed(down, steps[1]), x : x + _needed(across, steps[0])]
    big = cv2.resize(part, None, fx=1 / steps[0], fy=1 / steps[1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(big[skip_y:down, skip_x:across])


def _start(
    corner: float, step: float, length: int, limit: int, error: float
) -> tuple[int, int] | None:
    """Return the whole pixel to start at and how much of the result to skip; None: none fits."""
    for skip in range(_EARLIEST):
        exact = corner - skip * step
        start = round(exact)
        ends = start + _needed(skip + length, step)
        if abs(exact - start) <= error and start >= 0 and ends <= limit:
            return start, skip
    return None


def _needed(length: int, step: float) -> int:
    """Return pixels of the source that make a length of the result or a little more."""
    return math.ceil(length * step) + 2


def _warped(
    source: Bytes, size: tuple[int, int], steps: tuple[float, float], corner: tuple[float, float]
) -> Bytes:
    # Pixel centers stand at halves.
    moves = [place + 0.5 * step - 0.5 for place, step in zip(corner, steps, strict=True)]
    matrix = np.array([[steps[0], 0.0, moves[0]], [0.0, steps[1], moves[1]]])
    return np.asarray(
        cv2.warpAffine(source, matrix, size, flags=_FLAGS, borderMode=cv2.BORDER_REPLICATE)
    )


_MOST = 4096  # pixels a side that are read of a picture
_SHARP = 0.6  # the warp enlarges as little as it reduces, or a little less: 1 never enlarges
_LONGEST = 4.0  # frames side by side that a camera travels along
_BORDER = 64  # pixels around each plane
# Pixels that a frame may be off its place, at most and of what it moves to the next one, at which
# the eye does not see it tremble.
_OFF, _OFF_STEP = 0.06, 0.1


def travel(job: Job, progress: Progress) -> Asset:
    """Render a job of the Ken Burns model."""
    values = job.parameters
    progress.report(0.0)
    pixels = flattened(stills.opened(job.media["image"][0], most=_MOST))
    height, width = pixels.shape[:2]
    progress.report(0.0)
    take = take_of(values, frame_size(values, (width, height)))
    pixels = _bounded(pixels, take)
    progress.report(0.0)
    room = _room(pixels, values, take)
    camera = fitting(room) if values["camera"] == "auto" else values["camera"]
    progress.report(0.0)
    rostrum = Rostrum(pixels, MOVES[camera](room), take, easing=values["easing"])
    facts = {"camera": camera, "focus": [round(share, 3) for share in room.focus]}
    return filmed(job, progress, take, rostrum.frame, name="ken-burns", metadata=facts, light=True)


class Rostrum:
    """A picture under a camera that moves from one window to another.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), sRGB.
    path : tuple of Window
        Where the camera starts and where it ends.
    """

    def __init__(
        self, pixels: Bytes, path: tuple[Window, Window], take: Take, *, easing: str = "smooth"
    ) -> None:
        self._path, self._take, self._easing = path, take, easing
        planes = _scaled(pixels, path, take)
        self._height, self._width = planes.shape[0] * 2 // 3, planes.shape[1]
        # With a border, so that a part can start a little early wherever it lies.
        self._planes: Frame = tuple(
            cv2.copyMakeBorder(plane, *((_BORDER,) * 4), cv2.BORDER_REPLICATE)
            for plane in views(planes, self._width, self._height)
        )
        # A window that keeps its size is not scaled: the picture has been, once and for all.
        self._pans = math.isclose(path[0].size, path[1].size, rel_tol=1e-6)
        self._colors = None if self._pans else pairs(*self._planes[1:])

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take = self._take
        window = self._window(number)
        out = np.empty((take.height * 3 // 2, take.width), np.uint8)
        frame = views(out, take.width, take.height)
        step = window.size * _largest(self._width, self._height, take) / take.width
        left = window.x * self._width - step * take.width / 2
        top = window.y * self._height - step * take.height / 2
        step = 1.0 if self._pans else step
        corners = [(left * share + _BORDER, top * share + _BORDER) for share in (1.0, 0.5)]
        off = min(_OFF, _OFF_STEP * self._moved(number))
        scale(self._planes[0], frame[0], step, corners[0], error=off)
        if self._colors is not None:
            scale_pairs(self._colors, frame[1:], step, corners[1], error=2 * off)
        else:
            for source, target in zip(self._planes[1:], frame[1:], strict=True):
                scale(source, target, step, corners[1], error=2 * off)
        return out

    def _window(self, number: int) -> Window:
        take = self._take
        share = position(take.moment(number), easing=self._easing, loop=take.loop)
        return between(*self._path, share)

    def _moved(self, number: int) -> float:
        """Return how far the corner of a frame that moves most is from the next, in pixels."""
        one, other = self._window(number), self._window(number + 1)
        grown = abs(other.size - one.size) * _largest(self._width, self._height, self._take) / 2
        across, down = abs(other.x - one.x) * self._width, abs(other.y - one.y) * self._height
        return float(grown + max(across, down))


def flattened(still: stills.Still) -> Bytes:
    """Return the pixels of a picture, on white where it is transparent."""
    if still.alpha is None:
        return still.pixels
    cover = cv2.merge([still.alpha] * 3)
    white = cv2.bitwise_not(cover)
    return np.asarray(cv2.add(cv2.multiply(still.pixels, cover, scale=1 / 255), white))


def _bounded(pixels: Bytes, take: Take) -> Bytes:
    """Return the part of a picture that is worth a journey: strips are cut to a few frames."""
    height, width = pixels.shape[:2]
    shape = take.width / take.height
    aspect = min(max(width / height, shape / _LONGEST), shape * _LONGEST)
    return pixels if math.isclose(aspect, width / height) else subject.crop(pixels, aspect)


def _room(pixels: Bytes, values: Mapping[str, Any], take: Take) -> Room:
    height, width = pixels.shape[:2]
    wide = _largest(width, height, take)
    tall = wide * take.height / take.width
    focus = subject.find(pixels).center
    asked = (values.get("focus_x"), values.get("focus_y"))
    x, y = (
        found if share is None else float(share) for share, found in zip(asked, focus, strict=True)
    )
    return Room(min(1.0, wide / width), min(1.0, tall / height), (x, y), take.motion)


def _largest(width: int, height: int, take: Take) -> float:
    """Return the width of the largest window of the frame's shape within a picture."""
    return min(width, height * take.width / take.height)


def _scaled(pixels: Bytes, path: tuple[Window, Window], take: Take) -> Bytes:
    """Return the picture as an I420 frame, at the size at which the warp does least harm."""
    height, width = pixels.shape[:2]
    small, large = sorted(window.size for window in path)
    size = small**_SHARP * large ** (1 - _SHARP)
    factor = take.width / (size * _largest(width, height, take))
    width, height = (max(2, 2 * round(side * factor / 2)) for side in (width, height))
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    fitted = pixels
    if not math.isclose(factor, 1.0, abs_tol=1e-3) or width % 2 or height % 2:
        fitted = cv2.resize(pixels, (width, height), interpolation=way)
    return rgb_frame(np.ascontiguousarray(fitted[: height & ~1, : width & ~1]))
