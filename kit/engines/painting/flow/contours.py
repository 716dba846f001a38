"""Contours: lines of equal height, as on a map or as layers of cut paper."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.flow.inks import Inks
from kit.engines.painting.noise import Plane, across, blur, field, slopes, warp
from kit.engines.painting.tone import blend, gradient, light


def terrain(
    rng: np.random.Generator,
    height: int,
    width: int,
    cells: float,
    progress: Progress,
    *,
    smooth: bool,
) -> Plane:
    """Return hills, shape (height, width), 0 to 1."""
    size = max(height, width)
    blobs = across(cells, height, width)
    octaves, gain = (3, 0.3) if smooth else (6, 0.42)
    hills = field(rng, height, width, cells=blobs, octaves=octaves, gain=gain)
    bend = field(rng, height, width, cells=blobs, octaves=3, gain=0.4)
    other = field(rng, height, width, cells=blobs, octaves=3, gain=0.4)
    progress.report(0.5)
    bent = warp(hills, bend, other, 0.05 * size)
    # A warp rounds positions to fractions of a pixel, which shows as a jagged edge in flat ground.
    bent = blur(bent, 1.6 * size / 1024)
    low, high = float(bent.min()), float(bent.max())
    return np.asarray((bent - low) / (high - low), np.float32)


def chart(hills: Plane, inks: Inks, levels: int, progress: Progress, *, bold: float = 1.0) -> Plane:
    """Return a map: tinted heights, light on the slopes, thin lines and every fifth a thick one.

    Parameters
    ----------
    bold : float
        Factor on the width of the lines.
    """
    size = max(hills.shape)
    right, down = slopes(hills * np.float32(levels), 1.0)
    steep = np.sqrt(right * right + down * down) + np.float32(1e-5)
    level = hills * np.float32(levels)
    thin = _line(level, steep, 0.75 * bold * size / 1024)
    thick = _line(level / 5.0, steep / 5.0, 1.5 * bold * size / 1024)
    # Where lines stand closer than pixels they would run together: they fade out instead.
    crowded = smooth_step(0.55, 0.25, steep)
    progress.report(0.4)
    ground = gradient(_heights(inks), hills)
    relief = np.clip(1.0 - (right + down) * np.float32(2.2 * size / 1024 / levels * 8), 0.7, 1.3)
    progress.report(0.6)
    ink = gradient(_lines(inks), hills)
    progress.report(0.8)
    share = np.maximum(thin * np.float32(0.7) * crowded, thick)
    return blend(ground * relief, ink, share)


def cut_paper(hills: Plane, inks: Inks, levels: int, progress: Progress) -> Plane:
    """Return layers of colored paper, each with an edge that catches light and a shadow below."""
    size = max(hills.shape)
    level = hills * np.float32(levels)
    layer = np.floor(level)
    right, down = slopes(level, 1.0)
    steep = np.sqrt(right * right + down * down) + np.float32(1e-5)
    over = np.clip((level - layer) / steep, 0.0, 1.0)
    top = np.minimum(layer, levels - 1.0) / (levels - 1.0)
    below = np.maximum(layer - 1.0, 0.0) / (levels - 1.0)
    progress.report(0.3)
    shades = _heights(inks)
    color = blend(gradient(shades, below), gradient(shades, top), over)
    progress.report(0.5)
    ground = layer - 1.0 + over  # smooth across an edge, as the colors are
    shadow = np.zeros_like(level)
    for reach, weight in ((0.006, 0.30), (0.018, 0.38)):
        shift = np.array([[1, 0, reach * size], [0, 1, 1.25 * reach * size]], np.float32)
        cast = cv2.warpAffine(
            layer, shift, (layer.shape[1], layer.shape[0]), borderMode=cv2.BORDER_REPLICATE
        )
        cast = blur(cast, 0.7 * reach * size)
        progress.report(0.5 + 10 * reach)
        shadow += np.clip(cast - ground, 0.0, 1.0) * np.float32(weight)
    progress.report(0.7)
    facing = (-right - down) / steep
    edge = np.exp(-(level - layer) / steep / (1.4 * size / 1024)) * np.clip(-facing, 0.0, 1.0)
    return np.asarray(color * (1.0 - shadow) + edge * np.float32(0.10), np.float32)


def _line(level: Plane, steep: Plane, wide: float) -> Plane:
    """Return the coverage of a line `wide` pixels to each side of every whole level."""
    off = np.abs(level - np.round(level)) / steep
    return np.asarray(np.clip(wide + 0.5 - off, 0.0, 1.0), np.float32)


def _heights(inks: Inks) -> list[tuple[float, Oklch]]:
    shades = sorted(inks.shades)
    if inks.dark:
        low = inks.paper
        return [
            (0.0, low),
            (0.35, _faded(shades[0], 0.30, 0.75)),
            (0.6, _faded(shades[1], 0.48, 0.9)),
            (0.8, _faded(shades[3], 0.68, 0.9)),
            (1.0, _faded(shades[4], 0.88, 0.7)),
        ]
    return [
        (0.0, _faded(shades[1], 0.50, 0.9)),
        (0.3, _faded(shades[2], 0.66, 0.75)),
        (0.55, _faded(shades[3], 0.80, 0.6)),
        (0.8, _faded(shades[4], 0.90, 0.4)),
        (1.0, inks.paper),
    ]


def _lines(inks: Inks) -> list[tuple[float, Oklch]]:
    shades = inks.shades
    level = 0.92 if inks.dark else 0.30
    return [(0.0, _faded(shades[0], level, 0.6)), (1.0, _faded(shades[1], level, 0.8))]


def _faded(color: Oklch, lightness: float, factor: float) -> Oklch:
    return lightness, color[1] * factor, color[2]


def paper(inks: Inks, height: int, width: int) -> Plane:
    """Return an empty sheet."""
    return np.broadcast_to(light(inks.paper), (3, height, width)).astype(np.float32)
