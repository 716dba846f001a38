"""Eyelids: skin comes down over an eye for a moment, lashes and all.

It takes eyes that are open and were found; one that is hidden behind dark glasses stays as it is,
and so do eyes of which it is not sure that a lid would look right: blurred ones, those next
to heavy brows or outlines, or at the edge of a face that is turned.
The skin is that below the eye, mirrored: above it brows, lashes and shadows are in the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.editing.lipsync.pose import Box, Pose, Window
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Point

#: Half the width of an eye, its edges above and below the middle, lashes round it included.
_HALF, _UPPER, _LOWER = 27.0, 11.5, 10.5
#: How far a lid fades out at its rim, and how much lower than its edge the skin on it begins.
_FADE, _BELOW = 3.0, 3.5
#: How wide the dark of an iris is, as the deviation of the blur that finds it best.
_IRIS = 4.0
#: How high the skin is above an eye and below it that tells how bright its fold is, and how much
#: that may differ from the skin on the lid.
_BAND, _TINTS = 9.0, (0.75, 1.1)
#: How much darker a lid is at its fold than the skin there.
_SHADE = 0.06
#: What eyes must be like to be closed: how much darker than the skin an iris is; how much of the
#: skin that becomes a lid may be dark, and how much it may vary; how much detail there is; how high
#: the dark of an eye may be, brows that touch it included, and how many times the other eye's; how
#: far one may lie above the other, and their middle beside the face's.
_CONTRAST, _DARK, _ROUGH, _DETAIL = 0.35, 0.12, 0.25, 0.08
_TALL, _TALLER, _UNEVEN, _ASIDE = 34, 1.65, 7.5, 5.0
_CLOSING, _SHUT, _OPENING = 0.08, 0.04, 0.16
_FIRST, _NEXT = (0.7, 2.4), (2.0, 5.2)


@dataclass(frozen=True, slots=True)
class Eye:
    """An eye's middle, in face units.

    Parameters
    ----------
    tint : tuple of float
        Red, green and blue of the skin above it, as shares of those of the skin below.
    """

    x: float
    y: float
    tint: tuple[float, ...] = (1.0, 1.0, 1.0)

    def reach(self) -> Box:
        """Return all that its lid may touch, in face units."""
        return self.x - _HALF, self.y - _UPPER - _FADE, self.x + _HALF, self.y + _LOWER + _FADE


def find_eyes(pixels: Bytes, pose: Pose, eyes: tuple[Point, Point]) -> tuple[Eye, Eye]:
    """Return the eyes of a face, each moved to the dark of its iris."""
    left, right = (_centered(pixels, pose, *pose.to_units(eye)) for eye in eyes)
    return left, right


def closable(pixels: Bytes, pose: Pose, eyes: tuple[Eye, Eye]) -> bool:
    """Return whether lids over both eyes are sure to look right."""
    one, other = eyes
    if abs(one.y - other.y) > _UNEVEN or abs(one.x + other.x) / 2 > _ASIDE:
        return False
    heights = [_height(pixels, pose, eye) for eye in eyes]
    return 0 < max(heights) <= min(_TALL, _TALLER * min(heights))


def _height(pixels: Bytes, pose: Pose, eye: Eye) -> int:
    """Return how high the dark of an eye is, in face units, or 0 where no lid should be laid."""
    around = _gray(pixels, pose, Window(eye.x - 20, eye.y - 20, 40, 40))
    skin = float(_light(_gray(pixels, pose, _below(eye))).mean()) + 1
    iris = float(cv2.GaussianBlur(around, (0, 0), _IRIS)[20, 20])
    half = (skin + iris) / 2
    lid = _gray(pixels, pose, Window(eye.x - 22, eye.y + _LOWER + 2, 44, 21))
    near = _gray(pixels, pose, Window(eye.x - 24, eye.y - 14, 48, 28))
    detail = float((near - cv2.GaussianBlur(near, (0, 0), 2.5)).std()) / max(skin - iris, 1.0)
    clear = (lid < half).mean() <= _DARK and lid.std() <= _ROUGH * skin
    if skin - iris < _CONTRAST * skin or detail < _DETAIL or not clear:
        return 0
    # Along a column through the iris; what is light above and below it ends the eye.
    light = np.flatnonzero(around[:, 15:25].mean(axis=1) > half)
    top = max(light[light < 20], default=0)
    return int(min(light[light > 20], default=40) - top)


def _gray(pixels: Bytes, pose: Pose, window: Window) -> Floats:
    gray = cv2.cvtColor(window.cut(pixels, pose), cv2.COLOR_RGB2GRAY)
    return np.asarray(gray, np.float32)


def _below(eye: Eye) -> Window:
    return Window(eye.x - 16, eye.y + _LOWER + _BELOW, 32, _BAND)


def _light(values: Floats) -> Floats:
    """Return the lighter half of some values; the darker may be brow and lashes."""
    return values[values >= np.median(values)]


def _centered(pixels: Bytes, pose: Pose, x: float, y: float) -> Eye:
    window = Window(x - 30, y - 26, 60, 52)
    gray = cv2.cvtColor(window.cut(pixels, pose), cv2.COLOR_RGB2GRAY).astype(np.float32)
    blob = cv2.GaussianBlur(gray, (0, 0), _IRIS)
    across, along = window.grid()
    # Brows and lashes are dark too: farther from where the eye was found counts against a place.
    far = ((across - x) / 6) ** 2 + ((along - y) / 8) ** 2
    at = int(np.argmin(blob + 16 * far))
    x, y = float(across.flat[at]), float(along.flat[at])
    above = _skin(pixels, pose, x, y - _UPPER - _BAND)
    below = _skin(pixels, pose, x, y + _LOWER + _BELOW)
    return Eye(x, y, tuple(np.clip(above / below, *_TINTS).tolist()))


def _skin(pixels: Bytes, pose: Pose, x: float, top: float) -> Floats:
    """Return the color of the lighter half of a band; the darker may be brow and lashes."""
    half = 0.6 * _HALF
    band = Window(x - half, top, 2 * half, _BAND).cut(pixels, pose).reshape(-1, 3)
    light = band.sum(axis=1)
    return np.asarray(band[light >= np.median(light)].mean(axis=0) + 1, np.float32)


@dataclass(frozen=True, slots=True)
class Lid:
    """The skin on an eye at one moment, float32 arrays.

    Parameters
    ----------
    source_y : ndarray
        The height each place comes from, in face units.
    cover : ndarray
        How much of it there is in each place, 0 to 1.
    light : ndarray
        Red, green and blue as shares of those it comes from, one axis more.
    """

    source_y: Floats
    cover: Floats
    light: Floats


def shut(x: Floats, y: Floats, eye: Eye, amount: float) -> Lid:
    """Return the lid that is down over an eye by an amount, 0 to 1.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, equal shapes.
    """
    upper, edge = _lid(x, eye, amount)
    _, lowest = _lid(x, eye, 1.0)
    height = np.maximum(edge - upper, 1e-3)
    up = np.clip((edge - y) / height, 0, 1)
    # At the corners of the eye and while it is nearly open a lid is too thin for a wide rim.
    fade = np.clip(0.5 * height, 0.5, _FADE)
    inside = np.minimum((y - upper) / fade + 1, (edge - y) / np.minimum(fade, 1.2) + 0.5)
    narrow = np.clip((edge - upper) / _FADE, 0, 1)
    return Lid(
        np.asarray(lowest + _BELOW + np.clip(edge - y, 0, None) * 0.8, np.float32),
        np.asarray(np.clip(inside, 0, 1) * narrow, np.float32),
        np.asarray(
            1 + up[..., None] * ((1 - _SHADE) * np.asarray(eye.tint, np.float32) - 1), np.float32
        ),
    )


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
