"""Air: what distance takes away, and the sky all around, a strip wrapped on a cylinder."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.camera import Camera
from kit.engines.painting.heightfield.ground import develop
from kit.engines.painting.heightfield.levels import END, Hits, bands
from kit.engines.painting.looks import HourLook
from kit.engines.painting.sky import paint_sky, sun_of

_CLEAR = 45.0  # units in front of the camera without any haze
_THIN = 60.0  # units upward in which low haze thins out to a third
_MOST = 5.5  # of haze and mist: more of it, and a flight in fog would see nothing
_FADES = 0.68  # share of the farthest distance from which the land's end dissolves
_BELOW = 0.12  # tangent of the lowest sky that is painted
_FINEST = 900.0  # pixels a radian: soft things need no more, and a wide strip would cost seconds


def fog_of(hits: Hits, height: float, look: HourLook, ground: float) -> Floats:
    """Return how much of each point is lost in the air, 0 to 1, seen from a height.

    Parameters
    ----------
    ground : float
        Height at which the air is densest.
    """
    haze = 0.00042 + 0.00085 * min(look.haze + look.mist, _MOST) ** 1.5
    # Half of the way to a point lies in air as dense as at its height, half as at the camera's.
    own = 0.4 + 0.25 * math.exp(-max(height - ground, 0.0) / _THIN)
    out = np.empty_like(hits.distance)
    for band in bands(len(out)):
        part = out[band]
        np.subtract(np.float32(ground), hits.height[band], out=part)
        part *= np.float32(1 / _THIN)
        np.minimum(part, np.float32(0), out=part)
        cv2.exp(part, dst=part)
        part *= np.float32(-0.45 * haze)
        part -= np.float32(own * haze)
        part *= np.maximum(hits.distance[band] - np.float32(_CLEAR), np.float32(0))
        cv2.exp(part, dst=part)
        # Whatever the weather, the world's last ridges fade out.
        if hits.inverse[band].min() < 1 / (_FADES * END):
            far = hits.distance[band] * np.float32(1 / END) - np.float32(_FADES)
            part *= np.float32(1) - np.clip(far * np.float32(1 / (1 - _FADES)), 0.0, 1.0) ** 2
        np.subtract(np.float32(1), part, out=part)
    return out


class SkyStrip:
    """The sky between two azimuths, painted once.

    Parameters
    ----------
    span : tuple of float
        Where it starts and ends, in radians.
    sun : float
        Azimuth of the sun, or by night of the moon.
    focal, top : float
        Pixels to a tangent of 1 of the frames that show it, and the highest tangent that they do.
    """

    def __init__(
        self,
        look: HourLook,
        span: tuple[float, float],
        sun: float,
        focal: float,
        top: float,
        rng: np.random.Generator,
    ) -> None:
        self._scale = scale = min(focal, _FINEST)
        self._start, self._horizon = span[0], round(top * scale)
        columns, rows = int((span[1] - span[0]) * scale) + 2, int((top + _BELOW) * scale)
        camera = Camera(columns, rows, scale, self._horizon, 0.0)
        light = sun_of(look, camera, (sun - span[0]) / (span[1] - span[0]))
        sky = paint_sky(look, camera, light, rng, Progress())
        self._picture = develop(sky.light, look)
        band = self._picture[self._horizon - max(2, int(0.02 * scale)) : self._horizon]
        low = cv2.GaussianBlur(band.mean(axis=0, dtype=np.float32)[None], (0, 0), 0.05 * scale)[0]
        self._low = np.rint(low).astype(np.uint8)

    def look_up(self, heading: float, camera: Camera, rows: int) -> Bytes:
        """Return what is seen of it in the upper rows of a frame, shape (rows, columns, 3)."""
        turned = np.arctan(camera.across)
        x = np.empty((rows, camera.columns), np.float32)
        x[:] = (turned + np.float32(heading - self._start)) * np.float32(self._scale)
        # On a cylinder, what stands aside is farther away and so less high.
        step = np.cos(turned) * np.float32(self._scale / camera.focal)
        y = np.arange(rows, dtype=np.float32)[:, None] * step
        y += np.float32(self._horizon) - camera.horizons * step
        return np.asarray(
            cv2.remap(self._picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        )

    def air(self, heading: float, across: Floats) -> Bytes:
        """Return what distance fades to in each column, shape (columns, 3): the lowest sky."""
        x = (np.arctan(across) + np.float32(heading - self._start)) * np.float32(self._scale)
        return np.asarray(self._low[np.clip(np.rint(x), 0, len(self._low) - 1).astype(np.intp)])
