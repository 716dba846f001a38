"""Layers: a subject cut out of a picture, and the background that was behind it, made up."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.film.sheets import Sheet, yuv
from kit.engines.media.color import Bytes
from kit.engines.media.cutout import clean_rim
from kit.engines.media.fill import erase, near_color
from kit.engines.media.noise import smooth_step

_SIDE = 400  # pixels of the longer side at which they are looked for
_BAND = 0.028  # around the outline, as a share of the longer side: what may be a trace
_TRACES_RIM = 0.004  # of that, what touches the subject
_UNLIKE = 4.0  # variances of the ground by which a trace differs from it
_AT_LEAST = 150.0  # mean square of differences that it differs by besides
_SOMEWHERE = 700.0  # the same at the clearest pixel of a trace
_CALM = 300.0  # variance of a ground up to which a trace is surely the subject's
_CLEAR = (16.0, 60.0)  # from what is behind it: where a trace begins to be one, and is it fully


def traces(pixels: Bytes, alpha: Bytes, least: int) -> tuple[Bytes, Bytes]:
    """Return 255 where pixels beside a cutout are not the ground's, and where they surely are its.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    alpha : ndarray of uint8
        Shape (height, width).
    least : int
        The coverage from which on a pixel is the subject's.

    Returns
    -------
    tuple of ndarray of uint8
        Both of shape (height, width), soft at their edges; the second lies inside the first.
    """
    height, width = alpha.shape
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    outside = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA) < least
    away = cv2.distanceTransform(outside.astype(np.uint8), cv2.DIST_L2, 5) / max(size)
    if not (away > _BAND).any() or outside.all():
        return np.zeros_like(alpha), np.zeros_like(alpha)
    mean, variance = near_color(small, away > _BAND)
    off = np.square(small - mean).mean(axis=2)
    pixel = 1.5 / max(size)
    rim = max(_TRACES_RIM, pixel)
    unlike = (off > _UNLIKE * variance + _AT_LEAST) & (away > rim) & (away <= _BAND)
    labels = cv2.connectedComponents(unlike.astype(np.uint8))[1]
    begins = _labelled(labels, unlike & (away <= rim + pixel))
    # What goes on beyond the band is a part of the ground that only passes behind the subject.
    goes_on = _labelled(labels, unlike & (away > _BAND - pixel))
    clear = _labelled(labels, unlike & (off > _SOMEWHERE))
    calm = variance < _CALM
    found, own = begins & clear & (calm | ~goes_on), begins & clear & calm & ~goes_on
    return _large(found, alpha.shape), _large(own, alpha.shape)


def with_traces(pixels: Bytes, background: Bytes, alpha: Bytes, own: Bytes) -> Bytes:
    """Return the coverage of a subject together with its traces.

    Parameters
    ----------
    pixels, background : ndarray of uint8
        Shape (height, width, 3): a picture with the subject, and without it and its traces.
    alpha, own : ndarray of uint8
        Shape (height, width): where the subject is, and where traces surely are its.
    """
    off = cv2.blur(cv2.absdiff(pixels, background), (3, 3)).max(axis=2)
    clear = smooth_step(*_CLEAR, off.astype(np.float32)) * own
    return np.asarray(np.maximum(alpha, np.rint(clear).astype(np.uint8)))


def _labelled(labels: NDArray[np.int32], where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return all pixels of the pieces that are somewhere."""
    found = np.zeros(int(labels.max()) + 1, bool)
    found[labels[where]] = True
    return np.asarray(found[labels])


def _large(found: NDArray[np.bool_], shape: tuple[int, ...]) -> Bytes:
    # A trace goes on to the subject itself.
    mask = cv2.dilate(np.where(found, np.uint8(255), np.uint8(0)), np.ones((5, 5), np.uint8))
    return np.asarray(cv2.resize(mask, shape[1::-1], interpolation=cv2.INTER_LINEAR))


_WORK = 400  # pixels of the longer side at which the background is made up
_RIM = 0.003  # by which the subject is widened for that, as a share of the longer side
_TRACE = 12  # coverage from which on a pixel is not background


@dataclass(frozen=True, slots=True)
class Layers:
    """A picture in two parts.

    Parameters
    ----------
    background : ndarray of uint8
        Shape (height, width, 3), without the subject.
    subject : ndarray of uint8
        Shape (height, width, 3), with its own colors up to and beyond its edge.
    alpha : ndarray of uint8
        Shape (height, width): where the subject is.
    """

    background: Bytes
    subject: Bytes
    alpha: Bytes


def separated(pixels: Bytes, alpha: Bytes, seed: int, progress: Progress) -> Layers:
    """Return the subject and, behind it, what its surroundings suggest."""
    rest, own = traces(pixels, alpha, _TRACE)
    background = _filled(pixels, np.maximum(alpha, rest), seed, progress)
    progress.report(1.0)
    alpha = with_traces(pixels, background, alpha, own)
    return Layers(background, _before(pixels, background, alpha), alpha)


def sheet_of(layers: Layers, rng: np.random.Generator) -> Sheet:
    """Return the subject as a sheet that can be laid over a frame; its sides are even."""
    cover = layers.alpha.astype(np.float32) * np.float32(1 / 255)
    rgb = np.ascontiguousarray(layers.subject.transpose(2, 0, 1), np.float32)
    rgb *= cover * np.float32(1 / 255)
    half = cv2.resize(cover, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return Sheet(
        name="subject",
        depth=1.0,
        top=0,
        color=yuv(rgb, cover, rng),
        alpha=layers.alpha,
        half=np.rint(half * 255).astype(np.uint8),
        solid=None,
        endless=True,
    )


def _before(pixels: Bytes, background: Bytes, alpha: Bytes) -> Bytes:
    """Return the colors with which a subject, laid over its background, gives the picture again.

    Where that asks for no color that there is, it is the nearest one; where there is no subject,
    the subject's own colors go on, so that a part of a pixel's move shows no seam.
    """
    out = clean_rim(pixels, alpha).copy()
    edge = (alpha > _TRACE) & (alpha < 255)
    cover = alpha[edge][:, None] * np.float32(1 / 255)
    behind = background[edge].astype(np.float32)
    out[edge] = np.rint((pixels[edge] - (1 - cover) * behind) / cover).clip(0, 255)
    return out


def _filled(pixels: Bytes, alpha: Bytes, seed: int, progress: Progress) -> Bytes:
    """Fill in the subject's place with patches of its surroundings.

    It is done small: behind a subject little comes into view, and that for a moment. What is
    farther from the subject than three times the rim stays as it is.
    """
    height, width = alpha.shape
    # The rim goes with the subject: its color runs out over some pixels of the air around it.
    rim = max(2, round(_RIM * max(height, width)))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * rim + 1, 2 * rim + 1))
    wide = cv2.dilate(np.where(alpha > _TRACE, np.uint8(255), np.uint8(0)), disc)
    scale = min(1.0, _WORK / max(height, width))
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    hidden = cv2.resize(wide, size, interpolation=cv2.INTER_AREA)
    gap = np.where(hidden > 0, np.uint8(255), np.uint8(0))
    small = erase(small, gap, seed, progress).pixels
    progress.report(1.0)
    made = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    # A blur of bounded reach, outside of the rim: all of it is gone under the subject's edge.
    share = cv2.blur(cv2.dilate(wide, disc), (2 * rim + 1, 2 * rim + 1))
    filled = pixels + (made - pixels) * (share[..., None] * np.float32(1 / 255))
    return np.asarray(np.clip(np.rint(filled), 0, 255), np.uint8)
