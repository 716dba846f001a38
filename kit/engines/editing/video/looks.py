"""Looks on moving pictures: the colors of the image editor's looks, and corners that get darker.

Colors change where frames are still RGB; the corners are those of the finished frame, whatever was
cropped before, so they are shaded last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.editing.picture.grading import graded
from kit.engines.editing.picture.looks import LOOKS
from kit.engines.media.clip import views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

#: Of one plane: how much of the picture is left, the rest, and the plane's black or gray.
_Shade: TypeAlias = tuple[Floats, Floats, Bytes]


class Grade:
    """A look for one clip.

    Parameters
    ----------
    name : str
        One of `LOOKS`; any other leaves everything as it is.
    size : (width, height)
        Of the finished frames.
    """

    def __init__(self, name: str, size: tuple[int, int]) -> None:
        look = LOOKS.get(name)
        self._size = size
        self._look = replace(look, vignette=0.0) if look else None
        self._shades = _shades(look.vignette, size) if look and look.vignette else []

    def colored(self, pixels: Bytes) -> Bytes:
        """Return an RGB picture, shape (height, width, 3), in the look's colors."""
        return pixels if self._look is None else graded(pixels, self._look)

    def shaded(self, frame: Bytes) -> Bytes:
        """Return a finished I420 frame with the look's corners; the one given is left alone."""
        if not self._shades:
            return frame
        out = np.empty_like(frame)
        planes = zip(views(frame, *self._size), views(out, *self._size), self._shades, strict=True)
        for source, target, (share, rest, dark) in planes:
            cv2.blendLinear(source, dark, share, rest, dst=target)
        return out


def _shades(amount: float, size: tuple[int, int]) -> list[_Shade]:
    width, height = size
    shades: list[_Shade] = []
    for wide, high, zero in ((width, height, 16), *[(width // 2, height // 2, 128)] * 2):
        rows = np.linspace(-1, 1, high, dtype=np.float32)[:, None]
        columns = np.linspace(-1, 1, wide, dtype=np.float32)[None, :]
        share = 1 - np.float32(amount) * smooth_step(0.5, 2.0, rows**2 + columns**2)
        share = np.ascontiguousarray(share, np.float32)
        shades.append((share, 1 - share, np.full((high, wide), zero, np.uint8)))
    return shades
