"""Redrawing: a photograph becomes a painting, a pencil sketch or a flat poster."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.editing.picture.printing import printed
from kit.engines.editing.picture.repairs import sharpened
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import field

_SIDE = 1600  # pixels a side at which is drawn: strokes keep their size in the picture
_QUARTERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def redrawn(pixels: Bytes, manner: str, progress: Progress) -> Bytes:
    """Return a picture drawn in a manner, ``painting``, ``sketch`` or ``poster``."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale < 1 else pixels
    drawn = _MANNERS[manner](small, progress)
    if drawn.shape != pixels.shape:
        drawn = cv2.resize(drawn, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(drawn)


def _painting(pixels: Bytes, progress: Progress) -> Bytes:
    """Smear within shapes and keep their outlines, coarse then fine, on a little canvas."""
    unit = max(pixels.shape) / 1024
    out = pixels
    radii = [max(2, round(radius * unit)) for radius in (7, 4, 3)]
    for radius in progress.over(radii):
        out = _smeared(out, radius, progress)
    hsv = cv2.cvtColor(sharpened(out, 1.6 * unit, 0.9), cv2.COLOR_RGB2HSV)
    hsv[..., 1] = cv2.convertScaleAbs(hsv[..., 1], alpha=1.18)
    out = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    return _relief(out, unit)


def _smeared(pixels: Bytes, radius: int, progress: Progress) -> Bytes:
    """Return each pixel as the mean of that quarter around it which varies least.

    Source: Kuwahara et al. (1976); soft weights after Papari et al. (IEEE TIP 2007).
    """
    value = pixels.astype(np.float32)
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    total = np.zeros_like(value)
    weights = np.zeros((*gray.shape, 1), np.float32)
    side = radius + 1
    for down, across in _QUARTERS:
        progress.check()
        anchor = (across * radius, down * radius)
        mean = cv2.blur(value, (side, side), anchor=anchor)
        first = cv2.blur(gray, (side, side), anchor=anchor)
        spread = cv2.blur(gray * gray, (side, side), anchor=anchor) - first * first
        weight = (1.0 / (1.0 + np.maximum(spread, 0.0)) ** 4)[..., None]
        total += weight * mean
        weights += weight
    return np.asarray(np.rint(total / np.maximum(weights, 1e-30)), np.uint8)


def _relief(pixels: Bytes, unit: float) -> Bytes:
    """Light the paint from above: brush ridges along the shapes and the weave of a canvas."""
    height, width = pixels.shape[:2]
    rng = np.random.default_rng(11)
    bristles = field(rng, height, width, cells=(round(90 * height / width), 24), octaves=3)
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    bumps = cv2.GaussianBlur(gray, (0, 0), 1.2 * unit) + 5.0 * bristles
    slope = cv2.Sobel(bumps, cv2.CV_32F, 0, 1, ksize=3) + cv2.Sobel(
        bumps, cv2.CV_32F, 1, 0, ksize=3
    )
    light = np.clip(0.16 * slope, -14.0, 14.0)
    return np.asarray(np.rint(pixels + light[..., None]).clip(0, 255), np.uint8)


def _sketch(pixels: Bytes, progress: Progress) -> Bytes:
    """Draw tones and outlines in graphite on paper."""
    unit = max(pixels.shape) / 1024
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    gray = cv2.createCLAHE(2.0, (4, 4)).apply(gray)
    progress.report(0.3)
    calm = cv2.bilateralFilter(gray, 7, 40, 5).astype(np.float32)
    # Dividing by the surroundings leaves lines where the tone changes, as a pencil draws them.
    lines = calm / np.maximum(cv2.GaussianBlur(calm, (0, 0), 9 * unit), 1.0)
    fine = calm / np.maximum(cv2.GaussianBlur(calm, (0, 0), 2.2 * unit), 1.0)
    progress.report(0.6)
    ink = np.clip(1.06 * np.minimum(lines, 1.0) * np.minimum(fine, 1.0) ** 2.5, 0.0, 1.0)
    tone = _hatched(calm / 255.0, unit)
    paper = 1.0 + 0.018 * field(np.random.default_rng(12), *gray.shape, cells=(160, 160), octaves=3)
    page = np.clip(ink**1.6 * tone * paper, 0.0, 1.0)[..., None]
    graphite, white = np.array([52, 50, 54.0]), np.array([249, 246, 238.0])
    return np.asarray(np.rint(graphite + page * (white - graphite)).clip(0, 255), np.uint8)


def _hatched(tone: Floats, unit: float) -> Floats:
    """Shade dark places with strokes that lean to the right, crossed where it is darkest."""
    height, width = tone.shape
    shade = np.ones_like(tone)
    for number, (angle, dark) in enumerate(((55.0, 0.62), (40.0, 0.40), (-50.0, 0.24))):
        rng = np.random.default_rng(20 + number)
        reach = int(np.hypot(height, width)) + 2
        grain = rng.standard_normal((reach, max(2, reach // 26)), np.float32)
        grain = cv2.resize(grain, (reach, reach), interpolation=cv2.INTER_LINEAR)
        grain = cv2.GaussianBlur(grain, (1, 0), sigmaX=0.1, sigmaY=max(0.6, 0.9 * unit))
        turn = cv2.getRotationMatrix2D((reach / 2, reach / 2), angle, 1.0)
        turn[:, 2] -= ((reach - width) / 2, (reach - height) / 2)
        strokes = cv2.warpAffine(grain, turn, (width, height), borderMode=cv2.BORDER_REFLECT)
        amount = np.clip((dark - tone) / dark, 0.0, 1.0)
        shade *= 1.0 - 0.55 * amount * np.clip(0.55 + 0.6 * strokes, 0.0, 1.0)
    return np.asarray(shade, np.float32)


_MANNERS: dict[str, Callable[[Bytes, Progress], Bytes]] = {
    "painting": _painting,
    "sketch": _sketch,
    "poster": printed,
}
