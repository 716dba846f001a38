"""Layers: a subject cut out of a picture, and the background that was behind it, made up.

A subject stays in blocks, as its background does, until the frame is complete: nothing is taken
apart twice.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.film.animate.relief import Blocks, blocks_of
from kit.engines.media.clip import rgb_frame, views
from kit.engines.media.color import Bytes
from kit.engines.media.cutout import clean_rim
from kit.engines.media.fill import erase

_WORK = 400  # pixels of the longer side at which the background is made up
_RIM = 0.005  # by which the subject is widened for that, as a share of the longer side
_TRACE = 12  # coverage from which on a pixel is not background
_EMPTY = 4  # pixels around a subject that are drawn as well; it is blurred by less
_FLAGS = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def background_of(pixels: Bytes, alpha: Bytes, seed: int, progress: Progress) -> Bytes:
    """Return a picture whose subject is replaced by what its surroundings suggest.

    It is done small: behind a subject little comes into view, and that for a moment. What is
    farther from the subject than three times the rim stays as it is.
    """
    height, width = alpha.shape
    # The rim goes with the subject: hair, and its color in some pixels of the air around it.
    rim = max(2, round(_RIM * max(height, width)))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * rim + 1, 2 * rim + 1))
    wide = cv2.dilate(np.where(alpha > _TRACE, np.uint8(255), np.uint8(0)), disc)
    scale = min(1.0, _WORK / max(height, width))
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    hidden = cv2.resize(wide, size, interpolation=cv2.INTER_AREA)
    hidden = np.where(hidden > 0, np.uint8(255), np.uint8(0))
    made = erase(small, hidden, seed, progress).pixels
    made = cv2.resize(made, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    # A blur of bounded reach, outside of the rim: all of it is gone under the subject's edge.
    share = cv2.blur(cv2.dilate(wide, disc), (2 * rim + 1, 2 * rim + 1))
    filled = pixels + (made - pixels) * (share[..., None] * np.float32(1 / 255))
    return np.asarray(np.clip(np.rint(filled), 0, 255), np.uint8)


class SubjectLayer:
    """A subject in front of a picture.

    Parameters
    ----------
    pixels, background : ndarray of uint8
        Shape (height, width, 3): the picture with the subject and without it.
    alpha : ndarray of uint8
        Shape (height, width): where the subject is.
    size : (width, height)
        At which it is shown; even.
    """

    def __init__(
        self, pixels: Bytes, background: Bytes, alpha: Bytes, size: tuple[int, int]
    ) -> None:
        # The colors that, laid over the background, give the picture again, or the nearest ones;
        # outside the subject's own go on, so that a part of a pixel's move shows no seam.
        color = clean_rim(pixels, alpha).copy()
        edge = (alpha > _TRACE) & (alpha < 255)
        share = alpha[edge][:, None] * np.float32(1 / 255)
        behind = background[edge].astype(np.float32)
        color[edge] = np.rint((pixels[edge] - (1 - share) * behind) / share).clip(0, 255)
        way = cv2.INTER_AREA if alpha.shape[1] > size[0] else cv2.INTER_CUBIC
        color, alpha = (
            np.asarray(cv2.resize(part, size, interpolation=way)) for part in (color, alpha)
        )
        half = np.asarray(cv2.resize(alpha, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
        luma, one, other = (
            np.asarray(cv2.multiply(plane, cover, scale=1 / 255))
            for plane, cover in zip(
                views(rgb_frame(color), *size), (alpha, half, half), strict=True
            )
        )
        color_blocks = blocks_of((luma, one, other))
        cover_blocks = blocks_of((alpha, half, half))
        self._parts = (
            (color_blocks.luma, cover_blocks.luma, 1.0),
            (color_blocks.chroma, cover_blocks.chroma, 0.5),
        )
        x, y, wide, high = cv2.boundingRect(alpha)
        # Where it touches the edge of the picture it goes on.
        self._box = [
            (first - _EMPTY if first > _EMPTY else -1e6, last + _EMPTY if last < most else 1e6)
            for first, last, most in zip(
                (x, y), (x + wide, y + high), (size[0] - _EMPTY, size[1] - _EMPTY), strict=True
            )
        ]

    def lay(self, blocks: Blocks, scale: float, x: float, y: float) -> None:
        """Lay the subject over a frame, in place: enlarged, then moved by some pixels."""
        spans = []
        for box, shift, count in zip(self._box, (x, y), blocks.luma.shape[1::-1], strict=True):
            first, last = (min(max((edge * scale + shift) / 2, 0.0), count) for edge in box)
            # Even, so that blocks of chroma fit.
            spans.append((int(first) & ~1, min(count, (int(np.ceil(last)) + 1) & ~1)))
        (left, right), (top, bottom) = spans
        if right <= left or bottom <= top:
            return
        for target, (color, cover, share) in zip(
            (blocks.luma, blocks.chroma), self._parts, strict=True
        ):
            # A block of luma is two by two pixels, one of chroma two by one over two of luma.
            high, first, last = 2 * share, round(left * share), round(right * share)
            across = (2 * (first + 0.5) - x * share) / scale - 1
            down = (high * (top + 0.5) - y * share) / scale - high / 2
            back = np.array([[2 / scale, 0.0, across], [0.0, high / scale, down]])
            size = (last - first, bottom - top)
            moved, covered = (
                cv2.warpAffine(part, back, size, flags=_FLAGS, borderMode=cv2.BORDER_REPLICATE)
                for part in (color, cover)
            )
            part = target[top:bottom, first:last]
            cv2.multiply(part, cv2.bitwise_not(covered), dst=part, scale=1 / 255)
            cv2.add(part, moved, dst=part)
