"""Weather in motion: layers that fall, drift or glow before a picture, on its luma and chroma.

Each layer is a tile without seams, drawn once and slid over the frames; in a loop it goes around a
whole number of times. Nothing here knows what the picture shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.landscape.falling import falls
from kit.engines.landscape.plane import Stage, disc
from kit.engines.media.color import Bytes
from kit.engines.video.rain import streaks
from kit.engines.video.sheets import Frame
from kit.engines.video.tiles import clouds, wrapped

#: What can be in the air, as a setting's values; none is drawn by nothing.
KINDS = ("none", "rain", "snow", "fog", "dust", "fireflies", "embers")
_NEUTRAL = 128


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of weather.

    Parameters
    ----------
    tile : ndarray of uint8
        Brightness or density, twice as wide and high as the frame, so that any part can be cut out.
    speed : tuple of float
        Frame widths and heights that it moves in a second.
    sway : float
        Share of the frame by which it swings about its way.
    phase : float
        Where on its swing it starts, in turns.
    """

    tile: Bytes
    speed: tuple[float, float]
    sway: float = 0.0
    phase: float = 0.0


#: Lays a cut-out of a layer over a frame.
Lay: TypeAlias = Callable[[Frame, Bytes], None]


class Weather:
    """What is in the air of a clip.

    Parameters
    ----------
    kind : str
        One of `KINDS`, but not none.
    seconds : float
        Length of the clip.
    """

    def __init__(
        self, kind: str, size: tuple[int, int], rng: np.random.Generator, seconds: float, loop: bool
    ) -> None:
        self._size, self._seconds, self._loop = size, seconds, loop
        build, self._lay, self._glowing = _KINDS[kind]
        self._layers = build(rng, size)
        self._shimmer = _doubled(_shimmer(rng, size)) if self._glowing else None

    def draw(self, frame: Frame, moment: float) -> None:
        """Draw the air over a frame, in place; `moment` is 0 to 1 of the clip."""
        for layer in self._layers:
            patch = self._patch(layer, moment)
            if self._shimmer is not None:
                light = self._cut(self._shimmer, self._turns(9) * moment + layer.phase, 0.0)
                patch = cv2.multiply(patch, light, scale=1 / 200)
            self._lay(frame, patch)

    def _patch(self, layer: Layer, moment: float) -> Bytes:
        swing = 2 * math.pi * (self._turns(5) * moment + layer.phase)
        x, y = (self._way(speed, moment) for speed in layer.speed)
        return self._cut(
            layer.tile, x + layer.sway * math.sin(swing), y + layer.sway * math.cos(2 * swing) / 2
        )

    def _way(self, speed: float, moment: float) -> float:
        """Return how far something got; in a loop it goes around a whole number of times."""
        far = speed * self._seconds
        if self._loop and speed:
            far = math.copysign(max(1, round(abs(far))), speed) if abs(far) > 0.3 else 0.0
        return far * moment

    def _turns(self, period: float) -> int:
        """Return how often something that takes about a period comes around in the clip."""
        return max(1, round(self._seconds / period))

    def _cut(self, tile: Bytes, x: float, y: float) -> Bytes:
        """Cut a frame out of a tile, to a part of a pixel: slow things must not move in steps."""
        width, height = self._size
        left, top = (-x * width) % width, (-y * height) % height
        center = (left + (width - 1) / 2, top + (height - 1) / 2)
        return np.asarray(cv2.getRectSubPix(tile, (width, height), center))


def _rain(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [Layer(_doubled(tile), speed) for tile, speed in streaks(rng, size)]


def _snow(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(_doubled(fall.tile), fall.speed, sway=0.006 * (near + 1), phase=near / 3)
        for near, fall in enumerate(falls(rng, *size, "snow"))
    ]


def _fireflies(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(_doubled(fall.tile), (0.0, 0.0), sway=0.016, phase=number / 3)
        for number, fall in enumerate(falls(rng, *size, "fireflies"))
    ]


def _dust(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(
            _doubled(_motes(rng, size, 70 - 25 * near, 0.0008 + 0.0013 * near, 90 - 30 * near)),
            (0.016 * (near + 1), -0.010 * (near + 1)),
            sway=0.012,
            phase=near / 2,
        )
        for near in range(2)
    ]


def _embers(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    return [
        Layer(
            _doubled(_motes(rng, size, 46 - 14 * near, 0.0010 + 0.0007 * near, 250)),
            (0.03 * (1 - near), -0.13 - 0.08 * near),
            sway=0.014,
            phase=near / 3,
        )
        for near in range(3)
    ]


def _fog(rng: np.random.Generator, size: tuple[int, int]) -> list[Layer]:
    width, height = size
    return [
        Layer(_doubled(clouds(rng, height, width, cells=(5 - near, 3), most=96)), (speed, 0.0))
        for near, speed in enumerate((0.020, -0.034))
    ]


def _brighten(frame: Frame, patch: Bytes) -> None:
    cv2.add(frame[0], patch, dst=frame[0])


def _whiten(frame: Frame, patch: Bytes) -> None:
    """Snow and dust are white: they take the color of what they cover away."""
    cv2.add(frame[0], patch, dst=frame[0])
    _toward(frame, _small(patch, frame), (_NEUTRAL, _NEUTRAL))


def _glow(frame: Frame, patch: Bytes) -> None:
    cv2.add(frame[0], patch, dst=frame[0])
    cv2.subtract(frame[1], cv2.convertScaleAbs(_small(patch, frame), alpha=0.4), dst=frame[1])


def _burn(frame: Frame, patch: Bytes) -> None:
    cv2.add(frame[0], cv2.convertScaleAbs(patch, alpha=0.75), dst=frame[0])
    # Color has half the size: a spark smaller than its pixels would be white.
    _toward(frame, cv2.convertScaleAbs(_small(patch, frame), alpha=1.9), (58, 196))


def _veil(frame: Frame, patch: Bytes) -> None:
    height = patch.shape[0]
    ramp = np.linspace(0.35, 1.0, height, dtype=np.float32)[:, None] * np.ones(
        (1, patch.shape[1]), np.float32
    )
    cover = cv2.multiply(patch, ramp, dtype=cv2.CV_8U)
    # Fog is as bright as the picture allows: a night must not turn gray.
    bright = min(226.0, float(cv2.mean(frame[0])[0]) * 1.15 + 42.0)
    _mixed(frame[0], cover, bright)
    small = _small(cover, frame)
    for chroma in frame[1:]:
        # It takes the light's color, paler: neutral fog looks pasted on at sunset.
        _mixed(chroma, small, 0.4 * _NEUTRAL + 0.6 * float(cv2.mean(chroma)[0]))


def _toward(frame: Frame, cover: Bytes, colors: tuple[float, float]) -> None:
    for chroma, color in zip(frame[1:], colors, strict=True):
        _mixed(chroma, cover, color)


def _mixed(plane: Bytes, cover: Bytes, value: float) -> None:
    cv2.multiply(plane, cv2.bitwise_not(cover), dst=plane, scale=1 / 255)
    cv2.add(plane, cv2.convertScaleAbs(cover, alpha=value / 255), dst=plane)


def _small(patch: Bytes, frame: Frame) -> Bytes:
    height, width = frame[1].shape
    return np.asarray(cv2.resize(patch, (width, height), interpolation=cv2.INTER_AREA))


def _motes(
    rng: np.random.Generator, size: tuple[int, int], count: int, radius: float, most: int
) -> Bytes:
    """Draw soft specks of many sizes."""
    stage = Stage(*size)
    mask = stage.blank(0, stage.rows)
    for x, y in rng.random((count, 2)) * size:
        spread = float(rng.uniform(0.6, 2.0))
        value = int(most * rng.uniform(0.35, 1.0) / spread)
        for px, py in wrapped(size, x, y, 4 * stage.unit * radius * spread):
            disc(mask, px, py, stage.unit * radius * spread, value=value)
    soft = max(0.5, 0.6 * stage.unit * radius)
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), soft, borderType=cv2.BORDER_REFLECT))


def _shimmer(rng: np.random.Generator, size: tuple[int, int]) -> Bytes:
    """Return brightness that varies from place to place, for what glimmers as it moves."""
    return np.asarray(clouds(rng, size[1], size[0], cells=(24, 24), most=255, octaves=1, floor=30))


def _doubled(tile: Bytes) -> Bytes:
    return np.tile(tile, (2, 2))


_KINDS: dict[
    str, tuple[Callable[[np.random.Generator, tuple[int, int]], list[Layer]], Lay, bool]
] = {
    "rain": (_rain, _brighten, False),
    "snow": (_snow, _whiten, False),
    "fog": (_fog, _veil, False),
    "dust": (_dust, _whiten, True),
    "fireflies": (_fireflies, _glow, True),
    "embers": (_embers, _burn, True),
}
