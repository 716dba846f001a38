"""Outlines: which pieces of a found subject are things, judged by the edges along their outlines.

A color model always finds something; what it found in an even place has no edges around it.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats

__all__ = ["outlined", "whole"]

_PART = 0.12  # a separate piece smaller than this share of the largest is left out
_CRUMB = 0.008  # likewise of one that is near the largest, as a basket under a balloon
_NEAR = 0.06  # shares of the longer side that count as near
_HOLE = 0.01  # a hole smaller than this share of the picture is filled
_BIT, _CORNER = 0.002, 0.15  # shares of the picture between which a lost piece is taken back
_CLOSER = 0.1  # by which its colors are closer to the subject's than to the background's, 0 to 1
_ACROSS = 9  # pixels over which both sides of an outline are averaged
_CLEAR = 0.6  # share of its outline along which a thing differs from what is around it
_CHANGE = 14.0  # of the color across an outline, in CIELAB


def whole(small: Bytes, found: Bytes, *, sure: bool) -> Bytes:
    """Return the subject without crumbs and pinholes; none where its outline is a mere guess.

    Parameters
    ----------
    sure : bool
        Whether it is known to be there, as a person whose face was found.
    """
    count, labels, facts, _ = cv2.connectedComponentsWithStats(found)
    areas = facts[:, cv2.CC_STAT_AREA]
    main = 1 + int(areas[1:].argmax())
    reach = 2 * round(_NEAR * max(found.shape)) + 1
    around = cv2.dilate((labels == main).astype(np.uint8), np.ones((reach, reach), np.uint8))
    near = set(np.unique(labels[around > 0]).tolist())
    solid = np.zeros_like(found)
    for number in range(1, count):
        piece = (labels == number).astype(np.uint8)
        least = _CRUMB if number in near else _PART
        clear = sure or areas[number] < 9 or outlined(small, piece) > _CLEAR
        if areas[number] >= least * areas[main] and clear:
            solid |= piece
    return _taken_back(small, _filled(solid))


def _taken_back(small: Bytes, solid: Bytes) -> Bytes:
    """Return a mask with what it cuts off from the background, where that has its own colors.

    Between a subject and the frame that it runs into, a corner of it is easily lost.
    """
    count, labels, facts, _ = cv2.connectedComponentsWithStats(1 - solid, connectivity=4)
    if count < 3:  # the subject, and all the rest in one piece
        return solid
    areas = facts[1:, cv2.CC_STAT_AREA]
    main = 1 + int(areas.argmax())
    own, behind = _colors(small, solid > 0), _colors(small, labels == main)
    out = solid.copy()
    for number in range(1, count):
        if number != main and _BIT * solid.size < areas[number - 1] < _CORNER * solid.size:
            piece = labels == number
            part = _colors(small, piece)
            if np.sqrt(part * own).sum() - np.sqrt(part * behind).sum() > _CLOSER:
                out[piece] = 1
    return out


def _colors(small: Bytes, part: NDArray[np.bool_]) -> Floats:
    """Return how often each color is in a part of a picture; all together are 1."""
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB)[part].astype(np.int64)
    # Light in eight steps, for it changes along a thing; the other two in 32.
    numbers = ((lab >> np.array([5, 3, 3])) @ np.array([1024, 32, 1])).ravel()
    counts = np.bincount(numbers, minlength=8192).astype(np.float32)
    return np.asarray(counts / max(1, len(numbers)), np.float32)


def _filled(solid: Bytes) -> Bytes:
    """Return a mask whose pinholes are closed."""
    solid = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, labels, facts, _ = cv2.connectedComponentsWithStats(1 - solid, connectivity=4)
    for hole in range(1, count):
        x, y, wide, tall, area = facts[hole]
        inside = x > 0 and y > 0 and x + wide < solid.shape[1] and y + tall < solid.shape[0]
        if inside and area < _HOLE * solid.size:
            solid[labels == hole] = 1
    return np.asarray(solid)


def outlined(small: Bytes, found: Bytes) -> float:
    """Return the share of a subject's outline along which the color changes.

    The outline of a thing follows edges of the picture; that of a guess runs through even places.
    """
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    sides = []
    for side in (found, 1 - found):
        weight = cv2.blur(side.astype(np.float32), (_ACROSS, _ACROSS))
        color = cv2.blur(lab * side[..., None], (_ACROSS, _ACROSS))
        sides.append(color / np.maximum(weight, 1e-3)[..., None])
    outline = cv2.morphologyEx(found, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    if not outline.any():
        return 0.0
    change = np.linalg.norm(sides[0] - sides[1], axis=2)[outline]
    return float((change > _CHANGE).mean())
