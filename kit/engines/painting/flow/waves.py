"""Waves: ribbons spun of fine threads, and stacked ridges that hide one another."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.noise import line
from kit.engines.painting.flow.contours import paper
from kit.engines.painting.flow.inks import Inks
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import gradient

_SHIFT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Weave:
    """How ribbons are woven.

    Parameters
    ----------
    threads, count : int
        Threads in each ribbon, and ribbons.
    swing, scale : float
        Factors on the height of the waves, and on how near they are seen.
    middle : float or None
        Share of the height at which they run, if a word says it.
    """

    threads: int
    swing: float = 1.0
    count: int = 3
    middle: float | None = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """How ridges are stacked.

    Parameters
    ----------
    count : int
        Of ridges.
    calm, wide : float
        Factors on their height and on the width of their peaks.
    at : float or None
        Share of the width at which they peak, if a word says it.
    """

    count: int
    calm: float = 1.0
    wide: float = 1.0
    at: float | None = None


def ribbons(
    rng: np.random.Generator,
    shape: tuple[int, int],
    inks: Inks,
    weave: Weave,
    progress: Progress,
) -> Plane:
    """Return ribbons that twist across the frame, shape (3, height, width), linear light."""
    height, width = shape
    picture = paper(inks, height, width)
    along = np.arange(-8, width + 9, 4, dtype=np.float64)
    unit = max(height, width) / 1024
    columns = np.linspace(0.0, 1.0, width, dtype=np.float32)[None]
    for number in range(weave.count):
        edges = [_wave(rng, along, height, width, number, weave) for _ in range(2)]
        sheet = np.zeros((height, width), np.float32)
        for share in np.linspace(0.0, 1.0, weave.threads):
            bulge = 0.10 * np.sin(np.pi * share) * (edges[1] - edges[0])
            curve = edges[0] + (edges[1] - edges[0]) * share + bulge
            _thread(sheet, along, curve, 0.55 + 0.45 * np.sin(np.pi * share), unit * weave.scale)
        shades = [inks.shades[(number + step) % len(inks.shades)] for step in range(3)]
        stops = [(0.0, shades[0]), (0.5, shades[1]), (1.0, shades[2])]
        progress.report((number + 0.5) / weave.count)
        color = gradient(stops, columns)
        cover = 1.0 - np.exp(-sheet * 1.1)
        if inks.dark:
            picture += color * (sheet * np.float32(0.62))
        else:
            picture += (color - picture) * cover
        progress.report((number + 1) / weave.count)
    return picture


def ridgelines(
    rng: np.random.Generator,
    shape: tuple[int, int],
    inks: Inks,
    rows_of: Rows,
    progress: Progress,
) -> Plane:
    """Return stacked ridges, each hiding what lies behind, like the pulses of one signal."""
    height, width = shape
    scale = 2
    sheet = np.zeros((height * scale, width * scale), np.uint8)
    x = np.linspace(0.06 * width, 0.94 * width, 360)
    share = (x - x[0]) / (x[-1] - x[0])
    drawn = float(rng.uniform(0.4, 0.6))
    at = drawn if rows_of.at is None else rows_of.at
    swell = np.exp(-(((share - at) / (0.17 * rows_of.wide)) ** 2))
    count, calm = rows_of.count, rows_of.calm
    top, bottom = 0.16 * height, 0.92 * height
    step = (bottom - top) / (count - 1)
    thick = max(1, round(0.0019 * max(height, width) * scale))
    for number in progress.part(0.0, 0.6).over(range(count)):
        rough = line(rng, share, 0.07, octaves=4, gain=0.55)
        broad = line(rng, share, 0.18, octaves=2)
        rise = np.maximum(0.0, swell * (2.6 + 1.8 * broad) + (0.10 + swell) * rough)
        y = top + number * step - rise * step * 1.9 * calm
        points = np.stack([x, y], axis=1)
        foot = np.array([[x[-1], y[-1] + 3 * step], [x[0], y[0] + 3 * step]])
        cv2.fillPoly(sheet, [_fixed(np.concatenate([points, foot]), scale)], 0, cv2.LINE_8, _SHIFT)
        cv2.polylines(sheet, [_fixed(points, scale)], False, 255, thick, cv2.LINE_AA, _SHIFT)
    cover = cv2.resize(sheet, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    rows = np.linspace(0.0, 1.0, height, dtype=np.float32)[:, None]
    stops = [(0.0, inks.shades[0]), (0.5, inks.shades[1]), (1.0, inks.shades[2])]
    color = np.broadcast_to(gradient(stops, rows), (3, height, width))
    progress.report(0.8)
    ground = paper(inks, height, width)
    return np.asarray(ground + (color - ground) * (cover / np.float32(255)), np.float32)


def _wave(
    rng: np.random.Generator,
    along: NDArray[np.float64],
    height: int,
    width: int,
    number: int,
    weave: Weave,
) -> NDArray[np.float64]:
    size = max(height, width)
    jitter = rng.uniform(-0.07, 0.07)
    middle = height * (0.32 + 0.18 * number + jitter)
    if weave.middle is not None:
        middle = height * (weave.middle + 0.18 * (number - weave.count // 2) + jitter)
    swing = line(rng, along, 0.62 * size * weave.scale, octaves=2, gain=0.42)
    return np.asarray(middle + swing * height * 0.23 * weave.swing * min(1.4, weave.scale))


def _thread(
    sheet: Plane,
    along: NDArray[np.float64],
    curve: NDArray[np.float64],
    strength: float,
    unit: float,
) -> None:
    """Add one thread's light to the rows that it crosses."""
    height = sheet.shape[0]
    top = max(0, int(curve.min()) - 3)
    bottom = min(height, int(curve.max()) + 4)
    if top >= bottom:
        return
    part = np.zeros((bottom - top, sheet.shape[1]), np.uint8)
    points = np.stack([along, curve - top], axis=1)
    cv2.polylines(part, [_fixed(points, 1)], False, 255, max(1, round(unit)), cv2.LINE_AA, _SHIFT)
    sheet[top:bottom] += part * np.float32(strength / 255)


def _fixed(points: NDArray[np.float64], scale: int) -> NDArray[np.int32]:
    return np.asarray(np.round(points * scale * 2**_SHIFT), np.int32)
