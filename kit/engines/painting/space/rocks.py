"""Rocks: the ground of a dark moon from which a sky is looked up at."""

from __future__ import annotations

import numpy as np

from kit.engines.media.noise import line
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light


def add_rocks(rng: np.random.Generator, picture: Plane, rise: float) -> None:
    """Put a jagged ridge before the lower edge of a picture, in place.

    Parameters
    ----------
    rise : float
        How high it stands at its ends, as a share of the height; its middle is half as high.
    """
    _, height, width = picture.shape
    at = np.linspace(0.0, 1.0, width)
    rows = np.arange(height, dtype=np.float32)[:, None]
    # All that shines above lights the ground, and more the rim that it is seen behind.
    sky = 0.5 * picture.mean(axis=(1, 2), keepdims=True) + light((0.42, 0.03, 255))
    for share, tone in ((1.0, 0.62), (0.64, 0.20)):
        rough = line(rng, at, 0.16, octaves=7, gain=0.56)
        valley = 0.42 + 0.58 * (2.0 * np.abs(at - 0.5)) ** 1.4
        top = height * (1.0 - rise * share * (valley + 0.16 * rough))
        under = rows - top[None].astype(np.float32)
        rim = np.exp(-np.maximum(under, 0.0) / np.float32(0.03 * height))
        rock = sky * (np.float32(tone) * (0.35 + 0.65 * rim))
        picture += (rock - picture) * np.clip(under + 0.5, 0.0, 1.0)
