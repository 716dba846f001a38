"""Relief: how each kind of land is raised, carved by rivers or wind, and planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.heightfield.erosion import blurred, carved
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Land, bent, doubled, noise, ridged
from kit.engines.painting.heightfield.woods import crowns, grove, planted, plots

_COARSE = 128
_SHORE = 1.5  # units up to which land at the water is flattened to a beach


def land(kind: str, rng: np.random.Generator, progress: Progress) -> Land:
    """Return land of a kind: alps, hills, forest, islands, desert or canyon."""
    made = _KINDS[kind](rng, progress)
    progress.report(1.0)
    return made


@dataclass(frozen=True, slots=True)
class _Massif:
    """How rock is raised above water, with woods at its feet.

    Parameters
    ----------
    cells : int
        Blobs of land across the square.
    sea : float
        Share of the square that lies below the water.
    finest : int
        Steps of the rivers on the finest grid.
    power, bend : float
        The more, the flatter the feet of mountains; how far they are led astray.
    grouped : bool
        Some of the mountains are higher than others.
    high : float
        Of the highest summit, in units of the world.
    ridges : int
        Crags across the square.
    crags : tuple of float
        Their height at the water and what is added to it at a summit.
    deep : float
        Depth of the water.
    grown : tuple of float
        How willingly trees grow, and from which height up to which above the water.
    steep : tuple of float
        Slopes from which fewer trees stand, and none.
    trees : tuple
        Texels from one to the next, height, how pointed they are.
    """

    cells: int
    sea: float
    power: float
    bend: float
    high: float
    ridges: int
    crags: tuple[float, float]
    grown: tuple[float, float, float]
    steep: tuple[float, float]
    trees: tuple[int, float, float]
    rounds: tuple[int, int, int]
    grouped: bool = False
    deep: float = 9.0


_MASSIFS = {
    "alps": _Massif(
        cells=3,
        sea=0.26,
        rounds=(40, 12, 4),
        power=1.35,
        bend=16.0,
        grouped=True,
        high=172.0,
        ridges=22,
        crags=(1.5, 44.0),
        grown=(0.3, 1.2, 46.0),
        steep=(0.75, 1.15),
        trees=(4, 2.4, 0.9),
    ),
    "islands": _Massif(
        cells=5,
        sea=0.72,
        rounds=(34, 10, 4),
        power=1.25,
        bend=14.0,
        high=88.0,
        ridges=26,
        crags=(0.8, 24.0),
        deep=13.0,
        grown=(0.9, 1.0, 60.0),
        steep=(0.9, 1.3),
        trees=(4, 1.7, 0.1),
    ),
}


def _massif(kind: str, rng: np.random.Generator, progress: Progress) -> Land:
    plan = _MASSIFS[kind]
    bulk = _bulk(rng, plan.cells)
    digging = progress.part(0.0, 0.5)
    shape, sea = _rivers(rng, digging, bulk, plan.sea, rounds=plan.rounds, cut=0.15)
    # Feet of mountains are flat where rocks come to rest, and summits steep.
    height = shape ** np.float32(plan.power)
    if plan.grouped:  # what rivers leave is as high everywhere: mountains stand in groups
        height *= 0.45 + 0.65 * smooth_step(-1.3, 1.5, _full(bulk))
    height = bent(height, rng, plan.bend)
    progress.report(0.65)
    crags = ridged(rng, plan.ridges, 7, GRID) - np.float32(0.4)
    height = plan.high * height + crags * (plan.crags[0] + plan.crags[1] * height)
    progress.report(0.75)
    heights, water = _filled(height, sea, deep=plan.deep)
    progress.report(0.86)
    willing, low, line = plan.grown
    above = heights - np.float32(water)
    woods = _wooded(above, willing + noise(rng, 20, 7, 0.62, GRID), low, line)
    woods *= 1.0 - smooth_step(*plan.steep, _steep(heights))
    progress.report(0.94)
    cell, tall, pointed = plan.trees
    return planted(kind, heights, water, woods, crowns(rng, cell, tall, pointed=pointed))


def _hills(rng: np.random.Generator, progress: Progress) -> Land:
    bulk = _bulk(rng, 4)
    shape, sea = _rivers(rng, progress.part(0.0, 0.5), bulk, 0.10, rounds=(30, 8, 0), cut=0.13)
    soft = bent(blurred(shape, 10.0), rng, 8.0)
    height = 62.0 * soft + 1.2 * noise(rng, 24, 3, side=GRID)
    progress.report(0.75)
    heights, water = _filled(height, sea)
    progress.report(0.86)
    fields, border = plots(rng, 26)
    patches = noise(rng, 20, 4, 0.55, GRID)
    share = smooth_step(0.75, 1.35, patches)
    share += 2.2 * blurred(border, 2.0) * smooth_step(0.0, 0.8, patches)
    tall, looks = crowns(rng, 7, 4.2, pointed=0.2)
    # No two woods are of one age.
    tall = tall * np.clip(0.85 + 0.25 * noise(rng, 96, 2, side=GRID), 0.5, 1.3)
    tall, woods = grove(share * smooth_step(water + 0.8, water + 2.0, heights), tall, looks)
    progress.report(0.94)
    return planted("hills", heights, water, woods, (tall, looks), fields)


def _forest(rng: np.random.Generator, progress: Progress) -> Land:
    bulk = _bulk(rng, 4)
    shape, sea = _rivers(rng, progress.part(0.0, 0.5), bulk, 0.14, rounds=(34, 10, 0), cut=0.15)
    height = 92.0 * bent(blurred(shape, 4.0), rng, 8.0) + 1.0 * noise(rng, 32, 4, side=GRID)
    progress.report(0.75)
    heights, water = _filled(height, sea)
    progress.report(0.86)
    above = heights - np.float32(water)
    woods = smooth_step(0.8, 2.6, above) * smooth_step(-1.5, -1.3, noise(rng, 14, 8, 0.6, GRID))
    progress.report(0.94)
    return planted("forest", heights, water, woods, crowns(rng, 6, 5.4, pointed=0.9))


def _desert(rng: np.random.Generator, progress: Progress) -> Land:
    along = np.arange(GRID, dtype=np.float32)[:, None] * np.float32(2 * np.pi / GRID)
    bend = noise(rng, 3, 5, 0.42, GRID)
    size = smooth_step(-1.4, 1.2, noise(rng, 4, 3, side=GRID))
    dunes = np.zeros((GRID, GRID), np.float32)
    for waves, weight in ((8, 1.0), (19, 0.26)):
        phase = (along * waves + bend * (1.5 + waves * 0.17)) % np.float32(2 * np.pi)
        share = phase / np.float32(2 * np.pi)
        # A long windward side that swells, and a short steep one behind the crest.
        side = np.where(share < 0.74, share / 0.74, (1 - share) / 0.26)
        dunes += np.float32(weight) * side**1.3 * (0.3 + 0.9 * np.roll(size, waves * 40, axis=1))
        progress.report(0.4 + waves / 60)
    height = blurred(np.asarray(dunes), 2.0) + np.float32(0.55) * size
    low, high = float(height.min()), float(height.max())
    heights = np.asarray((height - low) * np.float32(46.0 / (high - low)), np.float32)
    bare = np.zeros((GRID, GRID), np.uint8)
    return Land("desert", heights, None, bare, np.zeros((1, 1, 2), np.uint8))


def _canyon(rng: np.random.Generator, progress: Progress) -> Land:
    bulk = _bulk(rng, 3)
    shape, sea = _rivers(rng, progress.part(0.0, 0.5), bulk, 0.06, rounds=(40, 12, 3), cut=0.17)
    plateau = np.clip(bent(shape, rng, 12.0) * np.float32(2.1), 0.0, 1.0) ** np.float32(0.75)
    plateau += np.float32(0.06) * noise(rng, 8, 8, 0.58, GRID)
    steps = np.float32(4.0)
    level = np.clip(plateau, 0.0, 1.5) * steps
    whole = np.floor(level)
    terraces = (whole + smooth_step(0.30, 0.97, level - whole)) / steps
    height = 96.0 * (0.62 * terraces + 0.38 * plateau)
    height += np.float32(5.0) * (ridged(rng, 36, 7, GRID) - np.float32(0.4))
    progress.report(0.75)
    heights, water = _filled(height, sea)
    progress.report(0.86)
    above = heights - np.float32(water)
    woods = smooth_step(0.9, 1.6, noise(rng, 60, 4, 0.7, GRID)) * smooth_step(1.0, 2.5, above)
    woods *= 1.0 - smooth_step(0.35, 0.6, _steep(heights))
    progress.report(0.94)
    return planted("canyon", heights, water, woods, crowns(rng, 4, 1.1, pointed=0.0))


_KINDS: dict[str, Callable[[np.random.Generator, Progress], Land]] = {
    "alps": partial(_massif, "alps"),
    "hills": _hills,
    "forest": _forest,
    "islands": partial(_massif, "islands"),
    "desert": _desert,
    "canyon": _canyon,
}


def _bulk(rng: np.random.Generator, cells: int) -> Floats:
    return np.asarray(noise(rng, cells, 6, side=_COARSE))


def _rivers(
    rng: np.random.Generator,
    progress: Progress,
    bulk: Floats,
    wet: float,
    *,
    rounds: tuple[int, ...],
    cut: float,
) -> tuple[Floats, Floats]:
    """Return what rivers make of a bulk, 0 to 1, and where the sea is; shape (GRID, GRID).

    Parameters
    ----------
    wet : float
        Share of the square that lies below the sea.
    """
    coast = float(np.quantile(bulk, wet))
    sea = bulk < coast
    rise = np.asarray(0.1 + 0.9 * smooth_step(coast - 0.1, coast + 1.6, bulk), np.float32)
    shape = _full(carved(rise, sea, rng, progress, rounds=rounds, cut=cut))
    # Smooth enlarging swings below the sea.
    return np.maximum(shape, np.float32(0.0)), _full(sea.astype(np.float32))


def _full(plane: Floats) -> Floats:
    while plane.shape[0] < GRID:
        plane = doubled(plane)
    return plane


def _filled(height: Floats, sea: Floats, deep: float = 9.0) -> tuple[Floats, float]:
    """Lower the sea's bottom and flatten the shores; return heights from 0 up, and the water's."""
    wide = blurred(sea, 14.0)
    height = height + np.float32(7.0) * (np.float32(0.42) - wide)
    height -= np.float32(deep) * smooth_step(0.5, 1.0, wide)
    dry = np.maximum(height, np.float32(0.0))
    height = np.where(height > 0, dry * dry / (dry + np.float32(_SHORE)), height)
    low = float(height.min())
    return np.asarray(height - np.float32(low), np.float32), -low


def _wooded(above: Floats, patches: Floats, low: float, high: float) -> Floats:
    """Return where trees stand between the water and the tree line, in patches."""
    line = np.float32(high) + np.float32(9.0) * patches
    return np.asarray(
        smooth_step(low, low + 1.5, above)
        * smooth_step(0.0, 12.0, line - above)
        * smooth_step(-0.5, 0.1, patches)
    )


def _steep(heights: Floats) -> Floats:
    """Return how steeply places rise or fall, as a tangent, over a few units."""
    small = cv2.resize(heights, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    padded = np.pad(small, 2, mode="wrap")
    scale = 1 / (32 * 2 * TEXEL)
    x, y = (
        cv2.Scharr(padded, cv2.CV_32F, right, 1 - right, scale=scale)[2:-2, 2:-2]
        for right in (1, 0)
    )
    tangent: NDArray[np.float32] = np.hypot(x, y)
    return np.asarray(cv2.resize(tangent, (GRID, GRID), interpolation=cv2.INTER_LINEAR))
