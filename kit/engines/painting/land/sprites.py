"""Sprites: a plant drawn once, kept at halving sizes, set by the hundred into a landscape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.noise import Plane

_SMALLEST = 3
_PARTS = (1, 2, 4, 8, 16)  # a plant is drawn in strips, each as wide as what it shows,
_PIXELS = 6000  # of at least about so many pixels
#: Cover and shade.
Patch: TypeAlias = tuple[Floats, Floats]
#: Rows and columns.
Window: TypeAlias = tuple[slice, slice]
Strip: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Sprite:
    """A plant at several sizes, halving.

    Parameters
    ----------
    levels : tuple of (cover, shade)
        Cover 0 to 1 and brightness about 0.3 to 1.5, equal shapes; light comes from the left.
    strips : tuple of tuple of (top, bottom, left, right)
        For 1, 2, 4, 8 and 16 strips: where anything of it is, from the top down, as shares of its
        height and width.
    """

    levels: tuple[tuple[Floats, Floats], ...]
    strips: tuple[tuple[Strip, ...], ...]

    def wide(self, tall: int) -> int:
        """Return how many pixels wide a plant `tall` pixels high is."""
        high, wide = self.levels[0][0].shape
        return int(max(2, round(wide * tall / high)))

    def parts(self, tall: int) -> list[Window]:
        """Return the windows, in pixels, that hold all of a plant `tall` pixels high."""
        wide = self.wide(tall)
        halvings = min(len(_PARTS), max(1, (wide * tall // _PIXELS).bit_length())) - 1
        return [
            (
                slice(round(top * tall), round(bottom * tall)),
                slice(max(0, int(left * wide) - 1), min(wide, int(right * wide) + 2)),
            )
            for top, bottom, left, right in self.strips[halvings]
        ]

    def cutter(self, tall: int) -> Callable[[Window], Patch]:
        """Return what cuts windows, in pixels, out of a plant `tall` pixels high."""
        if tall > self.levels[0][0].shape[0]:
            return partial(self._enlarged, tall)
        cover, shade = self.at(tall)
        return lambda window: (cover[window], shade[window])

    def at(self, tall: int) -> Patch:
        """Return cover and shade of a plant `tall` pixels high."""
        cover, shade = next(
            (level for level in reversed(self.levels) if level[0].shape[0] >= tall), self.levels[0]
        )
        size = (self.wide(tall), max(2, tall))
        # A level is less than twice as large, where linear looks as good as area and costs a third.
        return (
            np.asarray(cv2.resize(cover, size, interpolation=cv2.INTER_LINEAR)),
            np.asarray(cv2.resize(shade, size, interpolation=cv2.INTER_LINEAR)),
        )

    def _enlarged(self, tall: int, window: Window) -> Patch:
        share = self.levels[0][0].shape[0] / tall
        rows, columns = window
        # Pixels are meant by their middles, in the level as in the picture.
        right, down = ((part.start + 0.5) * share - 0.5 for part in (columns, rows))
        matrix = np.array([[share, 0.0, right], [0.0, share, down]])
        size = (columns.stop - columns.start, rows.stop - rows.start)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        border = cv2.BORDER_REPLICATE
        cover, shade = (
            cv2.warpAffine(part, matrix, size, flags=flags, borderMode=border)
            for part in self.levels[0]
        )
        return np.asarray(cover), np.asarray(shade)


def sprite(cover: Plane, shade: Plane, tall: int) -> Sprite:
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
    strips = tuple(_strips(levels[0][0], count) for count in _PARTS)
    return Sprite(tuple(levels), strips)


def _strips(cover: Floats, count: int) -> tuple[Strip, ...]:
    """Return the strips of a cover that hold anything; see `Sprite`."""
    tall, wide = cover.shape
    ends = np.linspace(0, tall, min(count, tall) + 1).astype(int)
    strips = []
    for top, bottom in pairwise(ends):
        shown = np.flatnonzero(cover[max(0, top - 1) : bottom + 1].max(axis=0) > 0.0)
        if len(shown):
            # Enlarged, a pixel fades out over the next one.
            sides = (float(shown[0] - 1) / wide, float(shown[-1] + 2) / wide)
            strips.append((float(top) / tall, float(bottom) / tall, *sides))
    return tuple(strips)
