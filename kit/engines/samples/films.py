"""Short films for models that edit some: a camera held by hand over painted places, with music."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.color import Bytes
from kit.engines.media.sound import Sound, cut
from kit.engines.samples.face import portrait
from kit.engines.samples.sounds import played
from kit.engines.samples.views import painted, with_balloon

#: Width, height, frames a second and seconds of a film.
SIZE = (640, 360)
FPS = 25
SECONDS = 3.0
#: What is filmed: prompt and seed of a painting, and whether a balloon flies over it.
_PLACES = (
    ("a mountain lake at noon, clear sky, summer", 8, True),
    ("red desert mesas at sunset, clear sky", 4, False),
    ("a sea at sunset with low waves", 8, False),
)
_ACROSS = 900
#: Size of a film of a face, and how far its picture goes beyond it.
_CLOSE = (384, 480)
_EDGE = 16
_SHAKE = 3.0


def film(path: Path, number: int = 0) -> Path:
    """Write a film of one of the places and return where; it pans slowly and shakes a little."""
    prompt, seed, balloon = _PLACES[number % len(_PLACES)]
    ground = painted(prompt, _ACROSS, seed)
    count = round(SECONDS * FPS)
    shake = _shake(count, seed)
    track = played()
    sound = cut(Sound(np.asarray(track, np.float32)), number * 2.0, number * 2.0 + SECONDS)
    with Clip(path, *SIZE, fps=FPS, sound=sound) as clip:
        for moment in range(count):
            share = moment / (count - 1)
            pixels = ground
            if balloon:
                pixels = with_balloon(ground, 0.62 + 0.2 * share, 0.46 - 0.1 * share, 0.12)
            clip.add(rgb_frame(_framed(pixels, share, shake[moment])))
    return path


def close(path: Path) -> Path:
    """Write a film of the sample portrait, by a hand that shakes a little, and return where."""
    width, height = _CLOSE
    ground = portrait(width + 2 * _EDGE, height + 2 * _EDGE)
    shake = _shake(round(SECONDS * FPS), seed=3)
    with Clip(path, width, height, fps=FPS) as clip:
        for across, down in shake:
            matrix = np.array([[1, 0, across - _EDGE], [0, 1, down - _EDGE]], np.float32)
            moved = cv2.warpAffine(ground, matrix, _CLOSE, borderMode=cv2.BORDER_REFLECT)
            clip.add(rgb_frame(np.asarray(moved)))
    return path


def _framed(pixels: Bytes, share: float, shake: tuple[float, float]) -> Bytes:
    height, width = pixels.shape[:2]
    x = (width - SIZE[0]) * (0.25 + 0.5 * share) + shake[0]
    y = (height - SIZE[1]) * 0.5 + shake[1]
    matrix = np.array([[1, 0, -x], [0, 1, -y]], np.float32)
    return np.asarray(cv2.warpAffine(pixels, matrix, SIZE, borderMode=cv2.BORDER_REFLECT))


def _shake(count: int, seed: int) -> list[tuple[float, float]]:
    """Return how far a hand moves the camera at each frame, in pixels."""
    noise = np.random.default_rng(seed).normal(0, 1, (count + 4, 2))
    soft = (noise[:-4] + noise[1:-3] + noise[2:-2] + noise[3:-1]) / 2
    return [(float(x), float(y)) for x, y in soft * _SHAKE]
