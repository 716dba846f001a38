"""Crests: the upper edges of ridges, each kind with its own way of rising and falling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.media.noise import line
from kit.engines.painting.poster.plane import Stage

_SADDLE, _CLEAR, _STEEP = 1.4, 0.55, 0.7  # of a ridge before a light: width, drop, slope


@dataclass(frozen=True, slots=True)
class Rise:
    """Where a ridge stands and how large it is, in pixels of the stage.

    Parameters
    ----------
    base : float
        Row of its foot.
    height : float
        From the foot to the highest peak.
    spacing : float
        About the distance between peaks.
    hero : float or None
        Column of a peak that towers over the others, if there is one.
    lone : float
        How far the others give way to it, 0 to 1.
    """

    base: float
    height: float
    spacing: float
    hero: float | None = None
    lone: float = 0.0


@dataclass(frozen=True, slots=True)
class Crest:
    """The upper edge of a ridge.

    Parameters
    ----------
    y : ndarray of float32
        Its row at every column of the stage.
    peaks : tuple
        (left foot, peak, right foot) as columns, for those peaks that are worth shading.
    """

    y: Floats
    peaks: tuple[tuple[int, int, int], ...] = ()


Kind: TypeAlias = Callable[[np.random.Generator, Stage, Rise], Crest]
_Corners: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


def mountains(rng: np.random.Generator, stage: Stage, rise: Rise) -> Crest:
    """Raise rock: uneven triangles with broken flanks."""
    at = np.arange(stage.columns, dtype=np.float64)
    xs, ys = _zigzag(rng, stage, rise)
    profile = np.interp(at, xs, ys) * _tower(rise, at, stage)
    broken = line(rng, at, rise.spacing * 0.42, octaves=6, gain=0.52, sharp=True)
    profile = profile + 0.115 * (1.0 - 0.4 * rise.lone) * broken * (0.35 + profile)
    return Crest((rise.base - rise.height * profile).astype(np.float32), _peaks(profile, xs))


def hills(rng: np.random.Generator, stage: Stage, rise: Rise) -> Crest:
    """Raise rounded hills, with a little roughness of grass and scrub."""
    at = np.arange(stage.columns, dtype=np.float64)
    swell = line(rng, at, rise.spacing, octaves=3, gain=0.38)
    rough = line(rng, at, max(4.0, rise.spacing * 0.03), octaves=2, gain=0.5)
    profile = 0.5 + 0.5 * swell + 0.006 * rough
    return Crest((rise.base - rise.height * profile).astype(np.float32))


def dunes(rng: np.random.Generator, stage: Stage, rise: Rise) -> Crest:
    """Raise dunes: a long slope to windward, a hollow one to leeward, a sharp edge between."""
    at = np.arange(stage.columns, dtype=np.float64)
    corners = [-rise.spacing * rng.uniform(0.5, 1.5)]
    while corners[-1] < stage.columns + 2 * rise.spacing:
        corners.append(corners[-1] + rise.spacing * rng.uniform(0.7, 1.5))
    profile = np.zeros_like(at)
    peaks = []
    for left, right in pairwise(corners):
        width = right - left
        peak = left + width * rng.uniform(0.52, 0.66)
        tall = rng.uniform(0.45, 1.0)
        up = np.clip((at - left + width * 0.3) / (peak - left + width * 0.3), 0, 1)
        down = np.clip((right + width * 0.25 - at) / (right + width * 0.25 - peak), 0, 1)
        one = tall * np.where(at < peak, np.sin(up * np.pi / 2) ** 1.6, down**1.7)
        profile = np.maximum(profile, one)
        peaks.append((left, peak, right))
    inside = [_columns(peak, stage) for peak in peaks if 0 < peak[1] < stage.columns - 1]
    visible = [p for p in inside if profile[p[1]] <= profile[max(0, p[1] - 2)] + 0.01]
    return Crest((rise.base - rise.height * profile).astype(np.float32), tuple(visible))


def mesas(rng: np.random.Generator, stage: Stage, rise: Rise) -> Crest:
    """Raise table mountains: flat tops, sheer walls and slopes of rubble below."""
    at = np.arange(stage.columns, dtype=np.float64)
    profile = 0.05 + 0.03 * line(rng, at, rise.spacing * 0.3, octaves=4, sharp=True)
    x = -rise.spacing * rng.uniform(0.2, 1.0)
    while x < stage.columns + rise.spacing:
        width = rise.spacing * rng.uniform(0.16, 0.85)
        profile = np.maximum(profile, _mesa(rng, at, x, width, rise))
        x += width + rise.spacing * rng.uniform(0.35, 1.1)
    if rise.hero is not None and rise.lone:  # there is one that stands alone
        width = rise.spacing * rng.uniform(0.35, 0.55)
        profile = np.maximum(profile, _mesa(rng, at, rise.hero - width / 2, width, rise))
    profile *= _tower(rise, at, stage)
    fine = 0.012 * line(rng, at, rise.spacing * 0.06, octaves=3, sharp=True)
    return Crest((rise.base - rise.height * (profile + fine)).astype(np.float32))


def islands(rng: np.random.Generator, stage: Stage, rise: Rise) -> Crest:
    """Raise islands: mountains that dip below the water between them."""
    at = np.arange(stage.columns, dtype=np.float64)
    xs, ys = _zigzag(rng, stage, rise)
    profile = np.interp(at, xs, ys)
    groups = line(rng, at, rise.spacing * 3.2, octaves=2)
    near = np.exp(-(((at - rise.hero) / (rise.spacing * 1.5)) ** 2)) if rise.hero else 0.0
    groups = 0.1 + 0.75 * groups - 0.9 * rise.lone
    profile = profile * np.clip(groups + (1.1 + 0.6 * rise.lone) * near, -0.2, 1.2)
    broken = line(rng, at, rise.spacing * 0.3, octaves=5, gain=0.5, sharp=True)
    profile = profile + 0.07 * broken * np.clip(profile + 0.1, 0, 1) - 0.10
    return Crest((rise.base - rise.height * profile).astype(np.float32), _peaks(profile, xs))


KINDS: dict[str, Kind] = {
    "mountains": mountains,
    "hills": hills,
    "dunes": dunes,
    "mesas": mesas,
    "islands": islands,
}


def parted(crest: Crest, x: float, y: float, radius: float) -> Crest:
    """Return a crest with a saddle before a light, so that it is seen.

    Parameters
    ----------
    x, y, radius : float
        Of the light's disc, in pixels of the stage.
    """
    beside = np.maximum(np.abs(np.arange(len(crest.y)) - x) - _SADDLE * radius, 0.0)
    free = y + _CLEAR * radius - _STEEP * beside
    return replace(crest, y=np.maximum(crest.y, free).astype(np.float32))


def _zigzag(rng: np.random.Generator, stage: Stage, rise: Rise) -> _Corners:
    """Return corners from foot to peak to foot, one peak exactly at the hero's column."""
    start = -2.0 * rise.spacing
    if rise.hero is not None:
        start = rise.hero - rise.spacing * (int((rise.hero + rise.spacing) / rise.spacing) + 1)
    count = int((stage.columns - start) / rise.spacing) + 3
    peaks = start + rise.spacing * (np.arange(count) + rng.uniform(-0.36, 0.36, count))
    tall = rng.uniform(0.42, 0.95, count)
    if rise.hero is not None:
        main = int(np.argmin(np.abs(start + rise.spacing * np.arange(count) - rise.hero)))
        peaks[main], tall[main] = rise.hero, 1.0
    feet = peaks[:-1] + np.diff(peaks) * rng.uniform(0.35, 0.65, count - 1)
    low = np.minimum(tall[:-1], tall[1:]) * rng.uniform(0.2, 0.78, count - 1)
    xs, ys = np.empty(2 * count - 1), np.empty(2 * count - 1)
    xs[::2], xs[1::2], ys[::2], ys[1::2] = peaks, feet, tall, low
    return xs, ys


def _tower(rise: Rise, at: NDArray[np.float64], stage: Stage) -> NDArray[np.float64]:
    if rise.hero is None:
        return np.ones_like(at)
    others = 0.52 * (1.0 - rise.lone)
    far = ((at - rise.hero) / (0.30 * stage.unit)) ** 2
    return np.asarray(others + (1.0 - others) * np.exp(-far))


def _peaks(
    profile: NDArray[np.floating], xs: NDArray[np.float64]
) -> tuple[tuple[int, int, int], ...]:
    last = len(profile) - 1
    found = []
    for left, peak, right in zip(xs[1::2], xs[2::2], xs[3::2], strict=False):
        near = max(2.0, (right - left) * 0.1)
        low, high = int(max(0, peak - near)), int(min(last, peak + near))
        if high <= low or peak < 0 or peak > last:
            continue
        top = low + int(np.argmax(profile[low : high + 1]))
        found.append((int(max(0, left)), top, int(min(last, right))))
    return tuple(found)


def _columns(peak: tuple[float, float, float], stage: Stage) -> tuple[int, int, int]:
    left, top, right = (int(np.clip(value, 0, stage.columns - 1)) for value in peak)
    return left, top, right


def _mesa(
    rng: np.random.Generator, at: NDArray[np.float64], x: float, width: float, rise: Rise
) -> NDArray[np.float64]:
    """One table mountain: flat top, wall, ledge, rubble."""
    tall = rng.uniform(0.55, 1.0)
    wall, rubble = 0.03 * rise.spacing, rng.uniform(0.12, 0.3) * rise.spacing
    ledge = rng.uniform(0.35, 0.55)
    xs = [x - rubble, x - wall, x - 0.6 * wall, x, x + width, x + width + 0.6 * wall]
    ys = [0.0, ledge * 0.9, ledge, 1.0, 1.0 - 0.02 * rng.random(), ledge]
    xs += [x + width + wall, x + width + wall + rubble]
    ys += [ledge * 0.9, 0.0]
    return np.asarray(tall * np.interp(at, xs, ys))
