"""Terrain: a square of land that repeats for ever, and its colors, lit once for a whole flight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import YUV, Bytes, Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.ground import (
    CLIFF,
    FOLIAGE,
    GROUNDS,
    ROCK,
    SAND,
    Ground,
    albedo_of,
    grain,
    illuminate,
    mixed_to,
)
from kit.engines.painting.land.heights import dune_wave, gullies, mesas
from kit.engines.painting.land.landscape import SPAN, Direction, relief_of
from kit.engines.painting.land.water import colors_of
from kit.engines.painting.looks import HourLook
from kit.engines.painting.noise import SIDE, blur, eroded, ridged, slopes, stretched, tile, warp
from kit.engines.painting.tints import of_land, turned
from kit.engines.painting.tone import blend, develop, light
from kit.engines.prompt.brief import Brief

GRID = 2048  # texels of a square each way
TEXEL = SPAN / GRID
#: In the fourth channel of colors: neither under water (more) nor under trees (less).
OPEN = 128
#: A film's brightness and colors have 219 and 224 steps: from full range to those, and their start.
RANGES = ((219 / 255, 16.0), (224 / 255, 128 * (1 - 224 / 255)), (224 / 255, 128 * (1 - 224 / 255)))
#: From RGB to brightness, red and blue in full range: mixing them is the same as mixing RGB, and
#: what makes ground lighter and darker leaves its color alone.
_FULL = np.column_stack(
    [YUV[[0, 2, 1], :3] / np.array([[scale] for scale, _ in RANGES]), [0, 128, 128]]
).astype(np.float32)
#: From the number of a tree or field to a share that looks random.
_SHARES: Floats = ((np.arange(256) * 151 % 256) / 255).astype(np.float32)
_STRIP = 64  # rows, so that what is worked on stays in the processor's cache
_SHORE = 1.5  # height up to which land at the water is flattened to a beach
_BANK = 7  # texels of every shore without trees: from afar they would lift the water with them
_GAP = 0.30  # brightness between trees
_LIFT = 0.35  # share of the sky's light that woods get beside it: they are dark between crowns
#: Fields beside those of the ground's own colors.
_FIELDS: tuple[Oklch, ...] = ((0.56, 0.052, 72), (0.74, 0.095, 94))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """How a kind of land is raised and planted; lengths are those of the world."""

    cells: int = 4  # blobs of land across the square
    sea: float  # share of it that lies below the water
    rock: int = 4  # crests across the square
    sharp: float = 0.5  # share of crests beside worn slopes
    high: float
    foot: float = 0.12  # share of the height that all dry land has
    soft: float = 0.0  # lengths to which all is rounded
    crags: float = 0.0  # height of what breaks the slopes of summits
    bare: float = 0.5  # slope (1 - cosine) at which rock shows
    deep: float = 12.0
    fields: int = 0  # rows of them across the square
    woods: tuple[float, float]  # noise up to which no trees stand, and from which all do
    patches: int = 16  # of that noise across the square
    line: float = 1e4  # height up to which trees grow
    steep: tuple[float, float] = (9.0, 10.0)  # slopes from which fewer stand, and none
    trees: tuple[int, float, float] = (4, 2.0, 0.1)  # texels apart, height, shape: 1 is a cone


_PLANS = {
    "alps": _Plan(
        cells=2, sea=0.28, high=170, crags=40, bare=0.26, woods=(-0.8, -0.2), line=48,
        steep=(0.75, 1.15), trees=(4, 2.4, 0.9),
    ),
    "hills": _Plan(
        sea=0.10, sharp=0.1, high=64, soft=5, fields=28, woods=(0.75, 1.35), trees=(7, 4.2, 0.2)
    ),
    "forest": _Plan(
        sea=0.14, sharp=0.2, high=88, soft=3, woods=(-1.5, -1.3), trees=(6, 5.4, 0.9)
    ),
    "islands": _Plan(
        sea=0.72, high=110, crags=32, bare=0.32, deep=13, woods=(-1.4, -0.8), line=68,
        steep=(0.9, 1.3), trees=(4, 1.7, 0.1),
    ),
    "canyon": _Plan(
        sea=0.06, rock=8, high=100, bare=0.22, deep=6, woods=(0.9, 1.6), patches=64,
        steep=(0.35, 0.6), trees=(4, 1.1, 0.0),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Terrain:
    """A square of land; planes of shape (GRID, GRID), the water's surface at height 0."""

    kind: str
    heights: Floats  # trees included; under water the bottom
    wet: bool  # whether there is any water
    woods: Floats  # how much of a place is under trees
    #: Shape (SIDE, SIDE, 2), repeating: where in its crown each place would be under trees, 0
    #: between them to 255 at their tips, and the number of the tree.
    crowns: Bytes
    fields: Bytes | None = None  # number of the field that a place belongs to

    @property
    def surface(self) -> Floats:
        """Heights of what is seen from above, land or water."""
        return np.maximum(self.heights, np.float32(0)) if self.wet else self.heights

    def top(self, x: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Return the height of what is seen from above at places of the world."""
        column, row = (np.floor(axis / TEXEL).astype(np.int64) % GRID for axis in (x, y))
        ground = self.heights[row, column]
        return np.maximum(ground, np.float32(0)) if self.wet else ground


def make_terrain(kind: str, rng: np.random.Generator, progress: Progress) -> Terrain:
    """Return land of a kind: alps, hills, forest, islands, desert or canyon."""
    if kind == "desert":
        bare = np.zeros((GRID, GRID), np.float32)
        crowns = np.zeros((SIDE, SIDE, 2), np.uint8)
        return Terrain(kind, doubled(_dunes(rng)), False, bare, crowns)
    plan = _PLANS[kind]
    heights = doubled(_heights(plan, rng, tables=kind == "canyon"))
    progress.report(0.6)
    fields, borders = _fields(rng, plan.fields) if plan.fields else (None, None)
    trees, crowns = _crowns(rng, *plan.trees)
    woods = _woods(rng, plan, heights, crowns, borders)
    progress.report(1.0)
    heights += woods * np.tile(trees, (GRID // SIDE, GRID // SIDE))
    return Terrain(kind, heights, True, woods, crowns, fields)


def doubled(plane: NDArray[Any]) -> Floats:
    """Return a plane that repeats at its edges with twice as many cells each way."""
    padded = np.pad(plane, 2, mode="wrap")
    large = cv2.resize(padded, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return np.ascontiguousarray(large[4:-4, 4:-4])


def _heights(plan: _Plan, rng: np.random.Generator, *, tables: bool) -> Floats:
    """Return ranges or tables on blobs of land, with lakes or the sea between them."""
    bulk = tile(rng, cells=plan.cells, octaves=6, side=SPAN)
    bend_x, bend_y = (tile(rng, cells=4, octaves=6, side=SPAN) for _ in range(2))
    worn = eroded(rng, SPAN, cells=plan.rock, wrap=True)
    crests = ridged(rng, SPAN, cells=plan.rock, wrap=True)
    mass = stretched(plan.sharp * crests + (1.0 - plan.sharp) * worn)
    # Looking it up rounds places, which would show as a grid.
    mass = blur(warp(mass, bend_x, bend_y, 14.0, wrap=True), 1.2, wrap=True)
    ribs = gullies(rng, mass, cells=32, wrap=True)
    ribs += 0.7 * gullies(rng, mass, cells=128, wrap=True)
    land = bulk - np.float32(np.quantile(bulk[::8, ::8], plan.sea))
    rise = smooth_step(-0.05, 1.6, land)
    if tables:
        mass = 0.34 * tile(rng, cells=8, octaves=3, side=SPAN) - 0.2 * crests + 0.3 * worn + 0.18
        heights = mesas(np.asarray(mass, np.float32), plan.high / 120, 0.10) + 9.0 * worn
        heights *= smooth_step(0.0, 0.25, land)
    else:
        shape = rise * (plan.foot + mass ** np.float32(1.25))
        heights = np.float32(plan.high) * shape + plan.crags * ribs * rise * (0.35 + 0.65 * shape)
    if plan.soft:
        heights = blur(heights, plan.soft, wrap=True)
    heights = np.where(land > 0, heights * heights / (heights + np.float32(_SHORE)), 0.0)
    heights -= np.float32(plan.deep) * smooth_step(0.02, -0.5, land)
    return np.asarray(heights + np.float32(0.3), np.float32)


def _dunes(rng: np.random.Generator) -> Floats:
    down = np.arange(SPAN, dtype=np.float32)[:, None] * np.float32(1 / SPAN)
    bend = tile(rng, cells=4, octaves=4, gain=0.40, side=SPAN)
    size = smooth_step(-1.4, 1.2, tile(rng, cells=4, octaves=3, side=SPAN))
    heights = np.float32(0.55) * size
    for waves, weight in ((8, 1.0), (19, 0.26)):
        wave = dune_wave(down * np.float32(waves) + bend * np.float32(0.24 + 0.027 * waves))
        size = np.roll(size, waves * 20, axis=1)
        heights += np.float32(weight) * wave * (0.3 + 0.9 * size)
    return stretched(blur(heights, 1.0, wrap=True)) * np.float32(46.0)


def _fields(rng: np.random.Generator, count: int) -> tuple[Bytes, Floats]:
    """Return the number of each place's field, and 1 at the border of fields, else 0."""
    place = np.arange(GRID, dtype=np.float32) * np.float32(count / GRID)
    x, y = (np.float32(0.35) * tile(rng, cells=8, octaves=4, side=GRID) for _ in range(2))
    y += place[:, None]
    row = np.floor(y).astype(np.int32)
    # Each row is as long as half as many fields, and begins elsewhere.
    x = np.float32(0.5) * (x + place) + _SHARES[row % count]
    column = np.floor(x).astype(np.int32)
    numbers = rng.integers(0, 256, (count, count // 2), np.uint8)
    x, y = x - column, y - row
    inside = np.minimum(2 * np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    border = np.asarray(inside < np.float32(0.035), np.float32)
    return numbers[row % count, column % (count // 2)], border


def _crowns(
    rng: np.random.Generator, cell: int, tall: float, pointed: float
) -> tuple[Floats, Bytes]:
    """Return trees side by side, one in each cell of a shaken grid: heights, `Terrain.crowns`."""
    count = SIDE // cell
    seeds = np.zeros((SIDE, SIDE), np.float32)
    corner = np.arange(count) * (SIDE / count)
    x = (corner[None] + rng.uniform(0, cell, (count, count))).astype(int) % SIDE
    y = (corner[:, None] + rng.uniform(0, cell, (count, count))).astype(int) % SIDE
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
    soft = blur(grown, 0.6, wrap=True)
    share = np.clip(soft / np.maximum(own * np.float32(tall), 0.1), 0.0, 1.0) * (own > 0)
    numbers = (own * np.float32(9973.0)).astype(np.int32) & 255
    crowns = cv2.merge([cv2.convertScaleAbs(share, alpha=255.0), numbers.astype(np.uint8)])
    return soft, np.asarray(crowns)


def _woods(
    rng: np.random.Generator, plan: _Plan, heights: Floats, crowns: Bytes, borders: Floats | None
) -> Floats:
    """Return how much of a place is under trees, 0 to 1; they stand or fall crown by crown."""
    patches = tile(rng, cells=plan.patches, octaves=7, gain=0.6, side=GRID)
    share = smooth_step(*plan.woods, patches)
    if borders is not None:
        share += np.float32(2.2) * blur(borders, 2.0, wrap=True) * smooth_step(0.0, 0.8, patches)
    share *= smooth_step(0.9, 2.4, heights)
    if plan.line < 1e3:
        share *= smooth_step(0.0, 12.0, np.float32(plan.line) + np.float32(9) * patches - heights)
    if plan.steep[0] < 9:
        small = cv2.resize(heights, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        share *= 1.0 - smooth_step(*plan.steep, doubled(np.hypot(*slopes(small, wrap=True))))
    # Where every tree stands none is spared, and where none does none is left.
    least = np.float32(0.06) + np.float32(0.88) * _SHARES[crowns[..., 1]]
    stands = (share > np.tile(least, (GRID // SIDE, GRID // SIDE))).astype(np.uint8)
    # Slivers of crowns do not stand.
    stands = cv2.morphologyEx(stands, cv2.MORPH_OPEN, _disc(plan.trees[0] // 3))
    bank = cv2.dilate((heights < 0).astype(np.uint8), np.ones((2 * _BANK + 1, 2 * _BANK + 1)))
    stands[bank > 0] = 0
    return blur(stands.astype(np.float32), 0.8, wrap=True)


def _disc(radius: int) -> Bytes:
    size = (2 * radius + 1, 2 * radius + 1)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, size), np.uint8)


def ground_of(kind: str, brief: Brief, peak: float) -> Ground:
    """Return what covers a kind of land in a brief's season, in the colors that it asks for."""
    winter = brief.season == "winter"
    if kind in ("desert", "canyon") and not winter:
        sand = replace(SAND, low=(0.64, 0.085, 62), low_other=(0.74, 0.080, 72))
        return (sand if kind == "desert" else ROCK).tinted(of_land(brief), rocks=0.6)
    own = GROUNDS["summer" if kind == "islands" and not winter else brief.season]
    line = own.top_line * peak if kind == "alps" or winter else 1e4
    own = replace(own, top_line=max(line, 12.0))
    if kind == "islands":
        own = replace(own, **CLIFF)  # type: ignore[arg-type]
        own = replace(own, shore=(0.88, 0.035, 86))
    own = own if winter else replace(own, rock_other=(0.54, 0.022, 70))
    return replace(own.tinted(of_land(brief)), steep=_PLANS[kind].bare + 0.1 * winter)


def develop_colors(planes: Floats, look: HourLook) -> Bytes:
    """Return planes of light as brightness, red and blue of a film, shape (rows, columns, 3)."""
    film = replace(look.film, vignette=0.0, grain=0.0, bloom=0.0)
    return np.asarray(cv2.transform(develop(planes, film), _FULL))


def paint_terrain(
    terrain: Terrain,
    brief: Brief,
    look: HourLook,
    sun: Direction,
    rng: np.random.Generator,
    progress: Progress,
) -> Bytes:
    """Return the lit colors of land, shape (GRID, GRID, 4), uint8.

    The first channels are brightness, red and blue; the fourth tells water and trees from `OPEN`.
    """
    heights, tint = terrain.heights, of_land(brief)
    own = ground_of(terrain.kind, brief, float(heights.max()))
    relief = relief_of(heights, sun, wrap=True)
    foliage = mixed_to(FOLIAGE[brief.season if terrain.kind != "islands" else "summer"], tint)
    wood = [light(foliage[number][0]) for number in (0, -1)]
    patches = tile(rng, cells=16, octaves=7, gain=0.6, side=GRID)
    bumps = grain(rng, cells=32)
    others = () if brief.season == "winter" else _FIELDS
    colors = [light(turned(one, tint, 0.5))[:, 0] for one in (own.low, own.low_other, *others)]
    fields = np.concatenate(colors, axis=1)[:, rng.integers(0, len(colors), 256)]
    fields *= rng.uniform(0.75, 1.2, 256).astype(np.float32)
    across = GRID // SIDE
    lift = 1.5 if look.moon else 1.35 if look.elevation < 0.4 else 1.0
    out = np.empty((GRID, GRID, 4), np.uint8)
    for row in progress.over(range(0, GRID, _STRIP)):
        rows, part = slice(row, row + _STRIP), slice(row % SIDE, row % SIDE + _STRIP)
        right, down, open_, sunny = cv2.split(relief.traits[rows])
        woods, high = terrain.woods[rows], heights[rows]
        fine, *tilt = (np.tile(plane, (1, across)) for plane in cv2.split(bumps[part]))
        flat = 1 / np.sqrt(right * right + down * down + np.float32(1))
        speck = np.float32(0.75) * patches[rows] + np.float32(0.45) * fine
        if own.bands:  # on a wall of layers, grain would be drawn out to streaks
            speck *= flat
        low = None
        if terrain.fields is not None:
            low = np.asarray(
                fields[:, terrain.fields[rows]] * (1 + np.float32(0.1) * speck), np.float32
            )
        slope = np.asarray((1 - flat) * (1 - woods), np.float32)
        albedo = albedo_of(own, high, slope, np.asarray(speck), 0.0 if terrain.wet else -1e3, low)
        # Each tree has its own color, dark between them and light toward their tips; at the rim
        # of a wood one looks in among the trunks.
        tip, tree = (np.tile(plane, (1, across)) for plane in cv2.split(terrain.crowns[part]))
        deep = smooth_step(13.0, 204.0, tip * smooth_step(0.35, 1.0, woods))
        deep = (_GAP + (1.18 - _GAP) * deep) * (0.78 + 0.44 * _SHARES[255 - tree])
        which = np.clip(0.05 + 0.9 * _SHARES[tree] + 0.15 * speck, 0.0, 1.0)
        leaves = blend(wood[0], wood[1], which) * deep
        albedo = blend(albedo, leaves, smooth_step(0.15, 0.6, woods))
        # Leaves let light through to all sides.
        sides, bare = 1.0 - 0.86 * woods, own.rough * 0.10 * (1.0 - woods)
        slant = (right * sides + bare * tilt[0], down * sides + bare * tilt[1])
        planes = illuminate(albedo, look, sun, (*slant, open_, sunny), lift + _LIFT * woods)
        mark = np.float32(OPEN) - np.float32(OPEN) * woods
        if terrain.wet:
            wet = _flood(planes, -high, brief, look, sun, tropical=terrain.kind == "islands")
            mark += np.float32(255 - OPEN) * wet
        out[rows, :, :3] = develop_colors(planes, look)
        out[rows, :, 3] = mark
    return out


def _flood(
    planes: Floats, depth: Floats, brief: Brief, look: HourLook, sun: Direction, *, tropical: bool
) -> Floats:
    """Lay the water's own color over what is under it, in place; return where water is, 0 to 1."""
    wet = smooth_step(-0.12, 0.22, depth)
    if wet.any():
        deep, shallow = colors_of(brief, tropical=tropical)
        thin = np.exp(np.maximum(depth, 0.0) * np.float32(-0.45))
        body = blend(light(deep), light(shallow), thin)
        body *= light(look.sun, 0.4 * sun[2] * look.sun_power) + light(
            look.shade, 1.2 * look.shade_power
        )
        body += (planes - body) * (thin ** np.float32(1.6) * np.float32(0.45))
        planes += (body - planes) * wet
    return wet
