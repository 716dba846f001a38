"""Weather before the lens: rain and snow, lit by the street behind them."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.painting.noise import Plane, blur


def rain(rng: np.random.Generator, picture: Plane, amount: float) -> None:
    """Add rain: many fine streaks far away, a few long soft ones near."""
    _, height, width = picture.shape
    size = max(height, width)
    sheet = np.zeros((height, width), np.float32)
    wind = float(rng.uniform(-0.22, 0.22))
    for count, long, wide, strength, soft in (
        (900, 0.020, 1, 0.30, 0.5),
        (420, 0.045, 1, 0.45, 0.7),
        (70, 0.100, 2, 0.42, 1.6),
    ):
        layer = np.zeros((height, width), np.uint8)
        number = round(count * amount * height * width / size**2)
        x = rng.uniform(-0.1, 1.1, number) * width
        y = rng.uniform(-0.1, 1.0, number) * height
        reach = long * size * rng.uniform(0.6, 1.4, number)
        bright = rng.integers(90, 255, number)
        thick = max(1, round(wide * size / 1400))
        for at, down, run, level in zip(x, y, reach, bright, strict=True):
            ends = (
                (int(at * 16), int(down * 16)),
                (int((at + wind * run) * 16), int((down + run) * 16)),
            )
            cv2.line(layer, *ends, int(level), thick, cv2.LINE_AA, 4)
        blurred = cv2.GaussianBlur(layer, (0, 0), soft * size / 1024)
        sheet += blurred.astype(np.float32) * np.float32(strength / 255)
    _lit(picture, sheet, 0.85)


def snow(rng: np.random.Generator, picture: Plane, amount: float) -> None:
    """Add falling snow: dust far away, flakes out of focus near."""
    _, height, width = picture.shape
    size = max(height, width)
    sheet = np.zeros((height, width), np.float32)
    for count, radius, soft in ((1500, 0.9, 0.5), (420, 1.8, 0.9), (90, 4.2, 2.4)):
        layer = np.zeros((height, width), np.uint8)
        number = round(count * amount * height * width / size**2)
        x, y = rng.uniform(0, width, number), rng.uniform(0, height, number)
        reach = radius * size / 1024 * rng.uniform(0.6, 1.5, number)
        for at, down, wide, level in zip(x, y, reach, rng.integers(120, 255, number), strict=True):
            center = (int(at * 16), int(down * 16))
            cv2.circle(layer, center, max(8, int(wide * 16)), int(level), -1, cv2.LINE_AA, 4)
        blurred = cv2.GaussianBlur(layer, (0, 0), soft * size / 1024)
        sheet += blurred.astype(np.float32) * np.float32(0.75 / 255)
    _lit(picture, np.minimum(sheet, 1.0), 1.7)


def _lit(picture: Plane, sheet: Plane, strength: float) -> None:
    """Add drops by the light that stands behind and around them."""
    size = max(picture.shape[1:])
    for plane in picture:
        around = blur(np.minimum(plane, np.float32(1.6)), 0.035 * size)
        plane += sheet * (around * np.float32(strength) + np.float32(0.012))
