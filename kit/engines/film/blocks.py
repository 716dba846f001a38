"""Blocks: planes of YUV of which each pixel carries its neighbors, so that a warp looks up fewer.

A block of luma is two by two pixels; a block of chroma is two pixels of each of its planes. Its
middle lies half a pixel to the right of its pixel's, and in luma half a pixel below it, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes


@dataclass(frozen=True, slots=True)
class Blocks:
    """The planes of a picture in blocks, shape (height, width, 4) each."""

    luma: Bytes
    chroma: Bytes

    def spread(self, frame: Frame) -> None:
        """Write the pixels into a frame that is twice as wide and high as there are blocks."""
        height, width = frame[0].shape
        rows = frame[0].view(np.uint16).reshape(height // 2, 2, width // 2)
        for number, half in enumerate(cv2.split(self.luma[:, : width // 2].view(np.uint16))):
            rows[:, number] = half
        for plane, half in zip(frame[1:], cv2.split(self.chroma.view(np.uint16)), strict=True):
            plane[:] = half.view(np.uint8)[:, : plane.shape[1]]


def blocks_of(planes: Frame) -> Blocks:
    """Return the planes of a picture in blocks."""
    luma = np.empty((*planes[0].shape, 4), np.uint8)
    fill_quads(bordered(planes[0]), luma)
    return Blocks(luma, pairs(planes[1], planes[2]))


def bordered(plane: Bytes) -> Bytes:
    """Return a plane with its last row and column once more, so that all pixels have neighbors."""
    return np.asarray(cv2.copyMakeBorder(plane, 0, 1, 0, 1, cv2.BORDER_REPLICATE))


def fill_quads(wide: Bytes, out: Bytes) -> None:
    """Write a plane, or some rows of it, one row and one column larger, into its blocks."""
    cv2.merge([wide[:-1, :-1], wide[:-1, 1:], wide[1:, :-1], wide[1:, 1:]], out)


def pairs(one: Bytes, other: Bytes) -> Bytes:
    """Return two planes as one, of which each pixel carries its neighbor to the right."""
    wide = [cv2.copyMakeBorder(plane, 0, 0, 0, 1, cv2.BORDER_REPLICATE) for plane in (one, other)]
    return np.asarray(cv2.merge([part for plane in wide for part in (plane[:, :-1], plane[:, 1:])]))
