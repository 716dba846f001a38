"""Facets: the shaded flanks and the snow that turn a jagged line into mountains."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats, paint
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.poster.crests import Crest
from kit.engines.painting.poster.mixing import spread
from kit.engines.painting.poster.palettes import Color
from kit.engines.painting.poster.plane import Stage, Touch, backward, fill, outline, solid

#: The spine of a flank, from the peak down, and the fingers of its shadow, every other one long.
_STEPS = np.linspace(0.0, 1.0, 8)
_SHARES = np.linspace(0.12, 0.92, 7)
_LONG = np.where(np.arange(7) % 2, 0.92, 0.42)
_CURVE = np.linspace(0.0, 1.0, 28)  # of the lee side of a dune, from the peak down
_SLENDER = 6  # a peak narrower than this, in pixels, gets no facet


def shadows(
    rng: np.random.Generator, stage: Stage, crest: Crest, rows: tuple[int, int], light_x: float
) -> Bytes:
    """Return a mask of the flanks that face away from the light.

    From each peak a broken spine runs down; what lies between it and the crest on the far side of
    the light is in shadow, its lower edge drawn out into fingers.
    """
    mask = stage.blank(*rows)
    for left, peak, right in crest.peaks:
        side = 1 if light_x < peak else -1
        foot = right if side > 0 else left
        if abs(foot - peak) >= _SLENDER:
            fill(mask, _flank(rng, crest, peak, foot), top=rows[0])
    return mask


def curved_shadows(
    rng: np.random.Generator, stage: Stage, crest: Crest, rows: tuple[int, int], light_x: float
) -> Bytes:
    """Return a mask of the lee sides of dunes: bounded by one flowing line each."""
    mask = stage.blank(*rows)
    for left, peak, right in crest.peaks:
        side = 1 if light_x < peak else -1
        foot = right if side > 0 else left
        if abs(foot - peak) >= _SLENDER:
            fill(mask, _lee(rng, crest, peak, foot), top=rows[0])
    return mask


def snow(
    rng: np.random.Generator, stage: Stage, crest: Crest, rows: tuple[int, int], amount: float
) -> Bytes:
    """Return a mask of snow caps; `amount` is the share of each peak's height that is covered."""
    mask = stage.blank(*rows)
    y = crest.y
    for left, peak, right in crest.peaks:
        tall = float(max(y[left], y[right]) - y[peak])
        if tall < _SLENDER or right - left < 2 * _SLENDER:
            continue
        snow_line = float(y[peak]) + tall * amount * rng.uniform(0.8, 1.15)
        fill(mask, _cap(rng, crest, (left, peak, right), snow_line), top=rows[0])
    return mask


def laden(mask: Bytes, thick: int) -> Bytes:
    """Return a mask of what lies on top of all that a mask shows, some pixels thick."""
    top = np.empty_like(mask)
    top[:thick] = mask[:thick]
    if thick < len(mask):
        cv2.subtract(mask[thick:], mask[:-thick], dst=top[thick:])
    return top


def blanket(crest: Crest, top: int, reach: float) -> Callable[[slice, slice], Floats]:
    """Return the weights of snow below a crest, by rows after `top` and columns.

    It is thickest under the edge and lets the ground through more and more over `reach` pixels.
    """
    # The crest's own edge is half a pixel of land: it is white too.
    return below(crest, top, high=0.92, slope=-0.5 / reach, least=0.6, above=2.0)


def below(
    crest: Crest, top: int, *, high: float, slope: float, least: float, above: float
) -> Callable[[slice, slice], Floats]:
    """Return weights that fall from a crest downward, by rows after `top` and columns.

    Parameters
    ----------
    high, slope : float
        The weight on the crest, and what it changes by with each pixel below it, less than 0.
    least : float
        The weight that it falls to.
    above : float
        How many pixels over the crest it begins; farther up it is 0.
    """
    over = np.float32(high) - crest.y * np.float32(slope)
    begins = high - above * slope
    along = np.stack([over, np.ones_like(over)])

    def weights(rows: slice, columns: slice) -> Floats:
        down = np.arange(top + rows.start, top + rows.stop, dtype=np.float32) * np.float32(slope)
        # Each is a sum of its row's and its column's: a product is the fastest way to all of them.
        weight = np.stack([np.ones_like(down), down], axis=1) @ along[:, columns]
        np.maximum(weight, np.float32(least), out=weight)
        cv2.threshold(weight, begins, 0.0, cv2.THRESH_TOZERO_INV, dst=weight)
        return np.asarray(weight)

    return weights


def masked(color: Color, mask: Bytes, strength: float, fading: Floats | None = None) -> Touch:
    """Return a touch that covers where a mask does, its rows fading."""
    scale = np.float32(strength / 255)

    def weights(rows: slice, columns: slice) -> Floats | None:
        part = mask[rows, columns]
        if not cv2.countNonZero(part):
            return None
        covers = part.astype(np.float32)
        if fading is None:
            covers *= scale
        else:
            cv2.multiply(covers, spread(fading[rows] * scale, part.shape), dst=covers)
        return covers

    return Touch(solid(paint(color)), weights)


def strata(rng: np.random.Generator, stage: Stage, crest: Crest, rows: tuple[int, int]) -> Floats:
    """Return weights of the layers of rock in a table mountain, strongest under its edge."""
    depth = np.arange(*rows, dtype=np.float32) - float(crest.y.min())
    tall = max(1.0, float(np.percentile(crest.y, 98) - crest.y.min()))
    bands = line(rng, np.arange(len(depth), dtype=np.float32), tall * 0.13, octaves=3, gain=0.7)
    fade = np.clip(1.0 - depth / (1.1 * tall), 0.0, 1.0)
    return np.asarray(0.30 * smooth_step(-0.1, 0.3, bands) * fade)[:, None]


def _flank(rng: np.random.Generator, crest: Crest, peak: int, foot: int) -> NDArray[np.float64]:
    y, reach = crest.y, abs(foot - peak)
    side = 1 if foot > peak else -1
    edge = np.arange(peak, foot + side, side * max(1, reach // 60))
    down = float(y[foot] - y[peak])
    depth = max(0.9 * reach, 1.25 * down)
    wander = np.cumsum(rng.uniform(-0.07, 0.10, 8)) * reach * side
    wander[0] = 0.0
    zigzag = rng.uniform(-0.05, 0.05, 8) * reach * (_STEPS > 0)
    spine = peak + wander + zigzag, y[peak] + depth * _STEPS
    shares = _SHARES + rng.uniform(-0.04, 0.04, 7)
    columns = np.rint(peak + side * reach * shares).astype(int)
    columns = np.minimum(np.maximum(columns, 0), len(y) - 1)
    fingers = y[columns] + depth * _LONG * rng.uniform(0.7, 1.1, 7) * (1.0 - shares) * 0.9
    lower = columns + wander[-1] * (1 - shares), fingers
    return outline((edge, y[edge] - 1.0), backward(lower), backward(spine))


def _lee(rng: np.random.Generator, crest: Crest, peak: int, foot: int) -> NDArray[np.float64]:
    y, reach = crest.y, abs(foot - peak)
    side = 1 if foot > peak else -1
    edge = np.arange(peak, foot + side, side * max(1, reach // 80))
    deep = max(float(y[foot] - y[peak]), 0.25 * reach) * rng.uniform(1.2, 1.7)
    share = _CURVE
    bend = rng.uniform(0.16, 0.34) * reach
    curve_x = peak + side * (bend * np.sin(np.pi * share * 1.15) + 0.75 * reach * share**2.2)
    curve_y = y[peak] + deep * share
    return outline((edge, y[edge] - 1.0), backward((curve_x, curve_y)))


def _cap(
    rng: np.random.Generator, crest: Crest, peak: tuple[int, int, int], low: float
) -> NDArray[np.float64]:
    """Outline the crest above the snow line, closed below by uneven teeth."""
    y = crest.y
    left, top, right = peak
    over, under = np.flatnonzero(y[left:top] <= low), np.flatnonzero(y[top + 1 : right + 1] <= low)
    left = left + int(over[0]) if len(over) else max(left, top)
    right = top + 1 + int(under[-1]) if len(under) else min(right, top)
    edge = np.arange(left, right + 1, max(1, (right - left) // 60))
    teeth = 9
    columns = np.linspace(left, right, teeth + 2)[1:-1]
    columns = columns + rng.uniform(-0.3, 0.3, teeth) * (right - left) / teeth
    high = y[np.minimum(np.maximum(columns.astype(int), 0), len(y) - 1)]
    deep = np.where(np.arange(teeth) % 2, 0.5, 1.05) * rng.uniform(0.7, 1.2, teeth)
    lower = high + (low - high) * deep + (low - y[top]) * 0.12
    return outline((edge, y[edge] - 1.0), backward((columns, lower)))
