"""Seen: what each pixel of a frame shows, and where one ridge ends before another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats


@dataclass(frozen=True, slots=True)
class Seen:
    """What each pixel shows, by columns and by rows, from above the highest land on.

    Parameters
    ----------
    first : int
        The first of these rows, an even one.
    away, inverse : ndarray of float32
        The distance along the view, and one over it.
    x, y : ndarray of float32
        Where in the world the point lies.
    height : ndarray of float32
        And how high.
    sky : ndarray of bool
        Nothing but sky.
    edges : tuple of three ndarrays
        Row (of the frame) and column of every pixel under which a ridge ends, and how many rows
        below the ridge's true edge that row lies, 0 to 1.
    """

    first: int
    away: Floats
    inverse: Floats
    x: Floats
    y: Floats
    height: Floats
    sky: NDArray[np.bool_]
    edges: tuple[NDArray[np.intp], NDArray[np.intp], Floats]


def softened(picture: Bytes, seen: Seen) -> None:
    """Blend every ridge with what lies behind it in the two rows that its edge runs through.

    It is done in place.

    Parameters
    ----------
    picture : ndarray of uint8
        Shape (rows, columns).
    """
    rows, columns, share = seen.edges
    land = picture[rows, columns].astype(np.float32)
    behind = picture[rows - 1, columns].astype(np.float32)
    land -= behind
    for row, offset in ((rows, 0.5), (rows - 1, -0.5)):
        covered = np.clip(share + np.float32(offset), 0.0, 1.0)
        picture[row, columns] = behind + land * covered
