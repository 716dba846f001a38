"""Air: haze by true distance, mist in low places, beams of light."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.sky import Sun, glow_at
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.tone import blend, light

_CLEAR = 900.0  # world units in which haze of 1 lets a third of the light through


def haze_color(look: Look, sun: Sun, camera: Camera) -> Floats:
    """Return what distance fades to, planes of shape (3, 1, columns): brighter under the sun."""
    shine = light(look.sun)
    shine = shine / shine.max() * np.float32(0.36)
    near = glow_at(replace(look, glow=1.0), sun, camera, 1.3)
    air = blend(light(look.far), light(look.air), near[None])
    return np.asarray(air + shine * glow_at(look, sun, camera, 2.6), np.float32)


def haze(
    look: Look,
    z: Floats,
    height: Floats,
    *,
    ground: float = 0.0,
    mist: float = 0.3,
    start: float = 25.0,
) -> Floats:
    """Return how much of each point is lost in the air, 0 to 1.

    Parameters
    ----------
    ground : float
        Height at which mist lies.
    mist : float
        Its strength, 0 to 1; it thins out upward.
    start : float
        Distance up to which the air is clear.
    """
    far = np.minimum(z, 4000.0)
    if look.mist:  # what lies in a valley ends not far above its floor
        mist, thin = max(mist, look.mist), -1 / 11
    else:
        thin = -1 / 16
    clear = np.exp(np.maximum(far - np.float32(start), 0.0) * np.float32(-look.haze / _CLEAR))
    low = np.exp(np.maximum(height - ground, 0.0) * np.float32(thin))
    low *= mist * (1.0 - np.exp(far * np.float32(-1 / (330 - 170 * look.mist))))
    return np.asarray(1.0 - clear * (1.0 - low), np.float32)


def hazed(planes: Floats, share: Floats, color: Floats) -> Floats:
    """Return planes with the color of the air over them."""
    return blend(planes, color, share)


def beams(planes: Floats, bright: Floats, sun: Sun, color: Floats, *, floor: float = 0.7) -> None:
    """Let light stream away from the sun past whatever stands before it, in place.

    Parameters
    ----------
    bright : ndarray, shape (3, height, width)
        What shines: the picture where it is sky, 0 elsewhere.
    color : ndarray, 3 numbers
        Strength of the beams in each plane.
    floor : float
        Light that is too little to stream.
    """
    _, height, width = planes.shape
    step = 6
    size = (max(2, width // step), max(2, height // step))
    for plane, source, strength in zip(planes, bright, color.ravel(), strict=True):
        small = cv2.resize(source, size, interpolation=cv2.INTER_AREA)
        small = np.clip(small - floor, 0.0, 2.0)
        for shrink in (0.983, 0.966, 0.933, 0.87, 0.75, 0.55):
            shift = (sun.x / step * (1 - shrink), sun.y / step * (1 - shrink))
            matrix = np.array([[shrink, 0.0, shift[0]], [0.0, shrink, shift[1]]])
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            moved = cv2.warpAffine(
                small, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE
            )
            small = 0.5 * (small + moved)
        cv2.scaleAdd(cv2.resize(small, (width, height)), float(strength), plane, dst=plane)
