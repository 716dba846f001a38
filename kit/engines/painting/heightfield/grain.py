"""Grain: what the ground is like close by, as tiles that patches of it are multiplied with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.heightfield.terrain import noise

_SIDE = 512  # texels of the tile for four of them to a unit
#: Land -> how strongly unevenness is lit, and how much its color varies.
_KINDS = {
    "alps": (0.10, 0.045),
    "hills": (0.055, 0.05),
    "forest": (0.08, 0.05),
    "islands": (0.075, 0.045),
    "canyon": (0.085, 0.04),
}
_FINER = 0.8  # the finest structure is so strong beside the coarser one
#: Land -> tiers of branches to a tree, how much light and shade these have, and how much tufts.
_TREES = {
    "alps": (2.5, 0.55, 0.14),
    "hills": (0.0, 0.0, 0.22),
    "forest": (3.0, 0.60, 0.14),
    "islands": (0.0, 0.0, 0.20),
    "canyon": (0.0, 0.0, 0.18),
}
_LONG = 5  # texels from the middle of a grain to its ends
_RIPPLES = 0.055  # of sand, from light to dark


@dataclass(frozen=True, slots=True)
class Grains:
    """Tiles of about 128: of open ground and of what stands under trees."""

    ground: Bytes
    leaves: Bytes


def grains(
    kind: str,
    way: tuple[float, float, float],
    rng: np.random.Generator,
    crowns: Bytes,
    heading: float,
) -> dict[float, Grains]:
    """Return tiles by the texels to a unit that they are made for.

    Parameters
    ----------
    way : tuple of float
        To the sun, of length 1.
    crowns : ndarray of uint8
        Where in its crown each place would be under trees, 0 between them to 255 at their tips; of
        half a unit to a texel, repeating.
    heading : float
        Where flights go, in radians, about.
    """
    flat = math.hypot(way[0], way[1])
    toward = (way[0] / flat, way[1] / flat)
    if kind == "desert":
        return _rippled(toward, rng)
    lit, vary = _KINDS[kind]
    coarse = 1.0 + _uneven(_SIDE, 64, toward, lit, vary, rng)
    fine = 1.0 + _uneven(2 * _SIDE, 192, toward, _FINER * lit, _FINER * vary, rng)
    fine *= _twice(coarse)
    coarse, fine = (_lengthened(plane, heading) for plane in (coarse, fine))
    leaves = _leaves(crowns, kind, rng)
    far = _half(leaves)
    return {
        2.0: Grains(_eight(_faint(coarse)), _eight(_half(far))),
        4.0: Grains(_eight(coarse), _eight(far)),
        8.0: Grains(_eight(fine), _eight(leaves)),
    }


def _leaves(crowns: Bytes, kind: str, rng: np.random.Generator) -> Floats:
    """Return the branches of each tree, which shade those below them, or its tufts of leaves."""
    tiers, strength, tufts = _TREES[kind]
    side = 4 * crowns.shape[0]
    share = _twice(_twice(crowns.astype(np.float32) * np.float32(1 / 255)))
    rough = noise(rng, side // 8, 4, 0.8, side)
    tile = np.float32(tufts) * rough
    if tiers:
        # Down from the tip every tier begins in the shade of the one above and ends in light.
        place = share * np.float32(tiers)
        place += np.float32(0.22) * rough
        place -= np.floor(place)
        tile += np.float32(strength) * (np.float32(0.5) - place)
    # What grows between crowns is seldom seen by the sun.
    tile -= np.float32(0.35) * smooth_step(0.22, 0.04, share)
    tile -= tile.mean()
    return np.asarray(tile + np.float32(1))


def _rippled(toward: tuple[float, float], rng: np.random.Generator) -> dict[float, Grains]:
    """Return the ripples of wind in sand."""
    down = np.arange(2 * _SIDE, dtype=np.float32)[:, None] * np.float32(2 * np.pi * 88 / 2 / _SIDE)
    bend = 4.0 * noise(rng, 4, 4, side=2 * _SIDE)
    waves = np.sin(down + bend) * (0.65 + 0.35 * noise(rng, 6, 3, side=2 * _SIDE))
    fine = 1.0 + np.float32(math.copysign(_RIPPLES, toward[1] or 1.0)) * np.roll(waves, 2, axis=0)
    fine += _uneven(2 * _SIDE, 256, toward, 0.03, 0.02, rng)
    coarse = cv2.resize(fine, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    tiles = {4.0: _eight(coarse), 8.0: _eight(np.asarray(fine))}
    return {fineness: Grains(tile, tile) for fineness, tile in tiles.items()}


def _uneven(
    side: int,
    cells: int,
    toward: tuple[float, float],
    lit: float,
    vary: float,
    rng: np.random.Generator,
) -> Floats:
    """Return how much lighter or darker bumps are, mean 0: brighter where they face the sun."""
    bumps = noise(rng, cells, 4, 0.7, side)
    right, down = (
        cv2.Sobel(np.pad(bumps, 1, mode="wrap"), cv2.CV_32F, x, 1 - x)[1:-1, 1:-1] for x in (1, 0)
    )
    facing = right * np.float32(-toward[0]) - down * np.float32(toward[1])
    facing *= np.float32(lit / max(float(facing.std()), 1e-6))
    return np.asarray(facing + np.float32(vary) * bumps, np.float32)


def _lengthened(plane: Floats, heading: float) -> Floats:
    """Return grain drawn out along the flight, as strong as it was.

    Ground is seen so much from aside that rows of a frame lie many grains apart: round ones would
    glitter, long ones look round.
    """
    place = np.arange(-_LONG, _LONG + 1, dtype=np.float32)
    along = place * np.float32(math.sin(heading)) + place[:, None] * np.float32(math.cos(heading))
    across = place * np.float32(math.cos(heading)) - place[:, None] * np.float32(math.sin(heading))
    kernel = np.exp(-((along / np.float32(2.2)) ** 2) / 2 - (across / np.float32(0.55)) ** 2 / 2)
    soft = cv2.filter2D(np.pad(plane, _LONG, mode="wrap"), -1, kernel / kernel.sum())
    soft = soft[_LONG:-_LONG, _LONG:-_LONG] - plane.mean()
    return np.asarray(soft * (plane.std() / soft.std()) + plane.mean(), np.float32)


def _twice(plane: Floats) -> Floats:
    big = cv2.resize(np.pad(plane, 2, mode="wrap"), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return np.asarray(big[4:-4, 4:-4])


def _faint(plane: Floats) -> Floats:
    """Return half a tile in size and in strength: where grain ends no line must be seen."""
    return np.asarray(np.float32(0.45) * _half(plane) + np.float32(0.55))


def _half(plane: Floats) -> Floats:
    return np.asarray(cv2.resize(plane, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))


def _eight(tile: Floats) -> Bytes:
    return np.asarray(cv2.convertScaleAbs(np.clip(tile, 0.3, 1.9), alpha=128.0))
