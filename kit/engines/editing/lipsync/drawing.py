"""Drawing a speaker: one look-up takes every pixel from where head, lids and mouth put it.

The three moves are chained as maps and the picture is sampled once, so that it stays as sharp as
it was and, away from the face, is not touched at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.editing.lipsync.head import REACH as HEAD_REACH
from kit.engines.editing.lipsync.head import Posture, carried
from kit.engines.editing.lipsync.lids import Eye, closable, find_eyes, lashes, shut
from kit.engines.editing.lipsync.lips import Colors, Lips, colors_of
from kit.engines.editing.lipsync.mouth import Shape, inner_reach_of, inside, pull, reach_of
from kit.engines.editing.lipsync.pose import Box, Pose, filled, step_for
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Point

#: Rows and columns of a picture.
Area: TypeAlias = tuple[slice, slice]

#: Room for what the head may carry into a part of the picture, in face units.
_SWAY = 18.0


@dataclass(frozen=True, slots=True)
class Speaker:
    """What stays the same of a face while it speaks; all in face units.

    Parameters
    ----------
    eyes : tuple of Eye
        Those that can blink without looking odd: two or none.
    """

    lips: Lips
    colors: Colors
    eyes: tuple[Eye, ...] = ()

    def lowered(self, by: float) -> Speaker:
        """Return the speaker with its mouth lower by some face units."""
        lips = replace(
            self.lips,
            upper=(self.lips.upper[0] + by, *self.lips.upper[1:]),
            lower=(self.lips.lower[0] + by, *self.lips.lower[1:]),
        )
        return replace(self, lips=lips)


def speaker_of(
    pixels: Bytes, pose: Pose, lips: Lips, eyes: tuple[Point, Point] | None = None
) -> Speaker:
    """Return the speaker in a picture; eyes are in pixels."""
    found = None if eyes is None else find_eyes(pixels, pose, eyes)
    sure = found is not None and closable(pixels, pose, found)
    return Speaker(lips, colors_of(pixels, pose, lips), (found or ()) if sure else ())


class Portrait:
    """A still picture that speaks.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    """

    def __init__(self, pixels: Bytes, pose: Pose, speaker: Speaker) -> None:
        self._pixels, self._pose, self._speaker = pixels, pose, speaker
        self._area = area_of(pose, HEAD_REACH, pixels.shape)
        self._x, self._y = units_of(pose, self._area)

    def frame(self, shape: Shape, posture: Posture, lids: float) -> Bytes:
        """Return the picture at one moment; lids from 0, open, to 1, shut."""
        if not self._x.size:
            return self._pixels.copy()

        def moves(x: Floats, y: Floats) -> tuple[Floats, Floats]:
            return carried(x, y, posture)

        # A head is a larger thing than a mouth, and its moves are smoother.
        step = step_for(2 * self._pose.unit)
        across, along = filled(moves, self._x, self._y, step)
        places = (self._x + across, self._y + along)
        return _drawn(self._pixels, self._pose, self._speaker, self._area, places, shape, lids)


def spoken(pixels: Bytes, pose: Pose, speaker: Speaker, shape: Shape) -> Bytes:
    """Return a picture, such as a frame of a video, with only its mouth moved."""
    area = area_of(pose, reach_of(speaker.lips), pixels.shape)
    x, y = units_of(pose, area)
    if not x.size:
        return pixels.copy()
    return _drawn(pixels, pose, speaker, area, (x, y), shape, 0.0)


def area_of(pose: Pose, box: Box, shape: tuple[int, ...]) -> Area:
    """Return the rows and columns of a picture that hold a box in face units; they may be none."""
    left, top, right, bottom = box
    corners = [(x, y) for x in (left, right) for y in (top, bottom)]
    places = np.array([pose.to_pixels(corner) for corner in corners])
    low, high = np.floor(places.min(axis=0)).astype(int), np.ceil(places.max(axis=0)).astype(int)
    height, width = shape[:2]
    columns, rows = (
        slice(min(max(int(a), 0), most), min(max(int(b) + 1, 0), most))
        for a, b, most in zip(low, high, (width, height), strict=True)
    )
    return rows, columns


def units_of(pose: Pose, area: Area) -> tuple[Floats, Floats]:
    """Return where the pixels of an area are, in face units."""
    rows, columns = area
    back = cv2.invertAffineTransform(pose.matrix()).astype(np.float32)
    across = np.arange(columns.start, columns.stop, dtype=np.float32)
    along = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None]
    x, y = (row[0] * across + (row[1] * along + row[2]) for row in back)
    return x, y


def _drawn(
    pixels: Bytes,
    pose: Pose,
    speaker: Speaker,
    area: Area,
    places: tuple[Floats, Floats],
    shape: Shape,
    lids: float,
) -> Bytes:
    x, y = places
    source_x, source_y = x.copy(), y.copy()
    part = _part(pose, reach_of(speaker.lips), area, pixels.shape)
    source_x[part], source_y[part] = pull(
        source_x[part], source_y[part], speaker.lips, shape, step=step_for(pose.unit)
    )
    out = pixels.copy()
    out[area] = _sampled(pixels, pose, source_x, source_y)
    for eye in speaker.eyes if lids > 0 else ():
        part = _part(pose, eye.reach(), area, pixels.shape)
        _close(pixels, pose, out[area][part], (x[part], y[part]), eye, lids)
        cover = lashes(x[part], y[part], eye, lids, sharp=pose.unit)
        _paint(out[area][part], speaker.colors.dark, cover)
    part = _part(pose, inner_reach_of(speaker.lips), area, pixels.shape)
    painted = inside(x[part], y[part], speaker.lips, shape, speaker.colors, sharp=pose.unit)
    if painted is not None:
        _paint(out[area][part], painted.color, painted.cover)
    return out


def _close(
    pixels: Bytes, pose: Pose, under: Bytes, places: tuple[Floats, Floats], eye: Eye, lids: float
) -> None:
    """Lay the skin of a lid over part of a picture, in place."""
    if not under.size:
        return
    x, y = places
    lid = shut(x, y, eye, lids)
    skin = _sampled(pixels, pose, np.ascontiguousarray(x), lid.source_y) * lid.light
    _paint(under, skin, lid.cover)


def _paint(under: Bytes, color: Floats, cover: Floats) -> None:
    """Lay a color over part of a picture, in place."""
    mixed = under + (color - under) * cover[:, :, None]
    under[:] = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)


def _part(pose: Pose, box: Box, area: Area, shape: tuple[int, ...]) -> Area:
    """Return the part of an area that holds a box, with room for the head's moves."""
    left, top, right, bottom = box
    room = (left - _SWAY, top - _SWAY, right + _SWAY, bottom + _SWAY)
    found = area_of(pose, room, shape)
    rows, columns = (
        slice(
            min(max(part.start, whole.start), whole.stop) - whole.start,
            min(max(part.stop, whole.start), whole.stop) - whole.start,
        )
        for part, whole in zip(found, area, strict=True)
    )
    return rows, columns


def _sampled(pixels: Bytes, pose: Pose, x: Floats, y: Floats) -> Bytes:
    (a, b, c), (d, e, f) = pose.matrix()
    return np.asarray(
        cv2.remap(
            pixels,
            cv2.addWeighted(x, float(a), y, float(b), float(c)),
            cv2.addWeighted(x, float(d), y, float(e), float(f)),
            cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )
    )
