"""What falls or floats before the view: snow, rain and fireflies, as tiles without seams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, product
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, paint
from kit.engines.painting.poster.plane import Plane, Stage, discs, fill_all, solid
from kit.engines.prompt.brief import Brief

_LAYERS = 3
_STEPS = np.array(list(product((-1, 0, 1), repeat=2)))

_Numbers: TypeAlias = NDArray[np.float64]


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


def kind_of(brief: Brief) -> str | None:
    """Return what is in the air of a brief, if anything."""
    if brief.weather in ("rain", "snow"):
        return brief.weather
    return "fireflies" if "fireflies" in brief.things else None


def falls(rng: np.random.Generator, width: int, height: int, kind: str) -> list[Fall]:
    """Return layers of weather from far to near."""
    return [_KINDS[kind](rng, Stage(width, height), near) for near in range(_LAYERS)]


def fallen(rng: np.random.Generator, stage: Stage, kind: str) -> list[Plane]:
    """Return the weather of a still picture, its layers in one plane: they have one color."""
    color = (0.93, 0.14, 105) if kind == "fireflies" else (0.97, 0.01, 250)
    far, *nearer = falls(rng, stage.columns, stage.rows, kind)
    open_ = cv2.bitwise_not(far.tile)
    for layer in nearer:
        open_ = cv2.multiply(open_, cv2.bitwise_not(layer.tile), scale=1 / 255)
    return [Plane(kind, 1.0, 0, solid(paint(color)), cv2.bitwise_not(open_))]


def _snow(rng: np.random.Generator, stage: Stage, near: int) -> Fall:
    mask = stage.blank(0, stage.rows)
    size = stage.unit * (0.0011 + 0.0011 * near)
    places = _places(rng, stage, int(330 / (1 + 1.2 * near)))
    dice = rng.random((len(places), 2))
    radius = size * (0.6 + 0.9 * dice[:, 0])
    which, at = _wrapped(stage, places, 3 * radius, radius)
    values = (90.0 + 140.0 * dice[:, 1]).astype(int)[which]
    discs(mask, np.column_stack([at, radius[which]]), values=values.tolist())
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.4, 0.35 * size), borderType=cv2.BORDER_REFLECT)
    return Fall(soft, (0.012 * (1 + near), 0.10 + 0.07 * near))


def _rain(rng: np.random.Generator, stage: Stage, near: int) -> Fall:
    mask = stage.blank(0, stage.rows)
    long = stage.unit * (0.022 + 0.022 * near)
    thick = stage.unit * (0.0003 + 0.00022 * near)
    places = _places(rng, stage, int(230 / (1 + 0.9 * near)))
    values = (rng.uniform(16, 38, len(places)) + 9 * near).astype(int)
    reach = np.full(len(places), long)
    which, at = _wrapped(stage, places, reach, reach)
    lean = -0.16 * long
    drop = np.array([[-thick, 0], [thick, 0], [lean + thick, long], [lean - thick, long]])
    fill_all(mask, at[:, None] + drop, values=values[which].tolist(), convex=True)
    return Fall(mask, (-0.16 - 0.10 * near, 0.9 + 0.5 * near))


def _fireflies(rng: np.random.Generator, stage: Stage, near: int) -> Fall:
    mask = stage.blank(0, stage.rows)
    size = stage.unit * (0.0014 + 0.0008 * near)
    places = _places(rng, stage, 22 - 5 * near)
    places[:, 1] = stage.rows * (0.55 + 0.42 * places[:, 1] / stage.rows)
    radius = size * rng.uniform(0.8, 1.4, len(places))
    halos = np.column_stack([places, radius])[:, None] * [(1, 1, 3.4), (1, 1, 2), (1, 1, 1)]
    discs(mask, halos.reshape(-1, 3), values=cycle((26, 70, 245)))
    # They fly low: above them there is nothing to soften.
    low = slice(int(0.5 * stage.rows), None)
    mask[low] = cv2.GaussianBlur(mask[low], (0, 0), max(0.5, 0.55 * size))
    return Fall(mask, (0.010 * (near - 1), -0.008 - 0.006 * near))


_KINDS: dict[str, Callable[[np.random.Generator, Stage, int], Fall]] = {
    "snow": _snow,
    "rain": _rain,
    "fireflies": _fireflies,
}


def _places(rng: np.random.Generator, stage: Stage, count: int) -> _Numbers:
    return rng.random((count, 2)) * (stage.columns, stage.rows)


def _wrapped(
    stage: Stage, places: _Numbers, near: _Numbers, reach: _Numbers
) -> tuple[NDArray[np.intp], _Numbers]:
    """Return places, and again beyond the opposite edge those that are near one.

    Parameters
    ----------
    near : ndarray of float64
        Within this distance of an edge, in pixels, a place is drawn there too.
    reach : ndarray of float64
        How far what stands there goes: what is farther outside the stage is left out.

    Returns
    -------
    tuple of ndarray
        Which of the places, and where it is to be drawn, shapes (n,) and (n, 2).
    """
    size = np.array([stage.columns, stage.rows])
    inner = (places > near[:, None]) & (places < size - near[:, None])
    at = places[:, None] + _STEPS * size
    drawn = ~((_STEPS != 0) & inner[:, None]).any(axis=2)
    far = reach[:, None, None] + 2.0
    drawn &= ((at > -far) & (at < size + far)).all(axis=2)
    return np.nonzero(drawn)[0], at[drawn]
