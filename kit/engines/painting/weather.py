"""Weather: snow, rain, fireflies and birds between the camera and the land."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.looks import Look
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief

_BITS = 3  # of a part of a pixel
_EIGHTH = 1 << _BITS
#: Layers of snow, far to near: flakes, radius, blur, cover.
_FLAKES = ((2600, 0.9, 0.6, 0.55), (700, 1.7, 1.0, 0.60), (110, 4.0, 2.6, 0.50))
#: Layers of rain: drops, length, cover.
_DROPS = ((1500, 26, 0.16), (420, 60, 0.15))


def draw_weather(
    planes: Floats, brief: Brief, look: Look, horizon: float, rng: np.random.Generator
) -> None:
    """Draw what falls or flies in a brief, in place.

    Parameters
    ----------
    horizon : float
        Row of it.
    """
    if brief.weather == "snow" and brief.falling:
        draw_snow(planes, light(look.shade, 0.55 + 0.9 * look.shade_power), rng)
    elif brief.weather == "rain" and brief.falling:
        # Drops bend light of all directions: hardly more than a hint of a color is left.
        lightness, chroma, hue = look.shade
        bright = light((lightness, 0.25 * chroma, hue), 0.30 + 0.5 * look.shade_power)
        draw_rain(planes, bright, rng)
    if "fireflies" in brief.things:
        _draw_fireflies(planes, horizon, rng)
    if "birds" in brief.things:
        _draw_birds(planes, horizon, rng)


def draw_snow(
    planes: Floats, bright: Floats, rng: np.random.Generator, amount: float = 1.0
) -> None:
    """Draw three layers of flakes, in place; the nearest are large, few and out of focus."""
    size = _size(planes)
    for count, radius, soft, share in _FLAKES:

        def flake(layer: Bytes, x: float, y: float, grown: float, reach: float = radius) -> None:
            around = max(4, round(reach * size * grown * _EIGHTH))
            cv2.circle(layer, _point(x, y), around, 255, -1, cv2.LINE_AA, _BITS)

        cover = _strewn(planes, rng, round(count * amount), flake)
        cover = cv2.GaussianBlur(cover, (0, 0), soft * size) * np.float32(share / 255)
        planes += (bright - planes) * cover


def draw_rain(
    planes: Floats, bright: Floats, rng: np.random.Generator, amount: float = 1.0
) -> None:
    """Draw fine slanting streaks, in place, brighter than what is behind them."""
    size, slant = _size(planes), float(rng.uniform(-0.12, 0.12))
    pale = round(255 * min(1.0, 0.25 + 0.75 * size))  # a line is never thinner than a pixel
    for count, long, share in _DROPS:

        def drop(layer: Bytes, x: float, y: float, grown: float, reach: int = long) -> None:
            length = reach * size * grown
            end = _point(x + slant * length, y + length)
            cv2.line(layer, _point(x, y), end, pale, 1, cv2.LINE_AA, _BITS)

        cover = _strewn(planes, rng, round(count * amount), drop)
        cover = cv2.GaussianBlur(cover, (0, 0), 0.6 * size) * np.float32(share / 255)
        planes += (bright - planes * 0.6) * cover


def _draw_fireflies(planes: Floats, horizon: float, rng: np.random.Generator) -> None:
    _, height, width = planes.shape
    size = _size(planes)
    layer = np.zeros((height, width), np.uint8)
    for _ in range(70):
        x, y = rng.uniform(0, width), rng.uniform(horizon * 0.9, height)
        # As many lie far off as near by: some are hardly more than a point.
        reach = max(3, round(1.9 * size * rng.uniform(0.35, 1.0) ** 1.5 * _EIGHTH))
        cv2.circle(layer, _point(x, y), reach, 255, -1, cv2.LINE_AA, _BITS)
    spots = layer.astype(np.float32) / 255
    glow = cv2.GaussianBlur(spots, (0, 0), max(0.5, 0.9 * size)) * 2.4
    glow += cv2.GaussianBlur(spots, (0, 0), 6 * size) * 1.5
    planes += light((0.90, 0.17, 105), 1.5) * glow


def _draw_birds(planes: Floats, horizon: float, rng: np.random.Generator) -> None:
    """Draw a flock far away, each a pair of bent wings."""
    _, height, width = planes.shape
    layer = np.zeros((height, width), np.uint8)
    middle = np.array([rng.uniform(0.25, 0.75) * width, rng.uniform(0.35, 0.65) * horizon])
    for _ in range(int(rng.integers(7, 14))):
        spot = middle + width * np.array([0.09, 0.045]) * rng.standard_normal(2)
        span = width * rng.uniform(0.006, 0.012)
        lift = rng.uniform(0.25, 0.6)
        wing = [(-1, -0.6 * lift), (-0.45, -lift), (0, 0), (0.45, -lift), (1, -0.6 * lift)]
        points = np.round((spot + span * np.array(wing)) * _EIGHTH).astype(np.int32)
        cv2.polylines(layer, [points], False, 255, max(1, width // 600), cv2.LINE_AA, _BITS)
    planes *= 1.0 - np.float32(0.85 / 255) * layer


def _strewn(
    planes: Floats,
    rng: np.random.Generator,
    count: int,
    draw: Callable[[Bytes, float, float, float], None],
) -> Floats:
    """Return a layer of things of random sizes, each drawn at its place."""
    _, height, width = planes.shape
    layer = np.zeros((height, width), np.uint8)
    low, high = np.array([-50.0, -80.0, 0.6]), np.array([width + 50.0, float(height), 1.35])
    for x, y, grown in rng.uniform(low, high, (count, 3)):
        draw(layer, x, y, grown)
    return layer.astype(np.float32)


def _size(planes: Floats) -> float:
    return float(max(planes.shape[1:]) / 1024)


def _point(x: float, y: float) -> tuple[int, int]:
    return round(x * _EIGHTH), round(y * _EIGHTH)
