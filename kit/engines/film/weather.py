"""Weather in motion: layers that fall, drift or glow before a picture, on its luma and chroma."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes
from kit.engines.painting.falling import clouds, layers

_SWING_SECONDS, _SHIMMER_SECONDS = 5.0, 9.0  # seconds
_GLIMMERS = ("dust", "fireflies", "embers")
_GRAY = 128
#: Kind -> share of its light that is added, strength of its color on what it covers, and the color.
_COLORS = {
    "rain": (1.0, 0.0, (128, 128)),
    "snow": (1.0, 1.0, (128, 128)),
    "dust": (1.0, 1.0, (128, 128)),
    "fireflies": (1.0, 1.0, (32, 134)),
    # Color has half the size: a spark smaller than its pixels would be white.
    "embers": (0.75, 1.9, (58, 196)),
}


def draw_patch(frame: Frame, patch: Bytes, kind: str) -> None:
    """Composite weather on a frame, in place; the patch has the size of its luma."""
    if kind == "fog":
        return _draw_fog(frame, patch)
    added, strength, color = _COLORS[kind]
    light = patch if added == 1.0 else cv2.convertScaleAbs(patch, alpha=added)
    cv2.add(frame[0], light, dst=frame[0])
    if strength:
        cover = cv2.convertScaleAbs(_halve(patch, frame), alpha=strength)
        for chroma, value in zip(frame[1:], color, strict=True):
            _mix(chroma, cover, value)
    return None


def _draw_fog(frame: Frame, patch: Bytes) -> None:
    ramp = np.linspace(0.35, 1.0, len(patch), dtype=np.float32)[:, None]
    cover = cv2.multiply(patch, np.repeat(ramp, patch.shape[1], axis=1), dtype=cv2.CV_8U)
    # Fog is as bright as the picture allows: a night must not turn gray. It has a paler color of
    # the light: neutral fog looks pasted on at sunset.
    _mix(frame[0], cover, min(226.0, float(cv2.mean(frame[0])[0]) * 1.15 + 42.0))
    small = _halve(cover, frame)
    for chroma in frame[1:]:
        _mix(chroma, small, 0.4 * _GRAY + 0.6 * float(cv2.mean(chroma)[0]))


def _mix(plane: Bytes, cover: Bytes, value: float) -> None:
    cv2.multiply(plane, cv2.bitwise_not(cover), dst=plane, scale=1 / 255)
    cv2.add(plane, cv2.convertScaleAbs(cover, alpha=value / 255), dst=plane)


def _halve(patch: Bytes, frame: Frame) -> Bytes:
    return np.asarray(cv2.resize(patch, frame[1].shape[::-1], interpolation=cv2.INTER_AREA))


class Weather:
    """The weather of a clip.

    In a loop each layer cross-fades with its start: the speed of falling is constant.
    """

    def __init__(
        self, kind: str, size: tuple[int, int], rng: np.random.Generator, seconds: float, loop: bool
    ) -> None:
        self._kind, self._size, self._seconds, self._loop = kind, size, seconds, loop
        self._layers = layers(kind, rng, size)
        # Twice as wide and high, so that a frame can be cut out at any position.
        self._tiles = [np.tile(layer.tile, (2, 2)) for layer in self._layers]
        tile = clouds(rng, *size[::-1], cells=32, peak=255, octaves=1, floor=30)
        self._glimmer = np.tile(tile, (1, 2)) if kind in _GLIMMERS else None
        # Kept for all frames: new memory costs as much again as writing to it.
        self._planes = [np.empty(size[::-1], np.uint8) for _ in range(4)]

    def draw(self, frame: Frame, moment: float) -> None:
        """Draw the weather over a frame, in place; `moment` is 0 to 1 of the clip."""
        total, spare, *_ = self._planes
        for number in range(len(self._layers)):
            patch = self._patch(number, moment, spare if number else total)
            if number:
                cv2.add(total, patch, dst=total)
        draw_patch(frame, total, self._kind)

    def _patch(self, number: int, moment: float, out: Bytes) -> Bytes:
        if not self._loop:
            return self._cut(number, moment, out)
        # Layers are staggered, so that they never all fade at once.
        late = (moment + number / len(self._layers)) % 1.0
        share = math.cos(late * math.pi / 2) ** 2
        coming = self._cut(number, late - 1.0, self._planes[2])
        going = self._cut(number, late, out)
        return np.asarray(cv2.addWeighted(going, share, coming, 1.0 - share, 0.0, dst=out))

    def _cut(self, number: int, moment: float, out: Bytes) -> Bytes:
        layer, second = self._layers[number], moment * self._seconds
        swing = 2 * math.pi * (second / _SWING_SECONDS + layer.phase)
        x = layer.speed[0] * second + layer.sway * math.sin(swing)
        y = layer.speed[1] * second + layer.sway * math.cos(2 * swing) / 2
        self._window(self._tiles[number], (x, y), out)
        if self._glimmer is not None:
            light = self._planes[3]
            self._window(self._glimmer, (second / _SHIMMER_SECONDS + layer.phase, 0.0), light)
            cv2.multiply(out, light, scale=1 / 200, dst=out)
        return out

    def _window(self, tile: Bytes, shift: tuple[float, float], out: Bytes) -> None:
        (x, y), (width, height) = shift, self._size
        middle = (-x % 1.0 + 0.5) * width - 0.5, (-y % 1.0 + 0.5) * height - 0.5
        cv2.getRectSubPix(tile, self._size, middle, out)
