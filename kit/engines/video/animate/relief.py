"""Reliefs: a picture with a depth for each pixel, seen by a camera that moves a little.

The planes of YUV are looked up where each pixel comes from: near ones from farther away than far
ones. The maps for that are sums of fields that are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.clip import rgb_frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.video.camera import REACH, View
from kit.engines.video.filming import Take
from kit.engines.video.sheets import Frame, views

#: What a guessed depth stands: more would tear the picture.
STRENGTH = 0.42
#: The same for a zoom, which uncovers less.
GROWTH = 0.62

#: Luma, and both chromas as pairs at half the size.
Planes: TypeAlias = tuple[Bytes, Bytes]
#: Adds its own shifts to the maps of one size, columns and rows; 1 is the full size, 0.5 half.
Swell: TypeAlias = Callable[[tuple[Floats, Floats], float], None]
#: Of one size of plane: columns and rows; shares of a shift; shares of a zoom, across and down.
_Fields: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]


class Relief:
    """A depth for each pixel, through which a picture is seen from places near its own.

    Parameters
    ----------
    depth : ndarray of float32
        Shape (height, width), of the frame's shape, 0 for far and 1 for near.
    """

    def __init__(self, depth: Floats, take: Take) -> None:
        self._take = take
        self.width, self.height = width, height = large(take)
        edge = ((width - take.width) // 2, (height - take.height) // 2)
        near = cv2.resize(depth, (width, height), interpolation=cv2.INTER_LINEAR)
        near = near[edge[1] : edge[1] + take.height, edge[0] : edge[0] + take.width]
        near = cv2.GaussianBlur(near, (0, 0), 0.004 * max(take.width, take.height))
        self._full = _fields(near, edge, 1.0)
        half = cv2.resize(near, (take.width // 2, take.height // 2), interpolation=cv2.INTER_AREA)
        self._half = _fields(half, edge, 0.5)
        self._maps = tuple(
            (np.empty_like(fields[0]), np.empty_like(fields[0]))
            for fields in (self._full, self._half)
        )

    def planes(self, pixels: Bytes) -> Planes:
        """Return a picture as `draw` takes it: larger than the frame, by what a camera needs.

        Parameters
        ----------
        pixels : ndarray of uint8
            Shape (height, width, 3), of the frame's shape.
        """
        size = (self.width, self.height)
        way = cv2.INTER_AREA if pixels.shape[1] > self.width else cv2.INTER_CUBIC
        luma, one, other = views(rgb_frame(cv2.resize(pixels, size, interpolation=way)), *size)
        # The two chromas go the same way, so they are looked up as one plane of pairs.
        return luma.copy(), cv2.merge([one, other])

    def draw(self, frame: Frame, planes: Planes, seen: View, swell: Swell | None = None) -> None:
        """Draw a picture as a camera sees it, over all of a frame.

        Parameters
        ----------
        swell : Swell, optional
            What else moves the places that pixels come from.
        """
        shift_x = -seen.x * STRENGTH * self._take.width
        shift_y = -seen.y * STRENGTH * self._take.height
        zoom = -seen.zoom * GROWTH
        full, half = (
            _mapped(fields, maps, (shift_x * share, shift_y * share, zoom))
            for fields, maps, share in zip(
                (self._full, self._half), self._maps, (1.0, 0.5), strict=True
            )
        )
        if swell is not None:
            swell(full, 1.0)
            swell(half, 0.5)
        luma, chroma = planes
        cv2.remap(luma, *full, cv2.INTER_LINEAR, dst=frame[0], borderMode=cv2.BORDER_REPLICATE)
        colors = cv2.remap(chroma, *half, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        cv2.split(colors, [frame[1], frame[2]])


def large(take: Take) -> tuple[int, int]:
    """Return the width and height of a picture that leaves a camera its margins; both even."""
    over = 1 + 2 * (0.01 + STRENGTH * take.motion * max(REACH))
    return 2 * round(take.width * over / 2), 2 * round(take.height * over / 2)


def _fields(near: Floats, edge: tuple[int, int], share: float) -> _Fields:
    height, width = near.shape
    columns = np.broadcast_to(np.arange(width, dtype=np.float32), near.shape)
    rows = np.broadcast_to(np.arange(height, dtype=np.float32)[:, None], near.shape)
    move = np.ascontiguousarray(near, np.float32)
    # The far parts come nearer too, but less: a push that leaves them still looks like glue.
    grow = 0.30 + 0.70 * move
    return (
        np.ascontiguousarray(columns + np.float32(edge[0] * share)),
        np.ascontiguousarray(rows + np.float32(edge[1] * share)),
        move,
        np.ascontiguousarray((columns - np.float32(width / 2)) * grow),
        np.ascontiguousarray((rows - np.float32(0.52 * height)) * grow),
    )


def _mapped(
    fields: _Fields, maps: tuple[Floats, Floats], amounts: tuple[float, float, float]
) -> tuple[Floats, Floats]:
    columns, rows, move, across, down = fields
    shift_x, shift_y, zoom = amounts
    cv2.scaleAdd(move, shift_x, columns, dst=maps[0])
    cv2.scaleAdd(across, zoom, maps[0], dst=maps[0])
    cv2.scaleAdd(move, shift_y, rows, dst=maps[1])
    cv2.scaleAdd(down, zoom, maps[1], dst=maps[1])
    return maps
