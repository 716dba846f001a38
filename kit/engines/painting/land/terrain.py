"""Terrain: a still's land as a square map of colors and heights, made once for a flight.

Beyond its edges the square is extended by reflection, so that a flight never reaches an end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import YUV, Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.ground import DRY, Land, albedo_of, grain, illuminate
from kit.engines.painting.land.landscape import SPAN, Landscape, grid
from kit.engines.painting.land.water import colors_of
from kit.engines.painting.looks import HourLook
from kit.engines.painting.noise import SIDE, blur, slopes, tile
from kit.engines.painting.tone import blend, develop, light

GRID = 2048  # texels of a square per side
TEXEL = SPAN / GRID
#: In the fourth channel of colors: neither under water (more) nor under trees (less).
OPEN_GROUND = 128
#: A film's luma and chroma have 219 and 224 steps: scale from full range, and offset.
RANGES = ((219 / 255, 16.0), (224 / 255, 128 * (1 - 224 / 255)), (224 / 255, 128 * (1 - 224 / 255)))
#: From RGB to luma, red and blue difference in full range: blending them equals blending RGB, and
#: changes of lightness leave the color of the ground unchanged.
_TO_FULL_RANGE = np.column_stack(
    [YUV[[0, 2, 1], :3] / np.array([[scale] for scale, _ in RANGES]), [0, 128, 128]]
).astype(np.float32)
#: From the number of a tree to a pseudorandom share.
_TREE_SHARES: Floats = ((np.arange(256) * 151 % 256) / 255).astype(np.float32)
_STRIP_ROWS = 64  # rows, so that intermediate results stay in the processor's cache
_BANK = 7  # texels of shore without trees: at a distance these would raise the water
_GAP_LIGHT = 0.30  # brightness between trees
_WOODS_LIFT = 0.35  # additional share of the sky's light for woods: they are dark between crowns
#: Kind of tree -> its width as a share of its height, and its shape: 1 is a cone.
_TREE_SHAPES = {"spruce": (0.42, 0.9), "broadleaf": (0.75, 0.15), "palm": (0.5, 0.4)}


@dataclass(frozen=True, slots=True)
class Terrain:
    """A square of land; planes of shape (GRID, GRID), the water's surface at height 0."""

    land: Land
    heights: Floats  # with trees; under water the bottom
    steep: Floats  # slope of the ground under the trees
    woods: Floats  # coverage by trees
    #: Periodic, shape (SIDE, SIDE, 2): height within the crown of each place if it had trees, 0
    #: between crowns to 255 at their tips, and the number of the tree.
    crowns: Bytes

    @property
    def has_water(self) -> bool:
        """Whether there is any water."""
        return self.land.level > DRY

    @property
    def surface(self) -> Floats:
        """Heights of the visible surface, land or water."""
        return np.maximum(self.heights, np.float32(0)) if self.has_water else self.heights

    def top(self, x: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Return the height of the visible surface at places of the world."""
        column, row = (mirror_texels(np.floor(axis / TEXEL).astype(np.int64)) for axis in (x, y))
        ground = self.heights[row, column]
        return np.asarray(np.maximum(ground, 0.0 if self.has_water else DRY), np.float32)


def mirror_texels(texels: NDArray[Any]) -> NDArray[Any]:
    """Return the texels of the square at those of the world."""
    turn = texels % (2 * GRID)
    return np.asarray(np.minimum(turn, 2 * GRID - 1 - turn))


def make_terrain(land: Land, rng: np.random.Generator, progress: Progress) -> Terrain:
    """Return the terrain of a land for a flight, with its trees."""
    size, slope = (GRID, GRID), np.hypot(*slopes(land.heights, len(land.heights) / SPAN))
    heights = np.asarray(cv2.resize(land.heights, size, interpolation=cv2.INTER_CUBIC))
    heights -= np.float32(max(land.level, 0.0))
    steep = np.asarray(cv2.resize(slope, size, interpolation=cv2.INTER_LINEAR))
    progress.report(0.3)
    broad, pointed = _TREE_SHAPES[land.woods.kind]
    tall = 0.55 * land.woods.tall[1]
    cell = max(4, round(broad * tall / TEXEL))
    trees, crowns = _crowns(rng, cell, tall, pointed)
    woods = _woods(rng, land, heights, steep, crowns, cell // 3)
    progress.report(1.0)
    heights += woods * np.tile(trees, (GRID // SIDE, GRID // SIDE))
    return Terrain(land, heights, steep, woods, crowns)


def _crowns(
    rng: np.random.Generator, cell: int, tall: float, pointed: float
) -> tuple[Floats, Bytes]:
    """Return trees, one per cell of a jittered grid: heights, `Terrain.crowns`."""
    count = SIDE // cell
    seeds = np.zeros((SIDE, SIDE), np.float32)
    corner = np.arange(count) * (SIDE / count)
    x = (corner[None] + rng.uniform(0, cell, (count, count))).astype(int) % SIDE
    y = (corner[:, None] + rng.uniform(0, cell, (count, count))).astype(int) % SIDE
    seeds[y, x] = rng.uniform(0.45, 1.0, (count, count))
    # Each place belongs to the nearest tree, whose height separates it from its neighbors.
    wide = np.pad(seeds, cell, mode="wrap")
    far, nearest = cv2.distanceTransformWithLabels(
        (wide == 0).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    inner = slice(cell, -cell)
    own = wide[wide > 0][nearest[inner, inner] - 1]
    share = np.minimum(far[inner, inner] / np.float32(0.78 * cell), 1.0)
    cone, round_ = (1.0 - share) ** 1.4, np.sqrt(1.0 - share * share)
    soft = blur(own * np.float32(tall) * (round_ + (cone - round_) * pointed), 0.6, wrap=True)
    share = np.clip(soft / np.maximum(own * np.float32(tall), 0.1), 0.0, 1.0) * (own > 0)
    numbers = (own * np.float32(9973.0)).astype(np.int32) & 255
    crowns = cv2.merge([cv2.convertScaleAbs(share, alpha=255.0), numbers.astype(np.uint8)])
    return soft, np.asarray(crowns)


def _woods(
    rng: np.random.Generator, land: Land, heights: Floats, steep: Floats, crowns: Bytes, sliver: int
) -> Floats:
    """Return the coverage by trees, 0 to 1; trees are present or absent as a whole."""
    woods, camera = land.woods, land.scene.camera
    if not woods.density.any():
        return np.zeros((GRID, GRID), np.float32)
    patches = tile(rng, cells=16, octaves=7, gain=0.6, side=GRID)
    dense = cv2.resize(woods.density, (GRID, GRID), interpolation=cv2.INTER_LINEAR)
    share = smooth_step(0.15, 0.65, dense + np.float32(0.12) * patches)
    share *= smooth_step(woods.lowest - 0.3, woods.lowest + 1.2, heights)
    line = np.float32(woods.line) + np.float32(9) * patches - heights
    share *= smooth_step(0.0, 12.0, line)
    share *= 1.0 - smooth_step(0.75, 1.15, steep)
    # As in a still, the view before the camera is free.
    x, z = grid(GRID)
    aside = np.abs(x) / (camera.widest * (z + 1.0)) + z * np.float32(1 / 200)
    share *= (aside > woods.clearing) & (z > woods.nearest)
    # At full density no tree is omitted, and at zero density none is left.
    least = np.float32(0.06) + np.float32(0.88) * _TREE_SHARES[crowns[..., 1]]
    stands = (share > np.tile(least, (GRID // SIDE, GRID // SIDE))).astype(np.uint8)
    # Slivers of crowns are removed.
    stands = cv2.morphologyEx(stands, cv2.MORPH_OPEN, _disc(sliver))
    if land.level > DRY:
        bank = cv2.dilate((heights < 0).astype(np.uint8), np.ones((2 * _BANK + 1, 2 * _BANK + 1)))
        stands[bank > 0] = 0
    return blur(stands.astype(np.float32), 0.8)


def _disc(radius: int) -> Bytes:
    size = (2 * radius + 1, 2 * radius + 1)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, size), np.uint8)


def develop_colors(planes: Floats, look: HourLook, *, bloom: float = 0.0) -> Bytes:
    """Return planes of light as luma, red and blue difference, shape (rows, columns, 3)."""
    film = replace(look.film, vignette=0.0, grain=0.0, bloom=bloom)
    return np.asarray(cv2.transform(develop(planes, film), _TO_FULL_RANGE))


def paint_terrain(terrain: Terrain, rng: np.random.Generator, progress: Progress) -> Bytes:
    """Return the lit colors of land, shape (GRID, GRID, 4), uint8.

    The channels are luma, red and blue difference, and water and trees as distance from
    `OPEN_GROUND`.
    """
    land, heights = terrain.land, terrain.heights
    scene, own, look, sun = land.scene, land.ground, land.scene.look, land.scene.toward
    scene.lay_out(heights, clouds=land.clouds)
    wood = [light(land.woods.leaves[number][0]) for number in (0, -1)]
    patches = tile(rng, cells=16, octaves=7, gain=0.6, side=GRID)
    bumps = grain(rng, cells=4)
    across = GRID // SIDE
    lift = 1.5 if look.moon else 1.35 if look.elevation < 0.4 else 1.0
    out = np.empty((GRID, GRID, 4), np.uint8)
    for row in progress.over(range(0, GRID, _STRIP_ROWS)):
        rows, part = slice(row, row + _STRIP_ROWS), slice(row % SIDE, row % SIDE + _STRIP_ROWS)
        right, down, open_, sunny = cv2.split(scene.land.traits[rows])
        woods, high = terrain.woods[rows], heights[rows]
        fine, *tilt = (np.tile(plane, (1, across)) for plane in cv2.split(bumps[part]))
        steep = terrain.steep[rows]
        flat = 1 / np.sqrt(steep * steep + np.float32(1))
        speck = np.float32(0.75) * patches[rows] + np.float32(0.45) * fine
        if own.bands:  # on layered walls, grain would be stretched into streaks
            speck *= flat
        leafy = smooth_step(0.02, 0.35, woods)
        slope = np.asarray((1 - flat) * (1 - leafy), np.float32)
        albedo = albedo_of(own, high, slope, np.asarray(speck), 0.0 if terrain.has_water else DRY)
        # Each tree has its own color, dark between trees and light toward the tips; at the rim of a
        # wood the view goes in between the trunks.
        tip, tree = (np.tile(plane, (1, across)) for plane in cv2.split(terrain.crowns[part]))
        deep = smooth_step(13.0, 204.0, tip * smooth_step(0.35, 1.0, woods))
        deep = (_GAP_LIGHT + (1.18 - _GAP_LIGHT) * deep) * (0.78 + 0.44 * _TREE_SHARES[255 - tree])
        which = np.clip(0.05 + 0.9 * _TREE_SHARES[tree] + 0.15 * speck, 0.0, 1.0)
        leaves = blend(wood[0], wood[1], which) * deep
        albedo = blend(albedo, leaves, leafy)
        # Leaves transmit light in all directions.
        sides = 1.0 - 0.86 * woods
        bare = own.rough * (0.2 + 4.0 * np.clip(steep - 0.12, 0.0, 1.0)) * (1.0 - woods)
        slant = (right * sides + bare * tilt[0], down * sides + bare * tilt[1])
        planes = illuminate(albedo, look, sun, (*slant, open_, sunny), lift + _WOODS_LIFT * woods)
        mark = np.float32(OPEN_GROUND) - np.float32(OPEN_GROUND) * woods
        if terrain.has_water:
            wet = _blend_water(planes, -high, scene)
            mark += np.float32(255 - OPEN_GROUND) * wet
        out[rows, :, :3] = develop_colors(planes, look)
        out[rows, :, 3] = mark
    return out


def _blend_water(planes: Floats, depth: Floats, scene: Landscape) -> Floats:
    """Blend the water's own color over the bottom, in place; return the water mask, 0 to 1."""
    wet, look = smooth_step(-0.12, 0.22, depth), scene.look
    if wet.any():
        deep, shallow = colors_of(scene.brief)
        thin = np.exp(np.maximum(depth, 0.0) * np.float32(-0.45))
        body = blend(light(deep), light(shallow), thin)
        body *= light(look.sun, 0.4 * scene.toward[2] * look.sun_power) + light(
            look.shade, 1.2 * look.shade_power
        )
        body += (planes - body) * (thin ** np.float32(1.6) * np.float32(0.45))
        planes += (body - planes) * wet
    return wet
