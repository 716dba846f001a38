"""Stages: how parts of a painting are found again in the planes that a camera looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.painting import Window


class Stirring(Protocol):
    """Something that moves in the planes of a painting."""

    @property
    def rows(self) -> int:
        """Row below which nothing of it is."""

    def light_up(self, planes: Frame) -> None:
        """Look at the planes in which it is drawn next, as they are painted: to be called first."""

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw a moment, 0 to 1 of the clip, in place, over planes that show none yet."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The planes of a painting.

    Parameters
    ----------
    width, height : int
        Of the luma, even.
    painted : tuple of int
        Rows and columns of the painting.
    away : ndarray of float32 or None
        How far away each pixel of the painting is; None where nothing stands before the sky.
    """

    width: int
    height: int
    painted: tuple[int, int]
    away: Floats | None
    take: Take

    @property
    def scale(self) -> float:
        """Pixels of the luma for one of the painting."""
        return self.width / self.painted[1]

    @property
    def haste(self) -> float:
        """Factor on the speed of what drifts, by how much is to move; 1 by default."""
        return 0.4 + self.take.motion

    @property
    def drop(self) -> float:
        """Factor on the speed of what falls: less motion does not lift gravity."""
        return 0.7 + 0.5 * self.take.motion

    def window(self, part: Window, step: int = 2) -> Window:
        """Return the rows and columns of the luma where a part of the painting is.

        All four are multiples of `step`; there are at least two steps of each.
        """
        ends = []
        for side, most in zip(part, (self.height, self.width), strict=True):
            first = int(side.start * self.scale) // step * step
            last = -int(-side.stop * self.scale) // step * step + step
            last = min(last, most // step * step)
            ends.append(slice(max(0, min(first, last - 2 * step)), last))
        return ends[0], ends[1]

    def found(
        self, part: Floats, at: Window, window: Window, step: int = 1, *, beyond: bool = False
    ) -> Floats:
        """Return a part of the painting as it lies in a window of the luma.

        Parameters
        ----------
        part : ndarray of float32
            Of the shape of `at`, or smaller.
        at : tuple of slice
            Where it is in the painting.
        step : int
            Pixels of the luma for one of what is returned.
        beyond : bool
            Whether it goes on over its edges; else there is nothing.
        """
        maps = []
        for side, own, length in zip(window, at, part.shape, strict=True):
            middle = np.arange(side.start, side.stop, step, dtype=np.float32) + np.float32(step / 2)
            share = (middle / np.float32(self.scale) - own.start) / (own.stop - own.start)
            maps.append(np.asarray(share * np.float32(length) - np.float32(0.5), np.float32))
        rows, columns = np.meshgrid(*maps, indexing="ij")
        border = cv2.BORDER_REPLICATE if beyond else cv2.BORDER_CONSTANT
        return np.asarray(cv2.remap(part, columns, rows, cv2.INTER_LINEAR, borderMode=border))

    def shown(self, window: Window, step: int = 1, *, away: float = 1e9) -> Floats:
        """Return where nothing stands before what is that far away, 0 to 1."""
        whole = slice(0, self.painted[0]), slice(0, self.painted[1])
        free = np.ones(self.painted, np.float32) if self.away is None else self.away > away
        return self.found(np.asarray(free, np.float32), whole, window, step, beyond=True)


def inside(planes: Frame, window: Window) -> Frame:
    """Return views of a window of planes; its rows and columns are even."""
    rows, columns = window
    half = tuple(slice(side.start // 2, side.stop // 2) for side in window)
    return planes[0][rows, columns], planes[1][half], planes[2][half]


def around(mask: Floats, least: float) -> Window | None:
    """Return the rows and columns that hold all that a mask shows, None where it shows nothing."""
    spots = np.asarray(mask > least)
    ends: Sequence[slice] = [
        slice(int(found[0]), int(found[-1]) + 1)
        for found in (np.flatnonzero(spots.any(axis=1 - axis)) for axis in (0, 1))
        if len(found)
    ]
    return (ends[0], ends[1]) if len(ends) == 2 else None


def add(plane: Bytes, change: Floats, amount: float = 1.0) -> None:
    """Add a multiple of a change to a plane, in place; the change may be smaller."""
    if change.shape != plane.shape:
        change = np.asarray(cv2.resize(change, plane.shape[::-1], interpolation=cv2.INTER_LINEAR))
    plane[...] = cv2.addWeighted(plane, 1.0, change, amount, 0.0, dtype=cv2.CV_8U)
