"""Currents: three rounds of noise, each bent by the one before, as in a stirred liquid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.noise import Plane, across, enlarge_middle, field, warp


@dataclass(frozen=True, slots=True, kw_only=True)
class Stirring:
    """How a liquid is stirred.

    Parameters
    ----------
    cells : float
        Whirls along the longer side.
    octaves, gain
        Of the noise: more and louder octaves are rougher.
    reach : float
        How far the currents carry, as a share of the longer side.
    zoom : float
        Of how near they are seen: 2 shows the middle half, 0.5 twice as many whirls.
    """

    cells: float
    octaves: int
    gain: float
    reach: float
    zoom: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Currents:
    """Three fields of the same liquid, each of mean about 0 and deviation about 1.

    Parameters
    ----------
    slow, middle, fast : ndarray
        After one, two and three rounds; the last is the most folded.
    drift : ndarray
        What bent the first round.
    """

    slow: Plane
    middle: Plane
    fast: Plane
    drift: Plane


def stirred(
    rng: np.random.Generator, height: int, width: int, how: Stirring, progress: Progress
) -> Currents:
    """Return the currents of a stirred liquid, each of shape (height, width).

    Source: I. Quilez, "Domain warping" (2002).
    """
    size = max(height, width)
    down, over = across(how.cells, height, width)
    far = min(1.0, how.zoom)
    cells = (round(down / far), round(over / far))

    def noise() -> Plane:
        plane = field(rng, height, width, cells=cells, octaves=how.octaves, gain=how.gain)
        return plane if how.zoom <= 1.0 else enlarge_middle(plane, how.zoom)

    one, two = noise(), noise()
    progress.report(0.3)
    slow = warp(noise(), one, two, how.reach * how.zoom * size)
    progress.report(0.55)
    middle = warp(noise(), slow, one, how.reach * how.zoom * size)
    progress.report(0.8)
    fast = warp(noise(), middle, slow, 1.25 * how.reach * how.zoom * size)
    return Currents(slow=slow, middle=middle, fast=fast, drift=one)
