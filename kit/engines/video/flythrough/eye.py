"""The eye: what a camera above the land sees, drawn as the slices of its ground, near to far.

Slices are projected; what rises above everything nearer is seen. A whole frame is worked out in a
few array operations, without a loop over pixels, columns or slices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.video.flythrough.route import Station
from kit.engines.video.flythrough.terrain import SIDE

WIDEST = 0.62  # tangent from the middle of the frame to the nearer sides
_NEAR, _FAR = 5.0, 820.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What each pixel shows, by rows and columns.

    Parameters
    ----------
    inverse : ndarray of float32
        One over the distance along the view.
    x, y : ndarray of float32
        Where on the map the point lies.
    height : ndarray of float32
        And how high.
    sky : ndarray of bool
        Nothing but sky.
    skyline : ndarray of float32, shape (columns,)
        Row, to a part of a pixel, at which the land ends in each column.
    """

    inverse: Floats
    x: Floats
    y: Floats
    height: Floats
    sky: NDArray[np.bool_]
    skyline: Floats


class Eye:
    """A camera of a fixed size.

    Parameters
    ----------
    surface : ndarray of float32
        Heights of land and water, repeating at their edges.
    slices : int
        More of them show finer ridges.
    """

    def __init__(self, surface: Floats, columns: int, rows: int, slices: int) -> None:
        self._surface = surface
        self.columns, self.rows = columns, rows
        # A tall frame sees as much upward as a wide one sees to the sides, a little less.
        wide = WIDEST * min(1.0, (columns / rows) ** 0.6)
        self.focal = columns / 2 / wide
        self.across: Floats = np.linspace(-wide, wide, 2 * columns + 1, dtype=np.float32)[1::2]
        self._distance = _distances(slices)
        self._inverse = (1.0 / self._distance).astype(np.float32)
        self._column = np.arange(columns, dtype=np.int32)
        self._row = np.arange(rows, dtype=np.float32)[:, None]

    def look(self, at: Station) -> Seen:
        """Return what is seen from a place."""
        forward = (math.sin(at.heading), math.cos(at.heading))
        over_x = np.float32(forward[0]) + self.across * np.float32(forward[1])
        over_y = np.float32(forward[1]) - self.across * np.float32(forward[0])
        ways = ((over_x, np.float32(at.x % SIDE)), (over_y, np.float32(at.y % SIDE)))
        ground = self._sampled(*(_gone(self._distance[:, None], *way) for way in ways))
        ground -= np.float32(at.height)
        ground *= (np.float32(-self.focal) * self._inverse)[:, None]
        ground += np.float32(at.horizon * self.rows)
        tops = np.minimum.accumulate(ground, axis=0)
        inverse, sky = self._depth(ground, tops)
        away = np.asarray(np.float32(1) / inverse)
        x, y = (_gone(away, *way) for way in ways)
        height = _gone(away, self.up(at)[:, None], np.float32(at.height))
        return Seen(inverse, x, y, height, sky, tops[-1])

    def up(self, at: Station) -> Floats:
        """Return the tangent above the horizon of each row, shape (rows,)."""
        below = self._row[:, 0] - np.float32(at.horizon * self.rows)
        return np.asarray(below * np.float32(-1 / self.focal), np.float32)

    def _sampled(self, x: Floats, y: Floats) -> Floats:
        return np.asarray(
            cv2.remap(self._surface, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
        )

    def _depth(self, ground: Floats, tops: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return one over the distance of each pixel, between two slices, and where sky is."""
        count, columns = ground.shape
        first = np.clip(tops + np.float32(1), 0, self.rows).astype(np.int32)
        first *= columns
        first += self._column
        starts = np.bincount(first.ravel(), minlength=(self.rows + 1) * columns)
        reached = np.cumsum(
            starts[: self.rows * columns].reshape(self.rows, columns), axis=0, dtype=np.int32
        )
        number = count - reached
        sky = number >= count
        np.clip(number, 1, count - 1, out=number)
        flat = number * columns
        flat += self._column
        lower = np.take(tops, flat - columns)
        share = (lower - self._row) / np.maximum(lower - np.take(ground, flat), np.float32(1e-3))
        np.clip(share, 0.0, 1.0, out=share)
        before = np.take(self._inverse, number - 1)
        before += (np.take(self._inverse, number) - before) * share
        # The last row before a jump lies between a crest and the slope behind it, which no one
        # sees: it would draw a dark line around every hill.
        steps = np.diff(before, axis=0)
        jump = np.float32(2.5) * steps[1:] + np.float32(0.03) * before[1:-1]
        np.copyto(before[1:-1], before[2:], where=steps[:-1] > jump)
        return before, sky


def _gone(away: Floats, way: Floats, start: np.float32) -> Floats:
    """Return where something is that went a way, so far, from a start."""
    return np.asarray(away * way + start, np.float32)


def softened(picture: Bytes, sky: Bytes, skyline: Floats) -> None:
    """Blend land and sky in the two rows that the skyline runs through, in place.

    Parameters
    ----------
    sky : ndarray of uint8
        The sky alone; it reaches below the skyline's lowest row.
    """
    first = np.floor(skyline).astype(np.int32) + 1
    columns = np.flatnonzero((first >= 1) & (first < len(sky)))
    rows = first[columns]
    land = picture[rows, columns].astype(np.float32)
    for row in (rows - 1, rows):
        share = np.clip(row + 0.5 - skyline[columns], 0.0, 1.0)[:, None]
        behind = sky[row, columns]
        picture[row, columns] = behind + (land - behind) * share


def _distances(count: int) -> Floats:
    """Spread slices so that near ground and far ridges both get their part."""
    fine = np.geomspace(_NEAR, _FAR, 4096)
    density = 0.36 / fine**2 / (1 / _NEAR - 1 / _FAR) + 0.30 / fine / math.log(_FAR / _NEAR)
    density += 0.34 / (_FAR - _NEAR)
    share = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    return np.interp(np.linspace(0.0, share[-1], count), share, fine).astype(np.float32)


def textured(tile: Bytes, seen: Seen, scale: float, rows: slice) -> Bytes:
    """Return a tile on the ground, `scale` times as fine as the map, as some rows see it.

    It is pulled along where the ground rises, so that it does not smear down a cliff.
    """
    x = seen.x[rows] + seen.height[rows] * np.float32(0.32)
    y = seen.y[rows] - seen.height[rows] * np.float32(0.24)
    x *= np.float32(scale)
    y *= np.float32(scale)
    return np.asarray(cv2.remap(tile, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP))
