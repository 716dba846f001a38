"""Plants: spruces, round trees and grass, drawn as polygons at twice their size."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.painting.land.sprites import Sprite, sprite

_TALL = 288  # pixels of the largest level
_OVER = 2  # supersampling


def conifer(rng: np.random.Generator, *, tall: int = _TALL) -> Sprite:
    """Return a spruce: whorls of drooping boughs, ragged, with gaps to the sky."""
    high = tall * _OVER
    wide = int(high * 0.46)
    slim = rng.uniform(0.75, 1.15)
    cover = np.zeros((high, wide), np.uint8)
    shade = np.full((high, wide), 60, np.uint8)
    middle = wide / 2
    lean = float(rng.uniform(-0.012, 0.012)) * high
    corners = [[middle - 0.012 * high, high], [middle + lean, 0], [middle + 0.012 * high, high]]
    cv2.fillPoly(cover, [np.round(corners).astype(np.int32)], 255)
    count = int(rng.integers(30, 38))
    for number in range(count):
        share = max(0.0, (number + rng.uniform(-0.3, 0.3)) / count)
        root = (middle + lean * (1 - share), high * (0.012 + 0.91 * share))
        reach = high * (0.010 + 0.185 * slim * share**0.85)
        for side in rng.permutation([-1.0, 1.0, -0.45, 0.45]):
            _bough(rng, cover, shade, root, reach * float(side), share)
    return sprite(cover.astype(np.float32) / 255, shade.astype(np.float32) / 150, tall)


def tuft(rng: np.random.Generator, *, tall: int = 96) -> Sprite:
    """Return a tuft of grass: thin blades that bend outward, pale at their tips."""
    high, wide = tall * _OVER, int(tall * _OVER * 1.5)
    cover = np.zeros((high, wide), np.uint8)
    shade = np.full((high, wide), 60, np.uint8)
    along = np.linspace(0.0, 1.0, 9)
    for _ in range(46):
        foot = wide * (0.5 + 0.20 * rng.standard_normal())
        length = high * rng.uniform(0.35, 0.97)
        bend = wide * 0.20 * rng.standard_normal()
        x = foot + bend * along**2
        sunk = high * (0.10 * ((foot / wide - 0.5) / 0.5) ** 2 - 0.02 * rng.random())
        y = high - 0.02 * high - sunk - length * along * (1 - 0.12 * along * abs(bend) / wide * 4)
        thick = 0.011 * high * (1 - 0.92 * along)
        outline = np.concatenate([np.stack([x - thick, y], 1), np.stack([x + thick, y], 1)[::-1]])
        points = [np.round(outline).astype(np.int32)]
        cv2.fillPoly(cover, points, 255)
        cv2.fillPoly(shade, points, float(np.clip(120 + 40 * rng.standard_normal(), 40, 240)))
    rise = np.linspace(1.25, 0.45, high, dtype=np.float32)[:, None]
    return sprite(cover.astype(np.float32) / 255, shade.astype(np.float32) / 130 * rise, tall)


def _bough(
    rng: np.random.Generator,
    cover: Bytes,
    shade: Bytes,
    root: tuple[float, float],
    reach: float,
    share: float,
) -> None:
    """Draw a drooping fan of needles from the trunk outward, lit on its upper edge."""
    x, y = root
    reach *= rng.uniform(0.55, 1.15)
    droop = rng.uniform(0.22, 0.55)
    along = np.linspace(0.0, 1.0, 9)
    length = abs(reach)
    upper_y = y + length * droop * along**1.5 - 0.07 * length * np.sin(np.pi * along)
    thick = length * (0.32 * (1 - along) ** 0.8 + 0.05) * rng.uniform(0.1, 1.35, 9)
    upper = np.stack([x + reach * along, upper_y], axis=1)
    lower = np.stack([x + reach * along * 0.98, upper_y + thick], axis=1)
    outline = np.round(np.concatenate([upper, lower[::-1]])).astype(np.int32)
    cv2.fillPoly(cover, [outline], 255)
    tone = 84 - 36 * np.sign(reach) * min(1.0, length / (0.03 * cover.shape[0]))
    tone = float(np.clip((tone + rng.normal(0, 14)) * (1.08 - 0.36 * share), 18, 170))
    cv2.fillPoly(shade, [outline], tone)
    cv2.polylines(shade, [np.round(upper).astype(np.int32)], False, tone * 1.5, 2)


def broadleaf(rng: np.random.Generator, *, tall: int = 224) -> Sprite:
    """Return a round tree: a trunk, and a crown of leaf clusters lit from the left and above."""
    high = tall * _OVER
    wide = int(high * rng.uniform(0.85, 1.0))
    cover = np.zeros((high, wide), np.uint8)
    shade = np.full((high, wide), 40, np.uint8)
    middle = wide / 2
    corners = [[middle - 0.035 * high, high], [middle - 0.015 * high, 0.45 * high]]
    corners += [[middle + 0.015 * high, 0.45 * high], [middle + 0.035 * high, high]]
    cv2.fillPoly(cover, [np.round(corners).astype(np.int32)], 255)
    lobes = _lobes(rng, high, wide)
    for x, y, reach in lobes:
        for _ in range(60):
            angle, away = rng.uniform(0, 2 * np.pi), reach * rng.uniform(0, 1) ** 0.5
            spot = (x + away * np.cos(angle), y + 0.85 * away * np.sin(angle))
            lit = 0.62 - 0.34 * (spot[0] - x) / reach - 0.42 * (spot[1] - y) / reach
            lit *= 1.12 - 0.75 * spot[1] / high
            tone = float(np.clip(150 * lit + 16 * rng.standard_normal(), 22, 235))
            size = max(2, round(high * rng.uniform(0.008, 0.022)))
            center = (round(spot[0]), round(spot[1]))
            cv2.circle(cover, center, size, 255, -1)
            cv2.circle(shade, center, size, tone, -1)
    return sprite(cover.astype(np.float32) / 255, shade.astype(np.float32) / 120, tall)


def _lobes(rng: np.random.Generator, high: int, wide: int) -> list[tuple[float, float, float]]:
    """Return the clusters of a crown from the back and below to the front and above."""
    lobes = []
    for _ in range(17):
        y = rng.uniform(0.14, 0.66)
        half = 0.36 * np.sin(np.pi * (y + 0.10) / 0.95) ** 0.7
        x = 0.5 + half * rng.uniform(-1, 1)
        lobes.append((x * wide, y * high, rng.uniform(0.10, 0.17) * high))
    return sorted(lobes, key=lambda lobe: -lobe[1])
