"""Nearby: what lies around each pixel of a hole, and what it costs to take something unlike it.

A hole between calm surroundings stays calm, and where the surroundings vary much, much may come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fill.patches import RADIUS, Places, patches

_REACH = 0.02  # of the surroundings that count most, as a share of the longer side
_RIM = 0.05  # around the hole that tells what is near, as a share of the longer side
_WIDER = (1.0, 2.5, 6.0, 16.0)  # reaches beyond that, for what lies deep in the hole
_LESS = 0.02  # by which each of them counts less
_SHARP = 3.0  # pixels of a blur that are done as they are
_ALLOWED = 1.5  # variances by which a patch may differ for nothing
_DOUBT = 30.0  # more of a square of differences that costs nothing
_UNLIKE = 1.0  # how much the rest of it costs
_LAYERED = 3  # how much more a step up or down counts than one to the side
_AWAY = 400.0  # what a find costs that lies as far away as the picture is long

_Where = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Nearby:
    """The colors that are near each pixel, and what patches elsewhere look like beside them.

    Parameters
    ----------
    mean : ndarray of float32
        Shape (height, width, 3).
    allowed : ndarray of float32
        Shape (height, width): the mean square of differences that is as usual there.
    tone : ndarray of float32
        Shape (height, width, 3): the mean color of the patch around each pixel.
    """

    mean: Floats
    allowed: Floats
    tone: Floats

    @classmethod
    def over(cls, pixels: Bytes, gap: Bytes, barred: Bytes) -> Self:
        """Return what is near each pixel of a hole, told by what is known along its rim.

        Parameters
        ----------
        pixels : ndarray of uint8
            Shape (height, width, 3).
        gap, barred : ndarray of uint8
            Shape (height, width): 255 in the hole, and where nothing may be copied from.
        """
        canvas = pixels.astype(np.float32)
        free = (gap | barred) == 0
        wide = 2 * max(2, round(_RIM * max(gap.shape))) + 1
        rim = free & (cv2.dilate(gap, np.ones((wide, wide), np.uint8)) > 0)
        mean, variance = around(canvas, rim if rim.any() else free)
        return cls(mean, _ALLOWED * variance + _DOUBT, canvas).seen(pixels)

    def seen(self, pixels: Bytes) -> Self:
        """Return the same of a picture that was shrunk."""
        size = (pixels.shape[1], pixels.shape[0])
        mean, allowed = (
            cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
            for plane in (self.mean, self.allowed)
        )
        patch = (2 * RADIUS + 1, 2 * RADIUS + 1)
        return type(self)(mean, allowed, cv2.blur(pixels.astype(np.float32), patch))

    def cost(self, here: Places, there: Places) -> Floats:
        """Return what finds cost, for lying far away and for being unlike what is near."""
        down, across = (other - own for other, own in zip(there, here, strict=True))
        away = np.hypot(_LAYERED * down, across)
        off = self.tone[there[0], there[1]] - self.mean[here[0], here[1]]
        off = np.einsum("...c,...c->...", off, off) / 3 - self.allowed[here[0], here[1]]
        off = np.maximum(off, 0, out=off)
        off *= np.float32(_UNLIKE)
        off += away.astype(np.float32) * np.float32(_AWAY / max(self.mean.shape[:2]))
        return np.asarray(off)


def around(canvas: Floats, known: _Where) -> tuple[Floats, Floats]:
    """Return the mean color of the known pixels around each pixel, and how much they vary.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    known : ndarray of bool
        Shape (height, width).

    Returns
    -------
    tuple of ndarray of float32
        Shapes (height, width, 3) and (height, width), the mean variance of the three colors.
    """
    weight = known.astype(np.float32)
    square = np.einsum("yxc,yxc->yx", canvas, canvas) / 3
    planes = np.dstack([canvas, square, np.ones_like(square)]) * weight[..., None]
    total = np.zeros_like(planes)
    for number, wider in enumerate(_WIDER):
        reach = max(1.0, wider * _REACH * max(known.shape))
        total += _LESS**number * _blurred(planes, reach)
    total /= np.maximum(total[..., 4:], 1e-12)
    mean = np.ascontiguousarray(total[..., :3])
    variance = total[..., 3] - np.einsum("yxc,yxc->yx", mean, mean) / 3
    return mean, np.maximum(variance, 0.0)


def _blurred(planes: Floats, reach: float) -> Floats:
    """Return planes blurred by far, which is done small."""
    scale = min(1.0, _SHARP / reach)
    size = (planes.shape[1], planes.shape[0])
    small = (max(1, round(scale * size[0])), max(1, round(scale * size[1])))
    if scale < 1:
        # By area, OpenCV resizes four planes at most.
        planes = np.dstack(
            [
                cv2.resize(part, small, interpolation=cv2.INTER_AREA)
                for part in np.dsplit(planes, [3])
            ]
        )
    blurred = cv2.GaussianBlur(planes, (0, 0), scale * reach)
    return np.asarray(cv2.resize(blurred, size, interpolation=cv2.INTER_LINEAR))


def mirrored(gap: Bytes, usable: _Where) -> Places:
    """Return the move from each pixel of a hole to its mirror image beyond the hole's rim.

    Parameters
    ----------
    gap : ndarray of uint8
        Shape (height, width), 255 in the hole.
    usable : ndarray of bool
        Shape (height, width): where a move may lead to; at least one.

    Returns
    -------
    ndarray of int
        Shape (2, height, width): steps down and across, 0 outside the hole.
    """
    height, width = gap.shape
    here = np.indices(gap.shape)
    # Pictures lie in layers: a hole is rather filled from its sides.
    rim = _nearest((gap == 0).repeat(_LAYERED, axis=0))[:, ::_LAYERED]
    rim[0] //= _LAYERED
    there = 2 * rim - here
    there[0], there[1] = there[0].clip(0, height - 1), there[1].clip(0, width - 1)
    there = _nearest(usable)[:, there[0], there[1]]
    return np.asarray((there - here) * (gap > 0), np.int64)


def _nearest(wanted: _Where) -> Places:
    """Return the place of the wanted pixel that is nearest to each one."""
    _, labels = cv2.distanceTransformWithLabels(
        np.where(wanted, np.uint8(0), np.uint8(255)),
        cv2.DIST_L2,
        cv2.DIST_MASK_5,
        labelType=cv2.DIST_LABEL_PIXEL,
    )
    at = np.array(np.nonzero(wanted))
    places = np.zeros((2, labels.max() + 1), np.int64)
    places[:, labels[at[0], at[1]]] = at
    return places[:, labels]


__all__ = ["strangeness"]

_ODD_RIM = 0.08  # how wide the rim is, as a share of the hole's longer side
_LEAST = 3  # pixels that it is wide at least
_ASKED = 500  # places of the rim that are compared
_STEP = 2  # pixels from one place that is judged to the next
_APART = 2 * RADIUS + 1  # places of the rim that share no pixel
_USUAL = 80  # percentile of what places of the rim differ from each other
_ODD_ALLOWED, _ODD_DOUBT = (
    1.5,
    60.0,
)  # parts of that, and mean squares more, that cost nothing
_BLOCK = 512


def strangeness(canvas: Floats, gap: Bytes, usable: Bytes) -> Floats:
    """Return how unlike all that touches a hole each place is, as a mean square of differences.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    gap, usable : ndarray of uint8
        Shape (height, width): 255 in the hole, and where a whole patch is known and may be taken.

    Returns
    -------
    ndarray of float32
        Shape (height, width), 0 for what is no more unlike it than its own places are.
    """
    rim = _rim(gap, usable)
    if rim.shape[1] < 2:
        return np.zeros(gap.shape, np.float32)
    seen = patches(canvas, rim).reshape(rim.shape[1], -1)
    away = np.abs(rim[:, :, None] - rim[:, None]).max(axis=0)
    usual = np.where(away < _APART, np.float32(np.inf), _unlike(seen, seen)).min(axis=1)
    usual = usual[np.isfinite(usual)]
    allowed = (
        _ODD_ALLOWED * float(np.percentile(usual, _USUAL)) + _ODD_DOUBT if usual.size else np.inf
    )
    there = _sampled(usable)
    off = np.zeros(usable[::_STEP, ::_STEP].shape, np.float32)
    for first in range(0, there.shape[1], _BLOCK):
        part = there[:, first : first + _BLOCK]
        found = patches(canvas, part).reshape(part.shape[1], -1)
        off[part[0] // _STEP, part[1] // _STEP] = _unlike(found, seen).min(axis=1)
    off = np.maximum(off - np.float32(min(allowed, 1e9)), 0)
    size = (gap.shape[1], gap.shape[0])
    return np.asarray(cv2.resize(off, size, interpolation=cv2.INTER_LINEAR))


def _rim(gap: Bytes, usable: Bytes) -> Places:
    """Return places whose patches lie next to the hole, evenly chosen."""
    wide = max(_LEAST, round(_ODD_RIM * max(cv2.boundingRect(gap)[2:])))
    reach = 2 * (RADIUS + wide) + 1
    near = cv2.dilate(gap, np.ones((reach, reach), np.uint8)) > 0
    at = np.array(np.nonzero(near & (usable > 0)))
    return at[:, :: max(1, -(-at.shape[1] // _ASKED))]


def _sampled(usable: Bytes) -> Places:
    return np.array(np.nonzero(usable[::_STEP, ::_STEP])) * _STEP


def _unlike(some: Floats, others: Floats) -> Floats:
    """Return the mean squares of differences, shape (n, m), of patches (n, values), (m, values)."""
    squares = (np.einsum("ni,ni->n", patch, patch) for patch in (some, others))
    own, other = squares
    off = own[:, None] + other[None] - 2 * (some @ others.T)
    return np.asarray(np.maximum(off, 0) / some.shape[1], np.float32)
