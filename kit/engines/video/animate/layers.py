"""Layers: a subject cut out of a picture, and the background that was behind it, made up."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.image.editing.erasing import erased
from kit.engines.media import cutout
from kit.engines.media.color import Bytes
from kit.engines.video.sheets import Sheet, yuv

_WORK = 400  # pixels of the longer side at which the background is made up
_RIM = 0.022  # by which the subject is widened for that, as a share of the longer side
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


def separated(pixels: Bytes, alpha: Bytes, seed: int, progress: Progress) -> Layers:
    """Return the subject and, behind it, what its surroundings suggest."""
    background = _filled(pixels, alpha, seed, progress)
    return Layers(background, cutout.cleaned(pixels, alpha), alpha)


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


def _filled(pixels: Bytes, alpha: Bytes, seed: int, progress: Progress) -> Bytes:
    """Fill in the subject's place with patches of its surroundings.

    It is done small: behind a subject little comes into view, and that for a moment.
    """
    height, width = alpha.shape
    # The rim goes with the subject: light that it throws on the air around it is not background.
    reach = max(5, round(_RIM * max(height, width))) | 1
    soft = cv2.dilate(np.where(alpha > _TRACE, np.uint8(255), alpha), np.ones((reach, reach)))
    scale = min(1.0, _WORK / max(height, width))
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    hidden = cv2.resize(soft, size, interpolation=cv2.INTER_AREA)
    hole = np.where(hidden > 0, np.uint8(255), np.uint8(0))
    made = erased(small, hole, seed, progress)
    made = cv2.resize(made, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    share = cv2.GaussianBlur(soft, (0, 0), reach / 4.5)[..., None].astype(np.float32) / 255
    filled = pixels + (made - pixels) * share
    return np.asarray(np.clip(np.rint(filled), 0, 255), np.uint8)
