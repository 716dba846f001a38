"""Rubble: stones and cacti, what a dry plain is strewn with."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.sprites import Sprite, sprite
from kit.engines.painting.noise import Plane, tile

_OVER = 2  # supersampling
_SHADOW = 0.22  # brightness of what lies in a stone's shadow


def stone(rng: np.random.Generator, *, tall: int = 96) -> Sprite:
    """Return a boulder: flat faces lit from the left and above, with its shadow on the ground."""
    high, wide = tall * _OVER, int(tall * _OVER * rng.uniform(2.0, 2.5))
    y, x = np.indices((high, wide), np.float32)
    right = (x / high - 0.5 * wide / high) * 2
    up = 1.0 - y / high
    rough = cv2.resize(tile(rng, cells=8, octaves=5, gain=0.6, side=128), (wide, high))
    inside = np.full((high, wide), 1.0, np.float32)
    shade = np.full((high, wide), 0.62, np.float32)
    for angle in np.linspace(-0.1, np.pi + 0.1, 8) + rng.uniform(-0.22, 0.22, 8):
        way = (float(np.cos(angle)), float(np.sin(angle)))
        reach = rng.uniform(0.66, 0.90) * (1.0 - 0.34 * abs(way[1]))
        room = np.asarray(reach - (right * way[0] + (up - 0.06) * way[1]), np.float32)
        facing = 0.55 - 0.45 * way[0] + 0.50 * max(way[1], -0.1)
        # A face is what lies nearest to its own side.
        shade = np.where(room < inside, np.float32(facing), shade)
        inside = np.minimum(inside, room)
    cover = smooth_step(0.0, 0.02, inside + 0.02 * rough) * smooth_step(0.02, 0.10, up)
    bright = shade * (1.0 + 0.20 * rough) * (0.55 + 0.45 * smooth_step(0.0, 0.5, up))
    fallen = 1.0 - np.hypot((right - 0.32) / 0.95, (up - 0.08) / 0.13)
    soft = 0.75 * smooth_step(0.0, 0.6, fallen)
    both = np.maximum(cover, soft * (1.0 - cover))
    bright = np.where(cover > 0.5, bright, np.float32(_SHADOW))
    return sprite(both, np.asarray(bright, np.float32), tall)


def cactus(rng: np.random.Generator, *, tall: int = 224) -> Sprite:
    """Return a saguaro: a ribbed column with one to three arms that bend upward."""
    high, wide = tall * _OVER, int(tall * _OVER * 0.72)
    cover = np.zeros((high, wide), np.uint8)
    shade = np.zeros((high, wide), np.float32)
    thick = high * rng.uniform(0.085, 0.105)
    middle = 0.5 * wide
    _limb(cover, shade, [(middle, high * 1.02), (middle, 0.02 * high + thick / 2)], thick)
    sides = rng.permutation([-1.0, 1.0, rng.choice([-1.0, 1.0])])[: int(rng.integers(1, 4))]
    for side in sides:
        foot = high * rng.uniform(0.48, 0.68)
        out = middle + side * high * rng.uniform(0.15, 0.20)
        top = foot - high * rng.uniform(0.20, 0.38)
        elbow = [(middle, foot), (out - side * 0.35 * thick, foot), (out, foot - 0.4 * thick)]
        _limb(cover, shade, [*elbow, (out, top)], thick * rng.uniform(0.62, 0.78))
    return sprite(cover.astype(np.float32) / 255, shade, tall)


def _limb(cover: Bytes, shade: Plane, way: list[tuple[float, float]], thick: float) -> None:
    """Draw a limb around a line: round, ribbed, lit from the left."""
    points = np.round(np.array(way) * 8).astype(np.int32)[None]
    ribs = 9
    for number in range(ribs):  # strokes ever thinner and further to the light's side
        share = number / (ribs - 1)
        width = max(1, round(thick * (1.0 - 0.86 * share)))
        shift = np.array([round(-0.30 * thick * share * 8), 0])
        tone = 0.30 + 0.95 * share - 0.16 * (number % 2)
        cv2.polylines(shade, points + shift, False, float(tone), width, cv2.LINE_AA, shift=3)
    cv2.polylines(cover, list(points), False, 255, max(1, round(thick)), cv2.LINE_AA, shift=3)
