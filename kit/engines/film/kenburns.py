"""Ken Burns: a camera that pans and zooms over a still picture, by warping its YUV planes.

A window, the visible part, is a center and a size relative to the largest window that fits into
the picture, so that moves are independent of pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import Take, read_take, record
from kit.engines.media import stills, subject
from kit.engines.media.clip import rgb_frame, views
from kit.engines.media.color import Bytes
from kit.engines.media.scaling import resize
from kit.engines.sizes import frame_size

_MAX_SIDE = 4096  # maximum side in pixels at which a picture is read
_SHARPNESS = 0.6  # balance of enlarging and reducing in the warp: 1/2 is equal, 1 never enlarges
_SPAN = 0.72  # maximum visible share of a picture when the camera moves along it
_MAX_TRAVEL = 4.0  # maximum travel of a camera, in frames side by side


class Window(NamedTuple):
    """The visible part: its center, in shares of the picture, and its size, at most 1."""

    x: float
    y: float
    size: float


class CropRoom(NamedTuple):
    """The available room of a move."""

    across: float  # width and height of the largest window, in shares of the picture
    down: float
    focus: tuple[float, float]  # center of a zoom, likewise
    motion: float  # 0 to 1

    def window(self, x: float, y: float, size: float) -> Window:
        """Return a window inside the picture, near a place."""
        half_x, half_y = size * self.across / 2, size * self.down / 2
        return Window(min(max(x, half_x), 1 - half_x), min(max(y, half_y), 1 - half_y), size)


Move: TypeAlias = Callable[[CropRoom], tuple[Window, Window]]


def _zoom(room: CropRoom) -> tuple[Window, Window]:
    return room.window(0.5, 0.5, 1.0), room.window(*room.focus, 1 - 0.4 * room.motion)


def _pan(x: float, y: float) -> Move:
    def move(room: CropRoom) -> tuple[Window, Window]:
        slack = 1 - (room.across if x else room.down)
        # A picture of the frame's aspect leaves no room: a smaller window makes some.
        size = 1.0 if slack > 0.3 * room.motion else 1 - 0.28 * room.motion
        share = 0.5 * (0.35 + 0.65 * room.motion)
        reach_x, reach_y = x * share * (1 - size * room.across), y * share * (1 - size * room.down)
        cx, cy = (0.5, room.focus[1]) if x else (room.focus[0], 0.5)
        return (
            room.window(cx - reach_x, cy - reach_y, size),
            room.window(cx + reach_x, cy + reach_y, size),
        )

    return move


def _drift(room: CropRoom) -> tuple[Window, Window]:
    x, y = room.focus
    far = 0.7 * room.motion
    start = room.window(x + far * (0.5 - x), y + far * (0.5 - y), 1 - 0.10 * room.motion)
    return start, room.window(x, y, 1 - 0.30 * room.motion)


MOVES: dict[str, Move] = {
    "zoom_in": _zoom,
    "zoom_out": lambda room: _zoom(room)[::-1],
    "pan_left": _pan(-1.0, 0.0),
    "pan_right": _pan(1.0, 0.0),
    "pan_up": _pan(0.0, -1.0),
    "pan_down": _pan(0.0, 1.0),
    "drift": _drift,
    "still": lambda room: (room.window(*room.focus, 1.0),) * 2,
}


def render_ken_burns(job: Job, progress: Progress) -> Asset:
    """Render a job of the Ken Burns model."""
    values = job.parameters
    progress.report(0.0)
    path = job.media["image"][0]
    found = stills.info_of(path)
    take = read_take(values, frame_size(values, (found.width, found.height)))
    cover = 2 * take.width, 2 * take.height
    pixels = stills.open_still(path, side=_MAX_SIDE, cover=cover).flatten()
    height, width = pixels.shape[:2]
    progress.report(0.0)
    shape, camera = take.width / take.height, values["camera"]
    if camera == "auto":  # along the longer side of a picture
        long = shape * height / width
        camera = "pan_right" if long < _SPAN else "pan_up" if long > 1 / _SPAN else "zoom_in"
    # A pan covers the interesting part; other moves stay within the best crop.
    limit = _MAX_TRAVEL if camera.startswith("pan") else 1.0
    aspect = min(max(width / height, shape / limit), shape * limit)
    seen = subject.find(pixels)
    progress.report(0.0)
    x, y, wide, high = seen.window(aspect)
    asked = (values.get("focus_x"), values.get("focus_y"))
    focus = tuple(
        own if at is None else float(at) for at, own in zip(asked, seen.center, strict=True)
    )
    if asked[0] is not None:
        x = round(min(max(focus[0] * width - wide / 2, 0), width - wide))
    if asked[1] is not None:
        y = round(min(max(focus[1] * height - high / 2, 0), height - high))
    pixels = pixels[y : y + high, x : x + wide]
    largest = _largest_window(wide, high, take)
    room = CropRoom(
        min(1.0, largest / wide),
        min(1.0, largest / shape / high),
        ((focus[0] * width - x) / wide, (focus[1] * height - y) / high),
        take.motion,
    )
    progress.report(0.0)
    still = StillCamera(pixels, MOVES[camera](room), take, easing=values["easing"])
    facts = {"camera": camera, "focus": [round(share, 3) for share in focus]}
    return record(job, progress, take, still.frame, name="ken-burns", metadata=facts)


class StillCamera:
    """An sRGB picture under a camera that moves along a path between two windows."""

    def __init__(
        self, pixels: Bytes, path: tuple[Window, Window], take: Take, *, easing: str = "smooth"
    ) -> None:
        self._path, self._take, self._easing = path, take, easing
        height, width = pixels.shape[:2]
        small, large = sorted(window.size for window in path)
        span = small**_SHARPNESS * large ** (1 - _SHARPNESS) * _largest_window(width, height, take)
        size = (max(2, 2 * round(side * take.width / span / 2)) for side in (width, height))
        self._width, self._height = size
        self._largest = _largest_window(self._width, self._height, take)
        planes = rgb_frame(np.ascontiguousarray(resize(pixels, self._width, self._height)))
        self._planes = views(planes, self._width, self._height)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take = self._take
        window = self._window(number)
        step = window.size * self._largest / take.width
        left = window.x * self._width - step * take.width / 2
        top = window.y * self._height - step * take.height / 2
        out = np.empty((take.height * 3 // 2, take.width), np.uint8)
        parts = zip(self._planes, views(out, take.width, take.height), (1, 2, 2), strict=True)
        for source, target, reduced in parts:
            # Pixel centers are at halves.
            x, y = (corner / reduced + 0.5 * step - 0.5 for corner in (left, top))
            size, back = target.shape[::-1], np.array([[step, 0.0, x], [0.0, step, y]])
            if abs(step - 1) < 1 / size[0]:  # pure translation takes a tenth of the time
                cv2.getRectSubPix(source, size, back @ (*np.subtract(size, 1) / 2, 1), target)
                continue
            flags, edge = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, cv2.BORDER_REPLICATE
            cv2.warpAffine(source, back, size, target, flags, edge)
        return out

    def _window(self, number: int) -> Window:
        """Return the window of a frame.

        Its size changes exponentially, which looks like an even zoom, and its center keeps pace, so
        that the center of a zoom never swings.
        """
        start, end = self._path
        share = self._take.share(number, self._easing)
        size = start.size * (end.size / start.size) ** share
        if abs(end.size - start.size) > 1e-6:
            share = (size - start.size) / (end.size - start.size)
        x, y = start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share
        return Window(x, y, size)


def _largest_window(width: int, height: int, take: Take) -> float:
    return min(width, height * take.width / take.height)
