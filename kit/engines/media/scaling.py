"""Scaling of pictures and planes, and wide blurs at reduced size."""

from __future__ import annotations

from typing import Any

import cv2

_MAX_FULL_SIGMA = 2.0  # deviation in pixels up to which a blur is computed at full size


def resize(pixels: Any, width: int, height: int) -> Any:
    """Return a picture or plane in another size: area averages to shrink, smooth to enlarge."""
    smaller = width * height < pixels.shape[1] * pixels.shape[0]
    way = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    # Halving takes a tenth of the time of other scales, and is an exact mean.
    while pixels.shape[1] >= 2 * width and pixels.shape[0] >= 2 * height:
        half, way = (pixels.shape[1] // 2, pixels.shape[0] // 2), cv2.INTER_LINEAR
        even = pixels[: 2 * half[1], : 2 * half[0]]
        pixels = cv2.resize(even, half, interpolation=cv2.INTER_AREA)
    if (pixels.shape[1], pixels.shape[0]) == (width, height):
        return pixels
    return cv2.resize(pixels, (width, height), interpolation=way)


def fit_size(shape: tuple[int, ...], side: float, least: int = 1) -> tuple[int, int]:
    """Return the width and height of a picture scaled down so that no side exceeds `side`."""
    share = min(1.0, side / max(shape[:2]))
    return max(least, round(shape[1] * share)), max(least, round(shape[0] * share))


def blur(pixels: Any, sigma: float) -> Any:
    """Return a picture or plane after a Gaussian blur with a deviation in pixels."""
    if sigma <= _MAX_FULL_SIGMA or min(pixels.shape[:2]) < 2:
        return cv2.GaussianBlur(pixels, (0, 0), sigma)
    height, width = pixels.shape[:2]
    half = cv2.resize(pixels, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    return cv2.resize(blur(half, (sigma**2 - 1) ** 0.5 / 2), (width, height))
