"""Moves: which part of a picture the frame shows at each moment.

A window is a center and a size in shares of the largest window that fits into the picture, so a
move knows nothing of pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Window:
    """What the frame shows.

    Parameters
    ----------
    x, y : float
        Its center, in shares of the picture's width and height.
    size : float
        Of the largest window that fits, above 0 and at most 1.
    """

    x: float
    y: float
    size: float


@dataclass(frozen=True, slots=True)
class Room:
    """What a move can use.

    Parameters
    ----------
    across, down : float
        Width and height of the largest window, in shares of the picture; one of them is 1.
    focus : tuple of float
        Where a zoom leads, in shares of the picture.
    motion : float
        0 to 1.
    """

    across: float
    down: float
    focus: tuple[float, float]
    motion: float


Move: TypeAlias = Callable[[Room], tuple[Window, Window]]


def _zoom(room: Room) -> tuple[Window, Window]:
    return _inside(room, 0.5, 0.5, 1.0), _inside(room, *room.focus, 1 - 0.4 * room.motion)


def _zoom_out(room: Room) -> tuple[Window, Window]:
    start, end = _zoom(room)
    return end, start


def _pan(x: float, y: float) -> Move:
    """Return a move from one side to the other, as far as motion asks and the picture allows."""

    def move(room: Room) -> tuple[Window, Window]:
        across, down = 1 - room.across, 1 - room.down
        slack = across if x else down
        # A picture of the frame's own shape leaves no room: the window shrinks to make some.
        size = 1.0 if slack > 0.3 * room.motion else 1 - 0.28 * room.motion
        reach_x = 0.5 * x * (1 - size * room.across) * _share(room)
        reach_y = 0.5 * y * (1 - size * room.down) * _share(room)
        cx, cy = (0.5, room.focus[1]) if x else (room.focus[0], 0.5)
        return (
            _inside(room, cx - reach_x, cy - reach_y, size),
            _inside(room, cx + reach_x, cy + reach_y, size),
        )

    return move


def _drift(room: Room) -> tuple[Window, Window]:
    """Travel to the focus from the other side of it, closing in a little."""
    x, y = room.focus
    far = 0.35 * room.motion
    start = _inside(room, x + far * (0.5 - x) * 2, y + far * (0.5 - y) * 2, 1 - 0.10 * room.motion)
    return start, _inside(room, x, y, 1 - 0.30 * room.motion)


def _still(room: Room) -> tuple[Window, Window]:
    window = _inside(room, *room.focus, 1.0)
    return window, window


MOVES: dict[str, Move] = {
    "zoom_in": _zoom,
    "zoom_out": _zoom_out,
    "pan_left": _pan(-1.0, 0.0),
    "pan_right": _pan(1.0, 0.0),
    "pan_up": _pan(0.0, -1.0),
    "pan_down": _pan(0.0, 1.0),
    "drift": _drift,
    "still": _still,
}


def fitting(room: Room) -> str:
    """Return the move that suits a picture: along it where it is long, otherwise a zoom."""
    if room.across < 0.72:
        return "pan_right"
    return "pan_up" if room.down < 0.72 else "zoom_in"


def between(start: Window, end: Window, share: float) -> Window:
    """Return the window a share of the way from one to another.

    Its size changes by equal factors in equal times, which the eye takes for an even zoom, and its
    center keeps pace, so that the point that a zoom leads to never swings.
    """
    if abs(end.size - start.size) < 1e-6:
        size, along = start.size, share
    else:
        size = start.size * (end.size / start.size) ** share
        along = (size - start.size) / (end.size - start.size)
    return Window(start.x + (end.x - start.x) * along, start.y + (end.y - start.y) * along, size)


def position(moment: float, *, easing: str, loop: bool) -> float:
    """Return how far along its way the camera is, 0 to 1, at a moment of the clip, 0 to 1."""
    if loop:
        return 0.5 - 0.5 * math.cos(2 * math.pi * moment)
    if easing == "linear":
        return moment
    # Mostly even in the middle: a full S-curve would rush there.
    smooth = moment**3 * (10 - 15 * moment + 6 * moment**2)
    return 0.45 * moment * moment * (3 - 2 * moment) + 0.35 * smooth + 0.2 * moment


def _inside(room: Room, x: float, y: float, size: float) -> Window:
    half_x, half_y = size * room.across / 2, size * room.down / 2
    return Window(
        min(max(x, half_x), 1 - half_x),
        min(max(y, half_y), 1 - half_y),
        size,
    )


def _share(room: Room) -> float:
    return 0.35 + 0.65 * room.motion
