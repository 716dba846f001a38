"""Mirrors: still water shows what moves above it, where its painter says that it shows it."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.film.living.stage import Stage, add, around, inside
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.land import motion as stirring

_STEP = 2  # water is looked up at half the size, where chroma is
_BEFORE = 0.97  # what is nearer than this share of the water's distance stands before it
_FAINT = 0.02
_FILM = 0.6  # exponent: film shows half of a light as more than half as bright


class Mirror:
    """Still water under something that moves.

    Parameters
    ----------
    rows : int
        Row of the luma below which nothing moves by itself.

    Attributes
    ----------
    rows : int
        Row below which it shows none of it.
    """

    def __init__(self, water: stirring.Water, stage: Stage, rows: int) -> None:
        at = water.rows, slice(0, stage.painted[1])
        window = stage.window(at, _STEP)
        free = water.away > _BEFORE * water.level
        share = np.asarray(np.clip(water.share, 0.0, 1.0) ** _FILM * free, np.float32)
        columns, lines, share = (
            stage.found(np.ascontiguousarray(part), at, window, _STEP, beyond=True)
            for part in (water.columns, water.lines, share)
        )
        scale = np.float32(stage.scale / _STEP)
        columns, lines = ((part + 0.5) * scale - 0.5 for part in (columns, lines))
        self._above = rows = min(rows, window[0].start) // _STEP * _STEP
        share *= lines < rows / _STEP
        part = around(share, _FAINT) or (slice(0, 1), slice(0, 1))
        self._share = np.ascontiguousarray(share[part])
        self._columns, self._lines = (
            np.ascontiguousarray(places[part]) for places in (columns, lines)
        )
        down, across = (
            slice(side.start + _STEP * own.start, side.start + _STEP * own.stop)
            for side, own in zip(window, part, strict=True)
        )
        self._window = down, across
        self.rows = down.stop if around(share, _FAINT) and rows else 0

    def draw(self, planes: Frame, before: Frame) -> None:
        """Draw what has changed in some planes upside down into their water, in place.

        Parameters
        ----------
        before : Frame
            The planes in which nothing has moved yet.
        """
        luma, blue, red = inside(planes, self._window)
        half = self._above // _STEP
        add(luma, self._mirrored(_halved(planes[0], half), _halved(before[0], half)))
        for part, now, was in zip((blue, red), planes[1:], before[1:], strict=True):
            add(part, self._mirrored(now[:half], was[:half]))

    def _mirrored(self, now: Bytes, was: Bytes) -> Floats:
        change = cv2.subtract(now, was, dtype=cv2.CV_32F)
        none = cv2.BORDER_CONSTANT
        seen = cv2.remap(change, self._columns, self._lines, cv2.INTER_LINEAR, borderMode=none)
        return np.asarray(cv2.multiply(seen, self._share, dst=seen))


def _halved(luma: Bytes, rows: int) -> Bytes:
    size = (luma.shape[1] // _STEP, rows)
    above = luma[: rows * _STEP, : size[0] * _STEP]
    return np.asarray(cv2.resize(above, size, interpolation=cv2.INTER_AREA))
