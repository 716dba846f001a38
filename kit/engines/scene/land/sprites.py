"""Sprites: a plant drawn once, kept at halving sizes, set by the hundred into a landscape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.scene.land.fields import Reals

_SMALLEST = 3
#: Cover and shade.
Patch: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Sprite:
    """A plant at several sizes, halving.

    Parameters
    ----------
    levels : tuple of (cover, shade)
        Cover 0 to 1 and brightness about 0.3 to 1.5, equal shapes; light comes from the left.
    """

    levels: tuple[tuple[Floats, Floats], ...]

    def wide(self, tall: int) -> int:
        """Return how many pixels wide a plant `tall` pixels high is."""
        high, wide = self.levels[0][0].shape
        return int(max(2, round(wide * tall / high)))

    def at(self, tall: int) -> Patch:
        """Return cover and shade of a plant `tall` pixels high."""
        cover, shade = next(
            (level for level in reversed(self.levels) if level[0].shape[0] >= tall), self.levels[0]
        )
        size = (self.wide(tall), max(2, tall))
        way = cv2.INTER_AREA if tall <= cover.shape[0] else cv2.INTER_LINEAR
        return (
            np.asarray(cv2.resize(cover, size, interpolation=way)),
            np.asarray(cv2.resize(shade, size, interpolation=way)),
        )

    def window(self, tall: float, corner: tuple[float, float], size: tuple[int, int]) -> Patch:
        """Return cover and shade of a part of a plant `tall` pixels high.

        Parameters
        ----------
        corner : tuple of float
            Where the part begins, in pixels of the enlarged plant: right, down.
        size : tuple of int
            Width and height of the part in pixels.
        """
        share = self.levels[0][0].shape[0] / tall
        matrix = np.array([[share, 0.0, corner[0] * share], [0.0, share, corner[1] * share]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cover, shade = (cv2.warpAffine(part, matrix, size, flags=flags) for part in self.levels[0])
        return np.asarray(cover), np.asarray(shade)


def sprite(cover: Reals, shade: Reals, tall: int) -> Sprite:
    """Return a sprite from a drawing, its largest level `tall` pixels high."""
    wide = max(2, round(cover.shape[1] * tall / cover.shape[0]))
    levels: list[Patch] = []
    tone = cover * shade
    while tall >= _SMALLEST:
        size = (max(2, wide), tall)
        solid = cv2.resize(cover, size, interpolation=cv2.INTER_AREA)
        lit = cv2.resize(tone, size, interpolation=cv2.INTER_AREA)
        lit = lit / np.maximum(solid, 0.02)
        levels.append((np.asarray(solid, np.float32), np.asarray(lit, np.float32)))
        tall, wide = tall // 2, wide // 2
    return Sprite(tuple(levels))
