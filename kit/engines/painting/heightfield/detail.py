"""Detail: what ground, trees and rock are like from near: tiles that multiply brightness.

Grain lies on the map. On walls of rock it would be drawn out to streaks: theirs is looked up by
height.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.heightfield.levels import Hits, Level
from kit.engines.painting.heightfield.relief import Terrain, doubled
from kit.engines.painting.noise import slopes, tile

_SIDE = 512  # texels of a tile
_WOODED, _WET = 49, 227  # in the fourth channel of colors: fewer trees, or less water, show ground
#: Texels to a unit of levels with grain, and how strong it is: where it ends no line must be seen.
_GRAINED = {8.0: 1.0, 4.0: 1.0, 2.0: 0.45}
#: Land -> how strongly unevenness is lit, and its color varies; tiers of branches to a tree, and
#: how much light and shade its leaves have.
_GRAINS = {
    "alps": (0.12, 0.055, 2.5, 0.14),
    "hills": (0.06, 0.04, 0.0, 0.22),
    "forest": (0.10, 0.06, 3.0, 0.14),
    "islands": (0.09, 0.055, 0.0, 0.20),
    "desert": (0.03, 0.02, 0.0, 0.0),
    "canyon": (0.09, 0.045, 0.0, 0.18),
}
#: Land with walls of rock -> how strongly they are layered, and how much broken.
_WALLS = {"canyon": (0.115, 0.035), "alps": (0.007, 0.075), "islands": (0.010, 0.065)}


def make_grain(
    terrain: Terrain, way: tuple[float, float, float], rng: np.random.Generator
) -> Callable[[Level], None]:
    """Return a function that lays grain, lit from a way, over the colors of a level, in place."""
    lit, vary, tiers, tufts = _GRAINS[terrain.kind]
    side = 2 * _SIDE
    bumps = tile(rng, cells=256 if terrain.kind == "desert" else 64, gain=0.8, side=side)
    right, down = slopes(bumps, wrap=True)
    facing = -right * np.float32(way[0]) - down * np.float32(way[1])
    soil = np.float32(lit / facing.std()) * facing + np.float32(vary) * bumps
    if terrain.kind == "desert":  # the ripples of wind in sand
        waves = np.arange(side, dtype=np.float32)[:, None] * np.float32(2 * np.pi * 88 / side)
        waves = np.sin(waves + 4 * tile(rng, cells=4, octaves=4, side=side))
        waves *= 0.65 + 0.35 * tile(rng, cells=8, octaves=3, side=side)
        soil += np.float32(math.copysign(0.055, way[1] or 1.0)) * waves
    leaves = _leaves(terrain.crowns[..., 0], tiers, tufts, rng) if tufts else np.zeros_like(soil)
    tiles = {}
    for fine, strength in _GRAINED.items():
        tiles[fine] = _bytes(np.float32(strength) * soil), _bytes(leaves)
        soil, leaves = (
            np.asarray(cv2.resize(plane, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
            for plane in (soil, leaves)
        )

    def roughen(level: Level) -> None:
        if level.scale not in tiles:
            return
        grain, leafage = (_spread(plane, level) for plane in tiles[level.scale])
        luma, marks = (cv2.extractChannel(level.plane, channel) for channel in (0, 3))
        cv2.copyTo(leafage, cv2.compare(marks, _WOODED, cv2.CMP_LT), grain)
        # Under water it would glitter, and there are ripples.
        faint = cv2.convertScaleAbs(grain, alpha=0.4, beta=128 * 0.6)
        cv2.copyTo(faint, cv2.compare(marks, _WET, cv2.CMP_GT), grain)
        cv2.insertChannel(cv2.multiply(luma, grain, scale=1 / 128), level.plane, 0)

    return roughen


def _leaves(crowns: Bytes, tiers: float, tufts: float, rng: np.random.Generator) -> Floats:
    """Return the light and shade of what trees are made of."""
    crown = doubled(doubled(crowns.astype(np.float32) * np.float32(1 / 255)))
    rough = tile(rng, cells=len(crown) // 8, octaves=4, gain=0.8, side=len(crown))
    # What grows between crowns is seldom seen by the sun.
    leaves = np.float32(tufts) * rough - np.float32(0.35) * smooth_step(0.22, 0.04, crown)
    if tiers:
        # Down from its tip every tier begins in the shade of the one above and ends in light.
        place = crown * np.float32(tiers) + np.float32(0.22) * rough
        leaves += np.float32(0.2 * tiers) * (np.float32(0.5) - place + np.floor(place))
    return np.asarray(leaves - leaves.mean(), np.float32)


def make_rock(kind: str, rng: np.random.Generator) -> Callable[[Bytes, Bytes, Hits], None]:
    """Return a function that lays layers and cracks over the colors of what is dry, in place."""
    layered, cracked = _WALLS.get(kind, (0.0, 0.0))
    line = cv2.GaussianBlur(rng.standard_normal((1, _SIDE), np.float32), (0, 0), 2.5)[0]
    place = np.arange(_SIDE)[:, None] + 3.0 * tile(rng, cells=4, octaves=5, side=_SIDE)
    layers = np.interp(place % _SIDE, np.arange(_SIDE), line / line.std())
    cracks = tile(rng, cells=32, octaves=5, gain=0.75, side=_SIDE)
    plane = np.pad(_bytes(layered * layers + cracked * cracks), 1, mode="wrap")

    def roughen(colors: Bytes, wet: Bytes, hits: Hits) -> None:
        if kind in _WALLS:
            # Half the size is enough: what is near has its grain already.
            along = (hits.x[::2, ::2] - hits.y[::2, ::2]) * np.float32(1.4)
            rough = repeat_tile(plane, along, hits.height[::2, ::2] * np.float32(3.0))
            cv2.copyTo(np.full_like(rough, 128), np.ascontiguousarray(wet[::2, ::2]), rough)
            rough = cv2.resize(rough, wet.shape[::-1], interpolation=cv2.INTER_LINEAR)
            luma = cv2.extractChannel(colors, 0)
            cv2.insertChannel(cv2.multiply(luma, rough, scale=1 / 128), colors, 0)

    return roughen


def repeat_tile(plane: Bytes | Floats, x: Floats, y: Floats) -> Any:
    """Return a tile without end at places, which are used as scratch space.

    It has a border of one texel from its other side: OpenCV's own way to repeat a picture is three
    times as slow.
    """
    side = plane.shape[0] - 2
    for axis in (x, y):
        axis -= np.float32(side) * np.floor(axis * np.float32(1 / side)) - np.float32(1)
    return cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def _spread(plane: Bytes, level: Level) -> Bytes:
    """Return a tile laid out over a level, wherever in the world that begins."""
    starts = (round(0.5 * (level.scale / 2 - 1) - offset) for offset in (level.down, level.across))
    for axis, (start, length) in enumerate(zip(starts, level.plane.shape[:2], strict=True)):
        plane = plane.take(range(start, start + length), axis=axis, mode="wrap")
    return plane


def _bytes(plane: Floats) -> Bytes:
    return np.asarray(cv2.convertScaleAbs(np.clip(1 + plane, 0.3, 1.9), alpha=128.0))
