"""Relief: heights on a square that repeats, carved by rivers or wind, with woods and fields on it.

The square is `SIDE` units of the world wide and continues at its opposite edges, so that a flight
never comes to an end of the land. Planes are made of `GRID` texels each way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import slopes, tile, warp

SIDE, GRID = 1024, 2048
TEXEL = SIDE / GRID
CROWNS = 512  # texels after which trees repeat
#: From the number of a tree or field to a share that looks random.
SHARES: Floats = ((np.arange(256) * 151 % 256) / 255).astype(np.float32)

_COARSE = 128  # texels each way on which rivers begin
_SHORE = 1.5  # units up to which land at the water is flattened to a beach
_BANK = 7  # texels of every shore without trees: from afar they would lift the water with them
_WAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
_LENGTHS = np.array([math.hypot(*way) for way in _WAYS], np.float32)
_AREA = 0.45  # how much more a river cuts where it drains more land
_STEEP = 0.03  # rise of the first land from the sea inward, a cell
_NEXT = 0.62  # on a grid twice as fine, rivers cut by this much less
_CREEP = 0.45  # cells to which ridges are rounded in each step


@dataclass(frozen=True, slots=True)
class Terrain:
    """A square of land; planes of shape (GRID, GRID) if not said otherwise."""

    kind: str
    heights: Floats  # in units of the world, trees included; under water the bottom
    water: float | None  # height of its surface; None where there is none
    woods: Bytes  # how much of a place is under trees
    #: Shape (CROWNS, CROWNS, 2), repeating: where in its crown each place would be under trees, 0
    #: between them to 255 at their tips, and the number of the tree.
    crowns: Bytes
    fields: Bytes | None = None  # number of the field that a place belongs to

    @property
    def surface(self) -> Floats:
        """Heights of what is seen from above, land or water."""
        return self.heights if self.water is None else np.maximum(self.heights, self.water)

    def top(self, x: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Return the height of what is seen from above at places of the world."""
        column, row = (np.floor(axis / TEXEL).astype(np.int64) % GRID for axis in (x, y))
        ground = self.heights[row, column]
        return ground if self.water is None else np.maximum(ground, np.float32(self.water))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How a kind of land is raised, carved and planted; lengths are units of the world."""

    cells: int = 4  # blobs of land across the square
    sea: float  # share of it that lies below the water
    rounds: tuple[int, int, int]  # steps of the rivers on each grid, the next one twice as fine
    cut: float = 0.15  # how fast they cut
    lift: float = 1.0  # factor on what they leave, up to a plateau
    power: float = 1.0  # the more, the flatter the feet of mountains
    soft: float = 0.0  # texels to which all is rounded
    bend: float  # how far noise leads it astray
    grouped: bool = False  # some mountains are higher than others
    steps: int = 0  # terraces
    high: float
    crags: tuple[int, float, float]  # across the square, height at the water, added at a summit
    deep: float = 9.0
    fields: int = 0  # rows of them across the square
    woods: tuple[float, float]  # noise up to which no trees stand, and from which all do
    patches: int = 16  # of that noise across the square
    low: float = 0.8  # above the water, from where they grow
    line: float = 1e4  # and about up to where
    steep: tuple[float, float] = (9.0, 10.0)  # slopes from which fewer stand, and none
    trees: tuple[int, float, float]  # texels apart, height, shape: 0 is round, 1 a cone


_KINDS = {
    "alps": _Kind(
        cells=2, sea=0.28, rounds=(40, 12, 4), power=1.35, bend=16, grouped=True, high=165,
        crags=(32, 1.5, 22), woods=(-0.8, -0.2), low=1.2, line=48, steep=(0.75, 1.15),
        trees=(4, 2.4, 0.9),
    ),
    "hills": _Kind(
        sea=0.10, rounds=(30, 8, 0), cut=0.13, soft=10, bend=8, high=62, crags=(32, 2.0, 0),
        fields=28, woods=(0.75, 1.35), trees=(7, 4.2, 0.2),
    ),
    "forest": _Kind(
        sea=0.14, rounds=(34, 10, 0), soft=4, bend=8, high=92, crags=(32, 2.0, 0),
        woods=(-1.5, -1.3), trees=(6, 5.4, 0.9),
    ),
    "islands": _Kind(
        sea=0.72, rounds=(34, 10, 4), power=1.25, bend=14, high=88, crags=(32, 0.8, 24), deep=13,
        woods=(-1.4, -0.8), low=1.0, line=68, steep=(0.9, 1.3), trees=(4, 1.7, 0.1),
    ),
    "canyon": _Kind(
        sea=0.06, rounds=(40, 12, 3), cut=0.17, lift=2.1, power=0.75, bend=12, steps=4, high=96,
        crags=(32, 5.0, 0.0), woods=(0.9, 1.6), patches=64, low=1.0, steep=(0.35, 0.6),
        trees=(4, 1.1, 0.0),
    ),
}  # fmt: skip


def make_terrain(kind: str, rng: np.random.Generator, progress: Progress) -> Terrain:
    """Return land of a kind: alps, hills, forest, islands, desert or canyon."""
    if kind == "desert":
        return _dunes(rng)
    plan = _KINDS[kind]
    bulk = tile(rng, cells=plan.cells, octaves=6, side=_COARSE)
    coast = float(np.quantile(bulk, plan.sea))
    rise = 0.1 + 0.9 * smooth_step(coast - 0.1, coast + 1.6, bulk)
    shape = _full(_eroded(rise, bulk < coast, rng, progress.part(0.0, 0.5), plan))
    sea = _full(bulk < coast)
    if plan.soft:
        shape = blurred(shape, plan.soft)
    across, down = (tile(rng, cells=4, octaves=6, side=GRID) for _ in range(2))
    shape = warp(shape, across, down, plan.bend / TEXEL, wrap=True)
    # Smooth enlarging swings below the sea.
    shape = np.clip(shape * np.float32(plan.lift), 0.0, 1.0) ** np.float32(plan.power)
    if plan.grouped:
        shape *= 0.45 + 0.65 * smooth_step(-1.3, 1.5, _full(bulk))
    progress.report(0.65)
    if plan.steps:
        shape += np.float32(0.06) * tile(rng, cells=8, octaves=8, gain=0.58, side=GRID)
        level = np.clip(shape, 0.0, 1.5) * np.float32(plan.steps)
        whole = np.floor(level)
        terraces = (whole + smooth_step(0.30, 0.97, level - whole)) / np.float32(plan.steps)
        shape = np.float32(0.62) * terraces + np.float32(0.38) * shape
    height = np.float32(plan.high) * shape
    # Crests: where noise crosses zero.
    cells, low, high = plan.crags
    crests = np.abs(tile(rng, cells=cells, octaves=7, gain=0.42, side=GRID))
    crests = np.maximum(np.float32(1) - np.float32(0.8) * crests, 0) ** 2 - np.float32(0.4)
    height += crests * (np.float32(low) + np.float32(high) * shape)
    progress.report(0.75)
    heights, water = _filled(height, sea, plan.deep)
    progress.report(0.85)
    fields, borders = _fields(rng, plan.fields) if plan.fields else (None, None)
    trees, crowns = _crowns(rng, *plan.trees)
    woods = _woods(rng, plan, heights, water, crowns, borders)
    progress.report(1.0)
    heights += woods * np.tile(trees, (GRID // CROWNS, GRID // CROWNS))
    shares = np.asarray(cv2.convertScaleAbs(woods, alpha=255.0))
    return Terrain(kind, heights, water, shares, crowns, fields)


def doubled(plane: NDArray[Any]) -> Floats:
    """Return a plane that repeats at its edges with twice as many cells each way."""
    padded = np.pad(plane, 2, mode="wrap")
    large = cv2.resize(padded, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return np.ascontiguousarray(large[4:-4, 4:-4])


def blurred(plane: Floats, sigma: float) -> Floats:
    """Return a plane that repeats at its edges, blurred."""
    margin = int(3 * sigma) + 2
    blur = cv2.GaussianBlur(np.pad(plane, margin, mode="wrap"), (0, 0), sigma)
    return np.ascontiguousarray(blur[margin:-margin, margin:-margin])


def _full(plane: NDArray[Any]) -> Floats:
    plane = plane.astype(np.float32)
    while plane.shape[0] < GRID:
        plane = doubled(plane)
    return np.asarray(plane)


def _filled(height: Floats, sea: Floats, deep: float) -> tuple[Floats, float]:
    """Lower the sea's bottom and flatten the shores; return heights from 0 up, and the water's."""
    wide = blurred(sea, 14.0)
    height = height + np.float32(7.0) * (np.float32(0.42) - wide)
    height -= np.float32(deep) * smooth_step(0.5, 1.0, wide)
    dry = np.maximum(height, np.float32(0.0))
    height = np.where(height > 0, dry * dry / (dry + np.float32(_SHORE)), height)
    low = float(height.min())
    return np.asarray(height - np.float32(low), np.float32), -low


def _dunes(rng: np.random.Generator) -> Terrain:
    along = np.arange(GRID, dtype=np.float32)[:, None] * np.float32(2 * np.pi / GRID)
    bend = tile(rng, cells=4, octaves=4, gain=0.40, side=GRID)
    size = smooth_step(-1.4, 1.2, tile(rng, cells=4, octaves=3, side=GRID))
    height = np.float32(0.55) * size
    for waves, weight in ((8, 1.0), (19, 0.26)):
        phase = along * np.float32(waves) + bend * np.float32(1.5 + waves * 0.17)
        share = phase % np.float32(2 * np.pi) / np.float32(2 * np.pi)
        # A long windward side that swells, and a short steep one behind the crest.
        side = np.minimum(share / np.float32(0.74), (1 - share) / np.float32(0.26))
        size = np.roll(size, waves * 40, axis=1)
        height += np.float32(weight) * side ** np.float32(1.3) * (0.3 + 0.9 * size)
    height = blurred(height, 2.0)
    height = (height - height.min()) * np.float32(46.0 / float(np.ptp(height)))
    bare = np.zeros((GRID, GRID), np.uint8)
    return Terrain("desert", height, None, bare, np.zeros((CROWNS, CROWNS, 2), np.uint8))


def _eroded(
    rise: Floats, sea: NDArray[np.bool_], rng: np.random.Generator, progress: Progress, plan: _Kind
) -> Floats:
    """Return land that rose while rivers cut into it: 0 in the sea, 1 at the highest summit.

    Source: J. Braun and S. Willett, "A very efficient O(n), implicit and parallel method to solve
    the stream power equation" (2013), the implicit step.
    """
    margin = _COARSE // 2
    land = np.pad((~sea).astype(np.uint8), margin, mode="wrap")
    # At first it rises from every coast inward, so that no place is without a way to the sea.
    heights = cv2.distanceTransform(land, cv2.DIST_L2, 5)[margin:-margin, margin:-margin]
    heights = np.float32(_STEEP) * (heights + np.float32(0.3) * rng.random(rise.shape, np.float32))
    total, done, cut = sum(4**n * count for n, count in enumerate(plan.rounds)), 0, plan.cut
    for number, count in enumerate(plan.rounds):
        if number:
            heights, rise = doubled(heights), doubled(rise)
            sea = doubled(sea.astype(np.float32)) > 0.5
            # Side valleys start from noise that is too weak to dam up a river.
            noise = rng.standard_normal(heights.shape, np.float32)
            heights += np.float32(0.3) * np.hypot(*slopes(heights, wrap=True)) * noise
            cut *= _NEXT
        heights[sea] = 0.0
        for _ in range(count):
            heights = blurred(_worn(heights, rise, sea, cut), _CREEP)
            done += 4**number
            progress.report(done / total)
    return np.asarray(heights / heights.max(), np.float32)


def _worn(heights: Floats, rise: Floats, sea: NDArray[np.bool_], cut: float) -> Floats:
    """Let land rise, and each place be cut toward the one that it drains to.

    Along the tree of rivers, sums and heights are passed on by pointer jumping, which doubles the
    distance with every step.
    """
    next_, length, ends = _drains(heights, sea)
    count = len(next_)
    # What has arrived is passed on to a place that does not count.
    place = np.append(np.where(ends, count, next_), count)
    area = np.append(np.ones(count), 0.0)
    while place.min() < count:
        area += np.bincount(place, area, minlength=count + 1)
        area[count] = 0.0
        place = place[place]
    power = np.float32(cut) * area[:count].astype(np.float32) ** np.float32(_AREA) / length
    start = heights.ravel()
    share = np.where(ends, np.float32(0), power / (1 + power))
    rest = np.where(ends, start, (start + rise.ravel()) / (1 + power))
    # A height is `rest` and a share of the height below: both are put in until no share is left.
    while share.max() > 1e-5:
        rest = rest + share * rest[next_]
        share = share * share[next_]
        next_ = next_[next_]
    return np.asarray(rest.reshape(heights.shape), np.float32)


def _drains(
    heights: Floats, sea: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Floats, NDArray[np.bool_]]:
    """Return the steepest neighbor of each place, how far it is, and where there is none."""
    side = heights.shape[0]
    padded = np.pad(heights, 1, mode="wrap")
    steepest, way = np.zeros_like(heights), np.full(heights.shape, -1, np.int8)
    for number, (down, right) in enumerate(_WAYS):
        fall = heights - padded[1 + down : 1 + down + side, 1 + right : 1 + right + side]
        fall *= np.float32(1 / _LENGTHS[number])
        better = fall > steepest
        np.copyto(steepest, fall, where=better)
        way[better] = number
    way[sea] = -1
    downs, rights = (np.array([step[axis] for step in _WAYS] + [0]) for axis in (0, 1))
    grid = np.arange(side)
    place = (grid[:, None] + downs[way]) % side * side + (grid[None] + rights[way]) % side
    lengths = np.append(_LENGTHS, np.float32(1))[way]
    return place.ravel().astype(np.intp), lengths.ravel(), (way < 0).ravel()


def _fields(rng: np.random.Generator, count: int) -> tuple[Bytes, Floats]:
    """Return the number of each place's field, and 1 at the border of fields, else 0."""
    place = np.arange(GRID, dtype=np.float32) * np.float32(count / GRID)
    x, y = (np.float32(0.35) * tile(rng, cells=8, octaves=4, side=GRID) for _ in range(2))
    y += place[:, None]
    row = np.floor(y)
    y -= row
    which = row.astype(np.int32) % count
    # Each row is as long as half as many fields, and begins elsewhere.
    x += place
    x *= np.float32(0.5)
    x += rng.random(count, np.float32)[which]
    column = np.floor(x)
    x -= column
    numbers = rng.integers(0, 256, (count, count // 2), np.uint8)
    number = numbers[which, column.astype(np.int32) % (count // 2)]
    inside = np.minimum(2 * np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    return number, np.asarray(inside < np.float32(0.035), np.float32)


def _crowns(
    rng: np.random.Generator, cell: int, tall: float, pointed: float
) -> tuple[Floats, Bytes]:
    """Return trees side by side, one in each cell of a shaken grid: heights, `Terrain.crowns`."""
    count = CROWNS // cell
    seeds = np.zeros((CROWNS, CROWNS), np.float32)
    corner = np.arange(count) * (CROWNS / count)
    x = (corner[None] + rng.uniform(0, cell, (count, count))).astype(int) % CROWNS
    y = (corner[:, None] + rng.uniform(0, cell, (count, count))).astype(int) % CROWNS
    seeds[y, x] = rng.uniform(0.45, 1.0, (count, count))
    grown, own = np.zeros_like(seeds), np.zeros_like(seeds)
    reach = 0.78 * cell
    for step in range(round(reach) + 1):
        ring = cv2.dilate(np.pad(seeds, cell, mode="wrap"), _disc(step))[cell:-cell, cell:-cell]
        share = min(1.0, step / reach)
        cone, round_ = (1.0 - share) ** 1.4, (1.0 - share * share) ** 0.5
        raised = ring * np.float32(tall * (round_ + (cone - round_) * pointed))
        # The height that a tree was given tells it from its neighbors.
        np.copyto(own, ring, where=raised > grown)
        np.maximum(grown, raised, out=grown)
    soft = blurred(grown, 0.6)
    share = np.clip(soft / np.maximum(own * np.float32(tall), 0.1), 0.0, 1.0) * (own > 0)
    numbers = (own * np.float32(9973.0)).astype(np.int32) & 255
    crowns = cv2.merge([cv2.convertScaleAbs(share, alpha=255.0), numbers.astype(np.uint8)])
    return soft, np.asarray(crowns)


def _woods(
    rng: np.random.Generator,
    plan: _Kind,
    heights: Floats,
    water: float,
    crowns: Bytes,
    borders: Floats | None,
) -> Floats:
    """Return how much of a place is under trees, 0 to 1; they stand or fall crown by crown."""
    patches = tile(rng, cells=plan.patches, octaves=7, gain=0.6, side=GRID)
    above = heights - np.float32(water)
    share = smooth_step(*plan.woods, patches)
    if borders is not None:
        share += np.float32(2.2) * blurred(borders, 2.0) * smooth_step(0.0, 0.8, patches)
    share *= smooth_step(plan.low, plan.low + 1.5, above)
    if plan.line < 1e3:
        share *= smooth_step(0.0, 12.0, np.float32(plan.line) + np.float32(9) * patches - above)
    if plan.steep[0] < 9:
        small = cv2.resize(heights, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        share *= 1.0 - smooth_step(*plan.steep, doubled(np.hypot(*slopes(small, wrap=True))))
    # Where every tree stands none is spared, and where none does none is left.
    least = np.float32(0.06) + np.float32(0.88) * SHARES[crowns[..., 1]]
    stands = (share > np.tile(least, (GRID // CROWNS, GRID // CROWNS))).astype(np.uint8)
    # Slivers of crowns do not stand.
    stands = cv2.morphologyEx(stands, cv2.MORPH_OPEN, _disc(plan.trees[0] // 3))
    bank = cv2.dilate((heights < water).astype(np.uint8), np.ones((2 * _BANK + 1, 2 * _BANK + 1)))
    stands[bank > 0] = 0
    return blurred(stands.astype(np.float32), 0.8)


def _disc(radius: int) -> Bytes:
    size = (2 * radius + 1, 2 * radius + 1)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, size), np.uint8)
