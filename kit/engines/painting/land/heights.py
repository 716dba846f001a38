"""Heights: what mountains, mesas and dunes are made of, before a camera or on a map."""

from __future__ import annotations

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, blur, slopes, tile, warp

#: Steps of mesas: how much rock there is to be where one begins, and how high it is, in meters.
_STEPS = ((0.20, 30.0), (0.34, 46.0), (0.55, 44.0))


def gullies(rng: np.random.Generator, heights: Floats, *, cells: int, wrap: bool = False) -> Floats:
    """Return ribs, -0.5 to 0.5, that run down the slopes of heights: noise drawn out downhill.

    Source: B. Cabral, L. Leedom, "Imaging vector fields using line integral convolution" (1993).
    """
    right, down = slopes(blur(heights, 4.0, wrap=wrap), wrap=wrap)
    steep = np.sqrt(right * right + down * down) + np.float32(1e-3)
    right, down = right / steep, down / steep
    ribs = tile(rng, cells=cells, octaves=3, gain=0.6, side=len(heights))
    for reach in (2.0, 4.0, 8.0, 16.0, 24.0):
        ribs = 0.5 * (ribs + warp(ribs, right, down, reach, wrap=wrap))
    ribs = np.maximum(1.0 - np.abs(ribs) / (1.2 * ribs.std()), 0.0) - 0.5
    return np.asarray(ribs * np.minimum(steep / steep.mean(), 1.0), np.float32)


def mesas(mass: Floats, tall: float = 1.0, wall: float = 0.085) -> Floats:
    """Return tables with sheer walls over slopes of rubble where there is enough rock.

    The more `wall`, the less upright these are.
    """
    heights = np.zeros_like(mass)
    for edge, step in _STEPS:
        sheer = smooth_step(edge, edge + wall, mass)
        rubble = smooth_step(edge - 0.17, edge + 0.01, mass)
        heights += np.float32(step * tall) * (0.62 * sheer + 0.38 * rubble)
    return heights


def dune_wave(turns: Plane) -> Floats:
    """Return waves of sand, 0 to 1: each rises gently and falls off steeply behind its crest."""
    share = turns - np.floor(turns)
    lee = np.clip((1.0 - share) / 0.26, 0.0, 1.0)
    return np.asarray(np.minimum(np.clip(share / 0.74, 0.0, 1.0) ** 1.5, lee), np.float32)
