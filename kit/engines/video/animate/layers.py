"""Layers: a subject cut out of a picture, and the background that was behind it, made up."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media import cutout
from kit.engines.media.color import Bytes, Floats
from kit.engines.video.sheets import Sheet, yuv

_WORK = 320  # pixels of the longer side at which the background is made up
_HIDDEN = 13  # pixels a side by which the subject is widened there
_RIM = 0.022  # likewise in the whole picture, as a share of its longer side
_TRACE = 12  # coverage from which on a pixel is not background
_LEAST, _MOST = 0.015, 0.72  # shares of the picture that a subject may cover


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


def found(alpha: Bytes) -> bool:
    """Return whether a cutout holds a subject that stands before something."""
    return _LEAST < float(alpha.mean()) / 255 < _MOST


def separated(pixels: Bytes, alpha: Bytes) -> Layers:
    """Return the subject and, behind it, what its surroundings suggest."""
    return Layers(_filled(pixels, alpha), cutout.cleaned(pixels, alpha), alpha)


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


def _filled(pixels: Bytes, alpha: Bytes) -> Bytes:
    """Fill in the subject's place: colors are gathered ever coarser, and spread out again.

    Source: Gortler et al., "The Lumigraph" (SIGGRAPH 1996), pull-push interpolation.
    """
    height, width = alpha.shape
    scale = _WORK / max(height, width)
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    hidden = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA)
    hidden = cv2.dilate(hidden, np.ones((_HIDDEN, _HIDDEN), np.uint8))
    known = (hidden < 10).astype(np.float32)
    spread = cv2.resize(_spread(small, known), (width, height), interpolation=cv2.INTER_CUBIC)
    # The rim goes with the subject: light that it throws on the air around it is not background.
    reach = max(5, round(_RIM * max(height, width))) | 1
    soft = cv2.dilate(np.where(alpha > _TRACE, np.uint8(255), alpha), np.ones((reach, reach)))
    share = cv2.GaussianBlur(soft, (0, 0), reach / 4.5)[..., None].astype(np.float32) / 255
    filled = pixels + (spread - pixels) * share
    return np.asarray(np.clip(np.rint(filled), 0, 255), np.uint8)


def _spread(colors: Floats, known: Floats) -> Floats:
    """Return colors with those that are not known filled in from the nearest known ones."""
    levels = [(colors * known[..., None], known)]
    while min(levels[-1][1].shape) > 2:
        color, weight = levels[-1]
        size = (max(1, weight.shape[1] // 2), max(1, weight.shape[0] // 2))
        color = cv2.resize(color, size, interpolation=cv2.INTER_AREA)
        mean = cv2.resize(weight, size, interpolation=cv2.INTER_AREA)
        # One known pixel of four is enough: farther ones would only dilute its color.
        weight = np.minimum(4.0 * mean, 1.0).astype(np.float32)
        levels.append((color * (weight / np.maximum(mean, 1e-6))[..., None], weight))
    color, weight = levels[-1]
    out = color / np.maximum(weight, 1e-6)[..., None]
    for color, weight in levels[-2::-1]:
        coarse = cv2.resize(out, weight.shape[::-1], interpolation=cv2.INTER_LINEAR)
        out = color + coarse * (1.0 - weight)[..., None]
    return np.asarray(out, np.float32)
