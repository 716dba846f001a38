"""Grain: what the ground is like close by, as tiles that patches of it are multiplied with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.video.flythrough.terrain import noise

_SIDE = 512  # texels of the tile for four of them to a unit
#: Land -> how strongly unevenness is lit, and how much its color varies.
_KINDS = {
    "alps": (0.10, 0.045),
    "hills": (0.055, 0.05),
    "forest": (0.08, 0.05),
    "islands": (0.075, 0.045),
    "canyon": (0.085, 0.04),
}
#: Land with walls of rock -> how strongly they are layered, and how much broken.
_LAYERED = {"canyon": (0.115, 0.035), "alps": (0.007, 0.075), "islands": (0.010, 0.065)}
_FINER = 1.5  # the finest structure is so much stronger
_LEAVES = (0.17, 0.13)  # how strongly leaves are lit, and how much their color varies
_RIPPLES = 0.055  # of sand, from light to dark


@dataclass(frozen=True, slots=True)
class Grains:
    """Tiles of about 128: of open ground and of what stands under trees, of one shape."""

    ground: Bytes
    leaves: Bytes


def grains(
    kind: str, way: tuple[float, float, float], rng: np.random.Generator
) -> dict[float, Grains]:
    """Return tiles by the texels to a unit that they are made for.

    Parameters
    ----------
    way : tuple of float
        To the sun, of length 1.
    """
    flat = math.hypot(way[0], way[1])
    toward = (way[0] / flat, way[1] / flat)
    if kind == "desert":
        return _rippled(toward, rng)
    lit, vary = _KINDS[kind]
    coarse = 1.0 + _uneven(_SIDE, 64, toward, lit, vary, rng)
    fine = 1.0 + _uneven(2 * _SIDE, 192, toward, _FINER * lit, _FINER * vary, rng)
    fine *= _twice(coarse)
    leaves = 1.0 + _uneven(2 * _SIDE, 256, toward, *_LEAVES, rng)
    far = _half(leaves)
    return {
        2.0: Grains(_eight(_faint(coarse)), _eight(_faint(far))),
        4.0: Grains(_eight(coarse), _eight(far)),
        8.0: Grains(_eight(fine), _eight(leaves)),
    }


def walls(kind: str, rng: np.random.Generator) -> Bytes | None:
    """Return what rock is like from aside, about 128: down the height, and along.

    Walls are seen from aside, where colors that lie on a map are drawn out to streaks: cracks and
    layers are looked up by height instead. The fourth channel is 128, and a
    border of one texel repeats the other side. None: there are no walls.
    """
    if kind not in _LAYERED:
        return None
    strength, cracked = _LAYERED[kind]
    rows = np.arange(_SIDE, dtype=np.float32)[:, None]
    line = cv2.GaussianBlur(rng.standard_normal((1, _SIDE), np.float32), (0, 0), 3.0)[0]
    line += 0.35 * cv2.GaussianBlur(rng.standard_normal((1, _SIDE), np.float32), (0, 0), 0.9)[0]
    line /= line.std()
    place = (rows + 3.0 * noise(rng, 4, 5, side=_SIDE)) % _SIDE
    layer = np.interp(place, np.arange(_SIDE), line).astype(np.float32)
    rubble = noise(rng, 24, 5, 0.75, _SIDE)
    planes = [1.0 + strength * weight * layer + cracked * rubble for weight in (0.75, 1.0, 1.15)]
    tile = cv2.merge([*(_eight(plane) for plane in planes), np.full((_SIDE, _SIDE), 128, np.uint8)])
    return np.pad(tile, ((1, 1), (1, 1), (0, 0)), mode="wrap")


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
