"""Laying: what is in the air, put over a frame on its luma and chroma, in place.

A patch is as large as the frame and tells how bright or how dense the air is in each place.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes

_NEUTRAL = 128


def brighten(frame: Frame, patch: Bytes) -> None:
    """Lay what has no color of its own over a frame: it is brighter there."""
    cv2.add(frame[0], patch, dst=frame[0])


def whiten(frame: Frame, patch: Bytes) -> None:
    """Snow and dust are white: they take the color of what they cover away."""
    cv2.add(frame[0], patch, dst=frame[0])
    cover = _small(patch, frame)
    white = cv2.convertScaleAbs(cover, alpha=_NEUTRAL / 255)
    rest = cv2.bitwise_not(cover, dst=cover)
    for chroma in frame[1:]:
        cv2.multiply(chroma, rest, dst=chroma, scale=1 / 255)
        cv2.add(chroma, white, dst=chroma)


def glow(frame: Frame, patch: Bytes) -> None:
    """Lay yellow lights over a frame."""
    cv2.add(frame[0], patch, dst=frame[0])
    cv2.subtract(frame[1], cv2.convertScaleAbs(_small(patch, frame), alpha=0.4), dst=frame[1])


def burn(frame: Frame, patch: Bytes) -> None:
    """Lay sparks over a frame."""
    cv2.add(frame[0], cv2.convertScaleAbs(patch, alpha=0.75), dst=frame[0])
    # Color has half the size: a spark smaller than its pixels would be white.
    cover = cv2.convertScaleAbs(_small(patch, frame), alpha=1.9)
    for chroma, color in zip(frame[1:], (58, 196), strict=True):
        _mixed(chroma, cover, color)


def veil(frame: Frame, patch: Bytes) -> None:
    """Lay fog over a frame, denser toward the ground."""
    height, width = patch.shape
    ramp = np.repeat(np.linspace(0.35, 1.0, height, dtype=np.float32)[:, None], width, axis=1)
    cover = cv2.multiply(patch, ramp, dtype=cv2.CV_8U)
    # Fog is as bright as the picture allows: a night must not turn gray.
    bright = min(226.0, float(cv2.mean(frame[0])[0]) * 1.15 + 42.0)
    _mixed(frame[0], cover, bright)
    small = _small(cover, frame)
    for chroma in frame[1:]:
        # It takes the light's color, paler: neutral fog looks pasted on at sunset.
        _mixed(chroma, small, 0.4 * _NEUTRAL + 0.6 * float(cv2.mean(chroma)[0]))


def _mixed(plane: Bytes, cover: Bytes, value: float) -> None:
    cv2.multiply(plane, cv2.bitwise_not(cover), dst=plane, scale=1 / 255)
    cv2.add(plane, cv2.convertScaleAbs(cover, alpha=value / 255), dst=plane)


def _small(patch: Bytes, frame: Frame) -> Bytes:
    return np.asarray(cv2.resize(patch, frame[1].shape[::-1], interpolation=cv2.INTER_AREA))
