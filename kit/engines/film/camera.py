"""Cameras: where the viewer is at each moment of a clip."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class View:
    """How the nearest plane stands: shifted by shares of the frame, and enlarged.

    Planes farther away move less, see `moved`.
    """

    x: float = 0.0
    y: float = 0.0
    zoom: float = 0.0


#: From the position on the path, -1 to 1, to a view at full motion.
Path: TypeAlias = Callable[[float], View]

_PAN, _RISE, _ZOOM = 0.15, 0.10, 0.34

CAMERAS: dict[str, Path] = {
    "drift": lambda at: View(x=-0.6 * _PAN * at, zoom=0.34 * _ZOOM * (at + 1) / 2),
    "push": lambda at: View(zoom=_ZOOM * (at + 1) / 2),
    "pull": lambda at: View(zoom=_ZOOM * (1 - at) / 2),
    "pan_left": lambda at: View(x=_PAN * at),
    "pan_right": lambda at: View(x=-_PAN * at),
    "rise": lambda at: View(y=_RISE * (at + 1) / 2, zoom=0.15 * _ZOOM),
    "arc": lambda at: View(x=_PAN * at, zoom=0.4 * _ZOOM * (1 - at * at)),
    "still": lambda at: View(),
}
#: The farthest that any camera shifts the nearest plane, as shares of the frame.
REACH = (_PAN, _RISE)


def view(camera: str, moment: float, *, motion: float, loop: bool) -> View:
    """Return the view at a moment, 0 to 1 of the clip.

    A single take starts and ends gently. A loop swings out and back, so that moment 1 is moment 0,
    in place and in speed.
    """
    at = math.sin(2 * math.pi * moment) if loop else _eased(moment)
    full = CAMERAS[camera](at)
    return View(full.x * motion, full.y * motion, full.zoom * motion)


def nearness(depth: float) -> float:
    """How much of the nearest plane's motion a plane at a depth shares."""
    return 0.02 + 0.98 * float(min(depth, 1.1) ** 1.6)


def _eased(moment: float) -> float:
    """From -1 to 1: mostly even, gently starting and stopping."""
    smooth = moment * moment * (3 - 2 * moment)
    return 2 * (0.35 * moment + 0.65 * smooth) - 1
