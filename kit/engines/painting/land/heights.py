"""Heights: what mountains, mesas and dunes are made of, before a camera or on a map."""

from __future__ import annotations

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane

#: Steps of mesas: how much rock there is to be where one begins, and how high it is, in meters.
_STEPS = ((0.20, 30.0), (0.34, 46.0), (0.55, 44.0))


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
