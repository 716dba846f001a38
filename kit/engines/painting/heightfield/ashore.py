"""Ashore: land that rises from water, in the colors of where it stands.

Land is seen as if it rose evenly from one slice of the ground to the next. Where the first one lies
in water and the next one on a steep shore, each pair of slices would be a bead of its own; there a
line of sight is followed on, over the water and the beach, to where it meets the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.camera import Eye
from kit.engines.painting.heightfield.patches import Atlas
from kit.engines.painting.heightfield.terrain import Station
from kit.engines.painting.heightfield.visible import Seen

OPEN = 128.0  # in the fourth channel of a land's colors: neither under water nor under trees
SWING = 10.0  # smooth enlarging swings so far to the other side of what is neither
_FOOT = 0.3  # units above the water from which there can be none
_HEAD = 30.0  # and up to which a shore's pair of slices may reach
#: Shares of its distance behind a place at which the ground is looked for: slices lie so far apart.
_BEHIND = (0.0, 0.006, 0.013, 0.021, 0.030, 0.040)
#: And behind where it is met, at the foot of a wall whose colors run into those of the water.
_INLAND = (0.0, 0.003, 0.006, 0.010, 0.020, 0.038)
_BEACH, _PAST = 2.0, 0.010  # units above the water over which there is none; share that passes it
_ABOVE = 20  # parts of the frame's height: so far above what rises from water goes its slice on
_FAR_SHORE = 700.0  # units from which it is lost in the air
_FAR_BEAD = 480.0  # and from which a pair of slices is hardly higher than a pixel
_TOUCH = 0.1  # units above the ground at which a line of sight has met it
_FINE = 0.0015  # or so much of the distance, which is less than a pixel
_MOST = 30_000  # pixels that can be looked up in one go


def bring_ashore(
    colors: Bytes, atlas: Atlas, eye: Eye, seen: Seen, at: Station, water: float
) -> None:
    """Give what rises from water the colors of the land that it shows, in place.

    Parameters
    ----------
    colors : ndarray of uint8
        Of each pixel of `seen`, shape (rows, columns, 4); see `Atlas.seen`.
    water : float
        Height of the water.
    """
    place = _rising(colors, seen, water)
    for start in range(0, len(place), _MOST):
        _bring(place[start : start + _MOST], colors, atlas, eye, seen, at, water)


def _bring(
    place: NDArray[np.intp],
    colors: Bytes,
    atlas: Atlas,
    eye: Eye,
    seen: Seen,
    at: Station,
    water: float,
) -> None:
    """Do so for the pixels of some places."""
    x, y, away, height = (np.take(p, place) for p in (seen.x, seen.y, seen.away, seen.height))
    over = height - np.float32(at.height)
    above = np.maximum(height - eye.ground(x, y, away), np.float32(0.01 * _TOUCH))
    wet = np.take(colors[..., 3], place) > OPEN + SWING
    moved = np.flatnonzero(wet | (above > np.maximum(np.float32(_FINE) * away, np.float32(_TOUCH))))
    if not len(moved):
        return
    place, above = place[moved], above[moved]
    x, y, away, height, over = (plane[moved] for plane in (x, y, away, height, over))
    over_x, over_y = x - np.float32(at.x), y - np.float32(at.y)
    gaps = [above]
    for far in map(np.float32, _BEHIND[1:]):
        ground = eye.ground(x + over_x * far, y + over_y * far, away)
        gaps.append(height + over * far - ground)
    share = _met(gaps)
    # What stands higher than a beach is looked for beyond it.
    least = np.float32(_PAST) * (height > np.float32(water + _BEACH))
    for step in map(np.float32, _INLAND):
        behind = share + np.maximum(step, least) if step else share
        there = (x + over_x * behind)[None], (y + over_y * behind)[None]
        shown = atlas.seen(*there, (np.float32(1) / away)[None])[0]
        dry = shown[:, 3] <= OPEN + SWING
        colors.reshape(-1, 4)[place[dry]] = shown[dry]
        left = np.flatnonzero(~dry)
        if not len(left):
            return
        place = place[left]
        x, y, over_x, over_y, away, share, least = (
            plane[left] for plane in (x, y, over_x, over_y, away, share, least)
        )


def _rising(colors: Bytes, seen: Seen, water: float) -> NDArray[np.intp]:
    """Return what stands above the water and lies in it, and what its slices show above that.

    Nearly all of a frame is neither: it is looked at in one pass, and the rest where it is.
    """
    foot = np.float32(water + _FOOT)
    # A pixel's four bytes are one number, whose highest one is the fourth channel.
    wet = colors.view("<u4")[..., 0] >= np.uint32(int(OPEN + SWING + 1) << 24)
    wet &= seen.height > foot
    wet &= seen.away < np.float32(_FAR_SHORE)
    left, down, wide, high = cv2.boundingRect(wet.view(np.uint8))
    if not wide:
        return np.empty(0, np.intp)
    reach = max(2, len(wet) // _ABOVE)
    first = max(0, down - reach)
    part = slice(first, down + high), slice(left, left + wide)
    lying = wet[part]
    # Anchored at its first row, a pixel looks down the frame.
    spread = cv2.dilate(lying.view(np.uint8), np.ones((reach, 1), np.uint8), anchor=(0, 0)) > 0
    height, away = seen.height[part], seen.away[part]
    spread &= (height > foot) & (height < np.float32(water + _HEAD))
    spread &= away < np.float32(_FAR_BEAD)
    spread |= lying
    row, column = np.divmod(np.flatnonzero(spread), wide)
    return np.asarray((row + first) * wet.shape[1] + column + left)


def _met(gaps: Sequence[Floats]) -> Floats:
    """Return how much farther away lines of sight meet the ground.

    Parameters
    ----------
    gaps : sequence of ndarray
        How high they are above the ground at each of `_BEHIND`.
    """
    share = np.full(len(gaps[0]), _BEHIND[-1], np.float32)
    left = np.ones(len(share), np.bool_)
    for (near, far), (above, below) in zip(pairwise(_BEHIND), pairwise(gaps), strict=True):
        met = np.flatnonzero(left & (below <= 0))
        part = above[met] / (above[met] - below[met])
        share[met] = np.float32(near) + np.float32(far - near) * part
        left[met] = False
    return share
