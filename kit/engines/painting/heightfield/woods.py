"""Woods and fields: what gives land a scale that the eye can read."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.erosion import blurred
from kit.engines.painting.heightfield.terrain import GRID, Land, noise

_TILE = 512  # texels after which trees repeat
_BANK = 7  # texels of every shore on which no trees stand
_WHOLE = 2  # texels: what is left of a crown that is thinner than twice this does not stand
#: What the numbers of trees are mixed to, 0 to 1.
OWN: Floats = ((np.arange(256) * 151 % 256) / 255).astype(np.float32)


def crowns(
    rng: np.random.Generator, cell: int, high: float, *, pointed: float
) -> tuple[Floats, Bytes]:
    """Return trees side by side: one in each cell of a shaken grid.

    Parameters
    ----------
    cell : int
        Texels from one tree to the next.
    high : float
        Height of the highest tree, in units of the world.
    pointed : float
        Shape of a crown: 0 is round, 1 a cone.

    Returns
    -------
    ndarray of float32
        How high they rise at each place, shape (GRID, GRID).
    ndarray of uint8
        Shape (512, 512, 2), repeating: where in its crown a place is, 0 between trees to 255 at
        the tip of each, and a number for each tree.
    """
    count = _TILE // cell
    seeds = np.zeros((_TILE, _TILE), np.float32)
    corner = np.arange(count) * (_TILE / count)
    x = (corner[None] + rng.uniform(0, cell, (count, count))).astype(int) % _TILE
    y = (corner[:, None] + rng.uniform(0, cell, (count, count))).astype(int) % _TILE
    seeds[y, x] = rng.uniform(0.45, 1.0, (count, count))
    grown, own = np.zeros_like(seeds), np.zeros_like(seeds)
    margin = cell
    reach = 0.78 * cell
    for step in range(round(reach) + 1):
        ring = cv2.dilate(np.pad(seeds, margin, mode="wrap"), _disc(step))
        share = min(1.0, step / reach)
        level = pointed * (1.0 - share) ** 1.4 + (1.0 - pointed) * (1.0 - share * share) ** 0.5
        inside = ring[margin:-margin, margin:-margin]
        raised = inside * np.float32(high * level)
        # The height that a tree was given tells it from its neighbors.
        np.copyto(own, inside, where=raised > grown)
        np.maximum(grown, raised, out=grown)
    soft = cv2.GaussianBlur(np.pad(grown, 4, mode="wrap"), (0, 0), 0.6)[4:-4, 4:-4]
    share = np.clip(soft / np.maximum(own * np.float32(high), 0.1), 0.0, 1.0)
    share *= own > 0  # what a crown is softened by reaches farther than the crown
    numbers = (own * np.float32(9973.0)).astype(np.int32) & 255
    looks = cv2.merge([_eight(share), numbers.astype(np.uint8)])
    return np.tile(soft, (GRID // _TILE, GRID // _TILE)), np.asarray(looks)


def grove(share: Floats, tall: Floats, looks: Bytes) -> tuple[Floats, Floats]:
    """Return trees that stand crown by crown: a wood has a ragged edge, and bushes grow apart.

    Parameters
    ----------
    share : ndarray of float32
        Of the trees of a place that stand, 0 to 1, shape (GRID, GRID).
    tall, looks : ndarray
        Of all trees there could be, see `crowns`.

    Returns
    -------
    ndarray of float32
        How high they rise at each place.
    ndarray of float32
        How much of a place is under trees, 0 to 1. It reaches a texel farther, so that what stands
        upright at the edge is trunks and not the color of the field below.
    """
    # Where every tree stands none is spared, and where none does none is left.
    least = np.float32(0.06) + np.float32(0.88) * OWN[looks[..., 1]]
    times = GRID // looks.shape[0]
    stands = (share > np.tile(least, (times, times))).astype(np.uint8)
    whole = cv2.morphologyEx(np.pad(stands, _WHOLE, mode="wrap"), cv2.MORPH_OPEN, _disc(_WHOLE))
    wide = cv2.dilate(whole, _disc(1))
    inner = slice(_WHOLE, -_WHOLE)
    high, under = (blurred(plane[inner, inner].astype(np.float32), 0.7) for plane in (whole, wide))
    return tall * high, under


def planted(
    kind: str,
    heights: Floats,
    water: float,
    woods: Floats,
    trees: tuple[Floats, Bytes],
    fields: Bytes | None = None,
) -> Land:
    """Return land with trees on it, where there are woods, but not on the banks of its water.

    Parameters
    ----------
    woods : ndarray of float32
        How much of a place is under trees, 0 to 1.
    trees : tuple of two ndarrays
        Of all trees there could be, see `crowns`.
    """
    # From afar, trees that stood in the water's edge would lift the water with them.
    wide = np.pad((heights < water).astype(np.uint8), _BANK, mode="wrap")
    bank = cv2.dilate(wide, np.ones((2 * _BANK + 1, 2 * _BANK + 1), np.uint8))
    inner = slice(_BANK, -_BANK)
    woods = woods * (np.float32(1) - blurred(bank[inner, inner].astype(np.float32), 1.5))
    return Land(kind, heights + woods * trees[0], water, _eight(woods), trees[1], fields)


def plots(rng: np.random.Generator, cells: int) -> tuple[Bytes, Floats]:
    """Return fields as a farmer cuts them, bent by the lay of the land.

    Returns
    -------
    ndarray of uint8
        Shape (GRID, GRID): a number for each field; neighbors may share one by chance.
    ndarray of float32
        How near a place is to the border of its field, 0 to 1.
    """
    side = GRID // 2
    step = side / cells
    corner = (np.arange(cells) + 0.5) * step
    margin = int(2 * step)
    marks = np.ones((side, side), np.uint8)
    x = (corner[None] + rng.uniform(-0.42, 0.42, (cells, cells)) * step).astype(int)
    y = (corner[:, None] + rng.uniform(-0.42, 0.42, (cells, cells)) * step).astype(int)
    marks[y, x] = 0
    around = np.pad(marks, margin, mode="wrap")
    _, found = cv2.distanceTransformWithLabels(
        around, cv2.DIST_L1, 3, labelType=cv2.DIST_LABEL_PIXEL
    )
    # The same field has other labels in the margin: its color is that of its mark.
    numbers = np.zeros((side, side), np.uint8)
    numbers[y, x] = rng.integers(0, 256, (cells, cells))
    around_numbers = np.pad(numbers, margin, mode="wrap")
    color = np.zeros(int(found.max()) + 1, np.uint8)
    color[found[around == 0]] = around_numbers[around == 0]
    edge = cv2.morphologyEx(found.astype(np.float32), cv2.MORPH_GRADIENT, np.ones((3, 3))) > 0
    inner = slice(margin, -margin)
    return _bent(color[found][inner, inner], edge[inner, inner].astype(np.float32), rng)


def _disc(radius: int) -> Bytes:
    return np.asarray(
        cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), np.uint8
    )


def _eight(share: Floats) -> Bytes:
    return np.asarray(cv2.convertScaleAbs(share, alpha=255.0))


def _bent(fields: Bytes, edge: Floats, rng: np.random.Generator) -> tuple[Bytes, Floats]:
    side = fields.shape[0]
    grid = np.arange(GRID, dtype=np.float32) * np.float32(side / GRID)
    x, y = (noise(rng, 8, 4, side=GRID) * np.float32(5.0) for _ in range(2))
    x += grid
    y += grid[:, None]
    # The middle one of the numbers around a place takes the steps out of borders.
    numbers = cv2.remap(fields, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_WRAP)
    border = cv2.remap(edge, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    return np.asarray(cv2.medianBlur(numbers, 7)), np.asarray(border)
