"""Subjects: what was cut out of a picture, laid over its background block by block.

Everything stays in blocks until the frame is complete, so that nothing is taken apart twice.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from kit.engines.film.animate.layers import Layers, sheet_of
from kit.engines.film.blocks import Blocks, pairs, quads
from kit.engines.film.sheets import Matrix
from kit.engines.media.color import Bytes

_EMPTY = 4  # pixels around a subject that are drawn as well; it is blurred by less
_FLAGS = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


class Subject:
    """A subject in front of a picture.

    Parameters
    ----------
    layers : Layers
        At the size at which the frame shows them; both sides even.
    """

    def __init__(self, layers: Layers, rng: np.random.Generator) -> None:
        sheet = sheet_of(layers, rng)
        luma, one, other = sheet.color
        self._color = Blocks(quads(luma), pairs(one, other))
        self._cover = Blocks(quads(sheet.alpha), pairs(sheet.half, sheet.half))
        self._extent = tuple(_extent(sheet.alpha.max(axis=axis)) for axis in (0, 1))

    def lay(self, blocks: Blocks, matrix: Matrix) -> None:
        """Lay the subject over a frame, in place.

        Parameters
        ----------
        matrix : ndarray
            Shape (2, 3): from a place in the subject's layer to its place in the frame.
        """
        rows, columns = blocks.luma.shape[:2]
        (left, right), (top, bottom) = (
            _drawn(extent, line, count)
            for extent, line, count in zip(
                self._extent, _lines(matrix), (columns, rows), strict=True
            )
        )
        if right <= left or bottom <= top:
            return
        # A block of chroma lies over two of luma.
        parts = (
            (blocks.luma, self._color.luma, self._cover.luma, (2.0, 2.0), left, right),
            (
                blocks.chroma,
                self._color.chroma,
                self._cover.chroma,
                (2.0, 1.0),
                left // 2,
                right // 2,
            ),
        )
        for number, (target, color, cover, size, first, last) in enumerate(parts):
            back = _back(matrix, size, (first, top), 0.5 if number else 1.0)
            extent = (last - first, bottom - top)
            _blend(
                target[top:bottom, first:last],
                *(_moved(part, back, extent) for part in (color, cover)),
            )


def _blend(target: Bytes, color: Bytes, cover: Bytes) -> None:
    cv2.multiply(target, cv2.bitwise_not(cover), dst=target, scale=1 / 255)
    cv2.add(target, color, dst=target)


def _moved(blocks: Bytes, back: Matrix, size: tuple[int, int]) -> Bytes:
    return np.asarray(
        cv2.warpAffine(blocks, back, size, flags=_FLAGS, borderMode=cv2.BORDER_REPLICATE)
    )


def _back(
    matrix: Matrix, size: tuple[float, float], first: tuple[int, int], share: float
) -> Matrix:
    """Return the way from blocks of a frame, counted from the first one, to those of a layer.

    Parameters
    ----------
    size : tuple of float
        Pixels of the plane in a block, across and down.
    share : float
        Of the frame's width that the plane has.
    """
    rows = []
    for (scale, shift), side, start in zip(_lines(matrix), size, first, strict=True):
        middle = side * (start + 0.5)
        rows.append((side / scale, (middle - shift * share) / scale - side / 2))
    (x, left), (y, top) = rows
    return np.array([[x, 0.0, left], [0.0, y, top]])


def _lines(matrix: Matrix) -> Iterator[tuple[float, float]]:
    """Yield scale and shift, across and down."""
    yield from ((float(matrix[axis, axis]), float(matrix[axis, 2])) for axis in (0, 1))


def _extent(covered: Bytes) -> tuple[float, float]:
    """Return where a subject begins and ends along a side; endless where it touches the edge."""
    found = np.flatnonzero(covered)
    first, last = (int(found[0]), int(found[-1]) + 1) if len(found) else (len(covered), 0)
    return (
        first - _EMPTY if first > _EMPTY else -np.inf,
        last + _EMPTY if last + _EMPTY < len(covered) else np.inf,
    )


def _drawn(extent: tuple[float, float], line: tuple[float, float], count: int) -> tuple[int, int]:
    """Return the first of a number of blocks that a subject touches, and the one after its last.

    Both are even, so that blocks of chroma fit, but for the end of an uneven number.
    """
    scale, shift = line
    first, last = (min(max((place * scale + shift) / 2, 0.0), count) for place in extent)
    return int(first) & ~1, min(count, (int(np.ceil(last)) + 1) & ~1)
