"""Weather: snow, rain, fireflies and birds between the camera and the land."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief


def falling(
    planes: Floats, brief: Brief, camera: Camera, *, light_of: Look, rng: np.random.Generator
) -> None:
    """Draw what falls or flies in a brief, in place."""
    if brief.weather == "snow" and brief.falling:
        _snow(planes, light_of, rng)
    elif brief.weather == "rain" and brief.falling:
        _rain(planes, light_of, rng)
    if "fireflies" in brief.things:
        _fireflies(planes, camera, rng)
    if "birds" in brief.things:
        _birds(planes, camera, rng)


def _snow(planes: Floats, look: Look, rng: np.random.Generator) -> None:
    """Draw three layers of flakes; the nearest are large, few and out of focus."""
    _, height, width = planes.shape
    size = max(height, width) / 1024
    bright = light(look.shade, 0.55 + 0.9 * look.shade_power)
    for count, radius, soft, share in (
        (2600, 0.9, 0.6, 0.55),
        (700, 1.7, 1.0, 0.60),
        (110, 4.0, 2.6, 0.50),
    ):
        layer = np.zeros((height, width), np.uint8)
        for x, y, grown in zip(
            rng.uniform(0, width, count),
            rng.uniform(0, height, count),
            rng.uniform(0.6, 1.3, count),
            strict=True,
        ):
            center = (round(x * 8), round(y * 8))
            reach = max(4, round(radius * size * grown * 8))
            cv2.circle(layer, center, reach, 255, -1, cv2.LINE_AA, shift=3)
        cover = cv2.GaussianBlur(layer, (0, 0), soft * size).astype(np.float32) * (share / 255)
        planes += (bright - planes) * cover


def _rain(planes: Floats, look: Look, rng: np.random.Generator) -> None:
    """Draw fine slanting streaks, brighter than what is behind them."""
    _, height, width = planes.shape
    size = max(height, width) / 1024
    slant = float(rng.uniform(-0.12, 0.12))
    pale = round(255 * min(1.0, 0.25 + 0.75 * size))  # a line is never thinner than a pixel
    # Drops bend light of all directions to the eye: hardly more than a hint of a color is left.
    lightness, chroma, hue = look.shade
    bright = light((lightness, 0.25 * chroma, hue), 0.30 + 0.5 * look.shade_power)
    for count, long, share in ((1500, 26, 0.16), (420, 60, 0.15)):
        layer = np.zeros((height, width), np.uint8)
        for x, y, grown in zip(
            rng.uniform(-50, width + 50, count),
            rng.uniform(-80, height, count),
            rng.uniform(0.6, 1.4, count),
            strict=True,
        ):
            length = long * size * grown
            start = (round(x * 8), round(y * 8))
            end = (round((x + slant * length) * 8), round((y + length) * 8))
            cv2.line(layer, start, end, pale, 1, cv2.LINE_AA, shift=3)
        cover = cv2.GaussianBlur(layer, (0, 0), 0.6 * size).astype(np.float32) * (share / 255)
        planes += (bright - planes * 0.6) * cover


def _fireflies(planes: Floats, camera: Camera, rng: np.random.Generator) -> None:
    _, height, width = planes.shape
    size = max(height, width) / 1024
    layer = np.zeros((height, width), np.uint8)
    for _ in range(70):
        x, y = rng.uniform(0, width), rng.uniform(camera.horizon * 0.9, height)
        # As many lie far off as near by: some are hardly more than a point.
        reach = max(3, round(1.9 * size * rng.uniform(0.35, 1.0) ** 1.5 * 8))
        cv2.circle(layer, (round(x * 8), round(y * 8)), reach, 255, -1, cv2.LINE_AA, shift=3)
    spots = layer.astype(np.float32) / 255
    glow = cv2.GaussianBlur(spots, (0, 0), max(0.5, 0.9 * size)) * 2.4
    glow += cv2.GaussianBlur(spots, (0, 0), 6 * size) * 1.5
    planes += light((0.90, 0.17, 105), 1.5) * glow


def _birds(planes: Floats, camera: Camera, rng: np.random.Generator) -> None:
    """Draw a flock far away, each a pair of bent wings."""
    _, height, width = planes.shape
    layer = np.zeros((height, width), np.uint8)
    middle = (rng.uniform(0.25, 0.75) * width, rng.uniform(0.35, 0.65) * camera.horizon)
    for _ in range(int(rng.integers(7, 14))):
        x = middle[0] + 0.09 * width * rng.standard_normal()
        y = middle[1] + 0.045 * width * rng.standard_normal()
        span = width * rng.uniform(0.006, 0.012)
        lift = span * rng.uniform(0.25, 0.6)
        wing = [
            (x - span, y - lift * 0.6),
            (x - span * 0.45, y - lift),
            (x, y),
            (x + span * 0.45, y - lift),
            (x + span, y - lift * 0.6),
        ]
        points = np.round(np.array(wing) * 8).astype(np.int32)
        cv2.polylines(layer, [points], False, 255, max(1, width // 600), cv2.LINE_AA, shift=3)
    planes *= 1.0 - 0.85 * layer.astype(np.float32) / 255
