"""Strips: planes are laid over each other a few rows at a time.

What is mixed stays in the processor's cache that way, what a nearer plane hides is never painted,
and only a strip has to be kept in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, noise_tile
from kit.engines.painting.poster.plane import Plane, Stage, over

#: Fills a canvas of shape (3, rows, columns) that begins at a row of the stage.
Backdrop: TypeAlias = Callable[[Floats, int], None]
#: The row of the stage where it begins, and its color: encoded sRGB, shape (3, rows, columns).
Strip: TypeAlias = tuple[int, Floats]

_PIXELS = 1 << 15  # of a strip
_TALLEST = 256  # rows; the tile of noise has as many
_PAPER = 99  # seed of its noise


def strips(
    stage: Stage,
    backdrop: Backdrop,
    planes: Sequence[Plane],
    *,
    until: int | None = None,
    into: Floats | None = None,
) -> Iterator[Strip]:
    """Yield painted strips from the top down; the next one is painted into the same memory.

    Parameters
    ----------
    planes : sequence of Plane
        From the farthest to the nearest.
    until : int, optional
        Row of the stage where to stop; all rows without it.
    into : ndarray of float32, optional
        A canvas of shape (3, rows, columns) that takes them all, so that none is lost.
    """
    last = stage.rows if until is None else until
    tall = _tall(stage)
    canvas = np.empty((3, tall, stage.columns), np.float32) if into is None else into
    spans = [(plane.top, plane.bottom) for plane in planes]
    solid = [plane.solid_from() for plane in planes]
    for start in range(0, last, tall):
        stop = min(start + tall, last)
        first = 0 if into is None else start
        strip = canvas[:, first : first + stop - start]
        hiding = [
            number
            for number, (row, (_, bottom)) in enumerate(zip(solid, spans, strict=True))
            if row <= start and stop <= bottom
        ]
        seen = hiding[-1] + 1 if hiding else 0
        if hiding:
            nearest = planes[hiding[-1]]
            nearest.lay(strip, slice(start - nearest.top, stop - nearest.top), slice(None))
        else:
            backdrop(strip, start)
        for plane, (top, bottom) in zip(planes[seen:], spans[seen:], strict=True):
            if top < stop and start < bottom:
                over(strip, plane, first=start)
        yield start, strip


def gathered(stage: Stage, painted: Iterable[Strip], *, rows: int | None = None) -> Floats:
    """Return strips as one canvas, shape (3, rows, columns)."""
    canvas = np.empty((3, stage.rows if rows is None else rows, stage.columns), np.float32)
    for start, strip in painted:
        canvas[:, start : start + strip.shape[1]] = strip
    return canvas


def printed(stage: Stage, painted: Iterable[Strip], *, grain: float = 0.0) -> Bytes:
    """Return strips as an 8-bit picture without bands, shape (rows, columns, 3), RGB.

    Parameters
    ----------
    grain : float
        Strength of paper grain in steps of 8 bits; it is the same in all channels.
    """
    picture = np.empty((stage.rows, stage.columns, 3), np.uint8)
    noise = _paper(stage.columns, grain)
    side = noise.shape[1]
    for start, strip in painted:
        rows = slice(start % side, start % side + strip.shape[1])
        channels = [
            cv2.addWeighted(plane, 255.0, grains[rows], 1.0, 0.0, dtype=cv2.CV_8U)
            for plane, grains in zip(strip, noise, strict=True)
        ]
        cv2.merge(channels, picture[start : start + strip.shape[1]])
    return picture


@lru_cache(4)
def _paper(columns: int, grain: float) -> Floats:
    """Return what is added before rounding, in steps of 8 bits, shape (3, n, columns).

    It is the same for every picture, as the paper of prints is, and not made anew for each.
    """
    rng = np.random.default_rng(_PAPER)
    noise = noise_tile(rng)
    side = noise.shape[1]
    if grain:
        coarse = cv2.GaussianBlur(rng.standard_normal((side, side), np.float32), (0, 0), 0.7)
        noise = noise + grain * 1.6 * coarse
    paper = np.tile(noise, (1, 1, -(-columns // side)))[:, :, :columns].copy()
    paper.flags.writeable = False
    return paper


def _tall(stage: Stage) -> int:
    """Return how many rows a strip has: a power of 2, so that strips and noise start together."""
    rows = max(1, _PIXELS // stage.columns)
    return min(_TALLEST, 1 << (rows.bit_length() - 1))
