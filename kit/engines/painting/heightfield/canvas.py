"""Picture: what a frame is drawn on, brightness at full size and color at half, as films keep them.

Brightness and colors are YCbCr in full range. Mixing them is the same as mixing RGB, at half the
cost; what is fine makes ground lighter and darker and leaves its color alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.clip import views
from kit.engines.media.color import YUV, Bytes, Floats

_BAND = 64  # rows
#: A film's brightness and colors have 219 and 224 steps, the former from 16 on.
_LUMA, _CHROMA = (219 / 255, 16.0), (224 / 255, 128 * (1 - 224 / 255))
#: From RGB to brightness, red and blue in full range.
_FULL = np.column_stack(
    [YUV[[0, 2, 1], :3] / np.array([[_LUMA[0]], [_CHROMA[0]], [_CHROMA[0]]]), [0, 128, 128]]
).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Picture:
    """Planes of a picture, which are changed in place.

    Parameters
    ----------
    luma : ndarray of uint8
        Shape (rows, columns), both even.
    red, blue : ndarray of uint8
        How much redder and bluer than gray, half as high and half as wide.
    """

    luma: Bytes
    red: Bytes
    blue: Bytes

    def below(self, row: int) -> Picture:
        """Return what lies below an even row, as a view."""
        half = row // 2
        return Picture(self.luma[row:], self.red[half:], self.blue[half:])

    def above(self, row: int) -> Picture:
        """Return what lies above an even row, as a view."""
        half = row // 2
        return Picture(self.luma[:row], self.red[:half], self.blue[:half])

    def copy(self, other: Picture) -> None:
        """Become the same as another picture of this size."""
        self.luma[:], self.red[:], self.blue[:] = other.luma, other.red, other.blue

    def blend(self, other: Picture, shares: tuple[Floats, Floats]) -> None:
        """Lay another picture over it.

        Parameters
        ----------
        shares : tuple of two ndarrays of float32
            How much of the other one is seen, 0 to 1: at full and at half size.
        """
        rest = [np.float32(1) - share for share in shares]
        _mix(self.luma, other.luma, rest[0], shares[0])
        _mix(self.red, other.red, rest[1], shares[1])
        _mix(self.blue, other.blue, rest[1], shares[1])

    def small(self) -> Bytes:
        """Return it at half the size, shape (rows / 2, columns / 2, 3)."""
        return np.asarray(cv2.merge([halved(self.luma), self.red, self.blue]))

    def frame(self, width: int, height: int) -> Bytes:
        """Return it enlarged as an I420 frame, shape (height * 3 / 2, width)."""
        out = np.empty((height * 3 // 2, width), np.uint8)
        sources = (self.luma, self.blue, self.red)
        ranges = (_LUMA, _CHROMA, _CHROMA)
        for source, target, (scale, start) in zip(
            sources, views(out, width, height), ranges, strict=True
        ):
            limited = cv2.convertScaleAbs(source, alpha=scale, beta=start)
            cv2.resize(limited, target.shape[::-1], dst=target, interpolation=cv2.INTER_CUBIC)
        return out


def bands(rows: int) -> Iterator[slice]:
    """Yield rows a few at a time, so that all that is made of them stays in the cache."""
    for row in range(0, rows, _BAND):
        yield slice(row, min(row + _BAND, rows))


def toned(colors: Bytes) -> Bytes:
    """Return RGB, with a fourth channel that stays, as a picture is made of: see `picture_of`."""
    planes = cv2.split(cv2.transform(np.ascontiguousarray(colors[..., :3]), _FULL))
    rest = colors[..., 3] if colors.shape[2] > 3 else np.zeros_like(planes[0])
    return np.asarray(cv2.merge([*planes, rest]))


def picture_of(planes: Bytes) -> tuple[Picture, Bytes]:
    """Return a picture and the fourth channel of what `toned` returned, of even size."""
    luma, _, _, rest = cv2.split(planes)
    _, red, blue, _ = cv2.split(halved(planes))
    return Picture(np.asarray(luma), np.asarray(red), np.asarray(blue)), np.asarray(rest)


def empty(rows: int, columns: int) -> Picture:
    """Return a picture of an even size, with nothing in it yet."""
    half = (rows // 2, columns // 2)
    return Picture(
        np.empty((rows, columns), np.uint8), np.empty(half, np.uint8), np.empty(half, np.uint8)
    )


def striped(colors: Bytes, rows: int) -> Picture:
    """Return an even number of rows, in which each column has its color, shape (columns, 3)."""
    out = empty(rows, len(colors))
    out.luma[:] = colors[:, 0]
    out.red[:], out.blue[:] = colors[::2, 1], colors[::2, 2]
    return out


def halved(plane: NDArray[Any]) -> NDArray[Any]:
    """Return a plane of even size, with channels or without, at half its size."""
    rows, columns = plane.shape[:2]
    return np.asarray(cv2.resize(plane, (columns // 2, rows // 2), interpolation=cv2.INTER_AREA))


def _mix(plane: Bytes, other: Bytes, rest: Floats, share: Floats) -> None:
    cv2.blendLinear(plane, other, rest, share, dst=plane)
