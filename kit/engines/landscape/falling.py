"""What falls or floats before the view: snow, rain and fireflies, as tiles without seams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np

from kit.engines.landscape.plane import Plane, Stage, disc, fill, solid
from kit.engines.landscape.scene import Scene
from kit.engines.media.color import Bytes, paint

_LAYERS = 3


@dataclass(frozen=True, slots=True)
class Fall:
    """One layer of weather.

    Parameters
    ----------
    tile : ndarray of uint8
        Brightness, as large as the frame; it continues at the opposite edge.
    speed : tuple of float
        How many frame widths and heights it moves in a second.
    """

    tile: Bytes
    speed: tuple[float, float]


def kind_of(scene: Scene) -> str | None:
    """Return what is in the air of a scene, if anything."""
    if scene.weather in ("rain", "snow"):
        return scene.weather
    return "fireflies" if "fireflies" in scene.extras else None


def falls(rng: np.random.Generator, width: int, height: int, kind: str) -> list[Fall]:
    """Return layers of weather from far to near."""
    return [_KINDS[kind](rng, Stage(width, height), near) for near in range(_LAYERS)]


def fallen(rng: np.random.Generator, stage: Stage, kind: str) -> list[Plane]:
    """Return the weather as planes of a still picture."""
    color = (0.93, 0.14, 105) if kind == "fireflies" else (0.97, 0.01, 250)
    layers = falls(rng, stage.columns, stage.rows, kind)
    return [Plane(kind, 1.0, 0, solid(paint(color)), layer.tile) for layer in layers]


def _snow(rng: np.random.Generator, stage: Stage, near: int) -> Fall:
    mask = stage.blank(0, stage.rows)
    size = stage.unit * (0.0011 + 0.0011 * near)
    for x, y in _places(rng, stage, int(330 / (1 + 1.2 * near))):
        radius, value = size * rng.uniform(0.6, 1.5), int(rng.uniform(90, 230))
        for px, py in _wrapped(stage, x, y, 3 * radius):
            disc(mask, px, py, radius, value=value)
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.4, 0.35 * size), borderType=cv2.BORDER_REFLECT)
    return Fall(soft, (0.012 * (1 + near), 0.10 + 0.07 * near))


def _rain(rng: np.random.Generator, stage: Stage, near: int) -> Fall:
    mask = stage.blank(0, stage.rows)
    long = stage.unit * (0.022 + 0.022 * near)
    thick = stage.unit * (0.0003 + 0.00022 * near)
    for x, y in _places(rng, stage, int(230 / (1 + 0.9 * near))):
        value = int(rng.uniform(16, 38) + 9 * near)
        for px, py in _wrapped(stage, x, y, long):
            _drop(mask, px, py, long, thick, value)
    return Fall(mask, (-0.16 - 0.10 * near, 0.9 + 0.5 * near))


def _fireflies(rng: np.random.Generator, stage: Stage, near: int) -> Fall:
    mask = stage.blank(0, stage.rows)
    size = stage.unit * (0.0014 + 0.0008 * near)
    for x, y in _places(rng, stage, 22 - 5 * near):
        low = stage.rows * (0.55 + 0.42 * y / stage.rows)
        radius = size * rng.uniform(0.8, 1.4)
        disc(mask, x, low, radius * 3.4, value=26)
        disc(mask, x, low, radius * 2.0, value=70)
        disc(mask, x, low, radius, value=245)
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.5, 0.55 * size))
    return Fall(soft, (0.010 * (near - 1), -0.008 - 0.006 * near))


_KINDS: dict[str, Callable[[np.random.Generator, Stage, int], Fall]] = {
    "snow": _snow,
    "rain": _rain,
    "fireflies": _fireflies,
}


def _places(rng: np.random.Generator, stage: Stage, count: int) -> np.ndarray:
    return rng.random((count, 2)) * (stage.columns, stage.rows)


def _wrapped(stage: Stage, x: float, y: float, reach: float) -> Iterator[tuple[float, float]]:
    """Yield a place, and again beyond the opposite edge wherever it is near one."""
    across = (0,) if reach < x < stage.columns - reach else (-1, 0, 1)
    down = (0,) if reach < y < stage.rows - reach else (-1, 0, 1)
    for step_x, step_y in product(across, down):
        yield x + step_x * stage.columns, y + step_y * stage.rows


def _drop(mask: Bytes, x: float, y: float, long: float, thick: float, value: int) -> None:
    lean = -0.16 * long
    corners = [(x - thick, y), (x + thick, y), (x + lean + thick, y + long)]
    fill(mask, [*corners, (x + lean - thick, y + long)], value=value)
