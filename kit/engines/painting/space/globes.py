"""Globes: the points of a picture as points on a sphere, and how sheets of texture wrap it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np

from kit.engines.painting.noise import Plane

_REACH = 1.5  # half the side of a sheet, in radii; the rim of the globe lies at 1.41


@dataclass(frozen=True, slots=True, kw_only=True)
class Globe:
    """The points of a picture as points on a sphere of radius 1, x right, y down, z to the viewer.

    Parameters
    ----------
    far : ndarray
        Distance from the center in the picture, in radii; above 1 there is no sphere.
    u, v : ndarray
        Where a point lies on a flat sheet that wraps the visible half with equal areas, so that
        any texture looks foreshortened toward the rim.
    latitude, longitude : ndarray
        In radians, about the tilted axis.
    grain : float
        How many times finer than usual its texture is.
    """

    x: Plane
    y: Plane
    z: Plane
    far: Plane
    u: Plane
    v: Plane
    latitude: Plane
    longitude: Plane
    grain: float

    @classmethod
    def seen(cls, x: Plane, y: Plane, tilt: float, grain: float) -> Self:
        """Return the globe seen at places given in radii from its center."""
        far = np.sqrt(x * x + y * y)
        z = np.sqrt(np.clip(1.0 - far * far, 0.0, 1.0))
        scale = np.sqrt(2.0 / (1.0 + z))
        cos, sin = np.float32(np.cos(tilt)), np.float32(np.sin(tilt))
        up = y * cos - x * sin
        return cls(
            x=x, y=y, z=z, far=far, u=x * scale, v=y * scale,
            latitude=np.arcsin(np.clip(up, -1.0, 1.0)),
            longitude=np.arctan2(x * cos + y * sin, z),
            grain=grain,
        )  # fmt: skip

    def wrapped(self, sheet: Plane, *, times: float = 1.0) -> Plane:
        """Return a square sheet laid on the globe, mirrored on `times` over."""
        half = np.float32(sheet.shape[0] / 2)
        scale = half * np.float32(times * self.grain / _REACH)
        return _looked_up(sheet, self.u * scale + half, self.v * scale + half)

    def belted(self, sheet: Plane, around: float, along: float) -> Plane:
        """Return a sheet stretched along the parallels; the numbers are its pixels per radian."""
        half = np.float32(sheet.shape[0] / 2)
        across = self.longitude * np.float32(around * self.grain) + half
        return _looked_up(sheet, across, self.latitude * np.float32(along * self.grain) + half)


def _looked_up(sheet: Plane, x: Plane, y: Plane) -> Plane:
    found = cv2.remap(
        sheet, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT_101,
    )  # fmt: skip
    return np.asarray(found)
