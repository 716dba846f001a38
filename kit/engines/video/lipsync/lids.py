"""Eyelids: the skin above an eye comes down over it for a moment, lashes and all.

It takes eyes that are open and were found; one that is hidden behind dark glasses stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Point
from kit.engines.video.lipsync.pose import Box, Pose, Window

#: Half the width of an eye, its edges above and below the middle, and the skin that stretches.
_HALF, _UPPER, _LOWER, _SKIN = 27.0, 9.5, 9.0, 8.5
_CLOSING, _SHUT, _OPENING = 0.08, 0.04, 0.16
_FIRST, _NEXT = (0.7, 2.4), (2.0, 5.2)


@dataclass(frozen=True, slots=True)
class Eye:
    """An eye's middle, in face units."""

    x: float
    y: float

    def reach(self) -> Box:
        """Return all that its lid may touch, in face units."""
        return self.x - _HALF, self.y - _UPPER - _SKIN, self.x + _HALF, self.y + _LOWER


def find_eyes(pixels: Bytes, pose: Pose, eyes: tuple[Point, Point]) -> tuple[Eye, Eye]:
    """Return the eyes of a face, each moved to the dark of its iris."""
    left, right = (_centered(pixels, pose, *pose.to_units(eye)) for eye in eyes)
    return left, right


def _centered(pixels: Bytes, pose: Pose, x: float, y: float) -> Eye:
    window = Window(x - 20, y - 16, 40, 32)
    gray = cv2.cvtColor(window.cut(pixels, pose), cv2.COLOR_RGB2GRAY).astype(np.float32)
    blob = cv2.GaussianBlur(gray, (0, 0), 4)
    across, along = window.grid()
    # Brows and lashes are dark too: farther from where the eye was found counts against a place.
    far = ((across - x) / 10) ** 2 + ((along - y) / 6) ** 2
    at = int(np.argmin(blob + 30 * far))
    return Eye(float(across.flat[at]), float(along.flat[at]))


def shut(x: Floats, y: Floats, eye: Eye, amount: float) -> Floats:
    """Return from which height each place comes while a lid is down by an amount, 0 to 1.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, equal shapes.
    """
    upper, edge = _lid(x, eye, amount)
    top = upper - _SKIN
    share = np.clip((y - top) / np.maximum(edge - top, 1e-3), 0, 1)
    # Below the brow the skin hardly stretches, or the brow would come down with it.
    stretch = np.maximum(edge - top, _SKIN) / _SKIN
    source = top + _SKIN * (0.5 * share + 0.5 * (1 - (1 - share) ** stretch))
    return np.asarray(np.where((y > top) & (y < edge), source, y), np.float32)


def lashes(x: Floats, y: Floats, eye: Eye, amount: float, *, sharp: float) -> Floats:
    """Return how dark the lashes at the edge of a lid make each place, 0 to 1.

    Parameters
    ----------
    sharp : float
        Pixels per face unit.
    """
    _, edge = _lid(x, eye, amount)
    thick = max(1.5, 0.9 / sharp)
    inside = np.clip((1 - np.abs((x - eye.x) / _HALF)) * 5, 0, 1) * min(1.0, amount * 2.5)
    return np.asarray(0.62 * inside * np.exp(-(((y - edge) / thick) ** 2)), np.float32)


def _lid(x: Floats, eye: Eye, amount: float) -> tuple[Floats, Floats]:
    """Return where the upper lid ends while the eye is open, and now."""
    u = (x - eye.x) / _HALF
    bow = np.clip(1 - u * u, 0, 1)
    upper, lower = eye.y - _UPPER * bow, eye.y + _LOWER * bow
    return np.asarray(upper, np.float32), np.asarray(upper + amount * (lower - upper), np.float32)


def blinks(frames: int, fps: int, rng: np.random.Generator) -> Floats:
    """Return how far the lids are down in each frame, 0 to 1, a blink every few seconds."""
    seconds = np.arange(frames) / fps
    lids = np.zeros(frames, np.float32)
    moment = rng.uniform(*_FIRST)
    while moment < frames / fps:
        since = seconds - moment
        down = np.clip(since / _CLOSING, 0, 1)
        up = np.clip(1 - (since - _CLOSING - _SHUT) / _OPENING, 0, 1)
        both = np.minimum(down, up)
        lids = np.maximum(lids, both * both * (3 - 2 * both))
        moment += rng.uniform(*_NEXT)
    return np.asarray(lids, np.float32)
