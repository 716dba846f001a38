"""Tone: light becomes a picture; bloom, film curve, vignette, grain.

Scenes are painted in planes, shape (3, height, width), of linear light, where 1 is white paper in
sunlight and a sun may be 20; planes are three to four times as fast as pixels of three numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, Oklch, dithered, encode, linear, oklab
from kit.engines.painting import tone as darkroom

Told: TypeAlias = Callable[[float], object]
_MOST = 12.0  # brighter light is white
_STEPS = 8192
_LENS = darkroom.Lens(4, 4.0, ((1.6, 0.9), (6.0, 0.6), (22.0, 0.5)))
_MIDDLE, _PALE = 0.45, 0.72  # tones around which contrast grows and shrinks
_LUMA = (0.2126, 0.7152, 0.0722)


def light(color: Oklch, power: float = 1.0) -> Floats:
    """Return a color as linear light, shape (3, 1, 1), so that it spreads over planes."""
    return darkroom.light(color) * np.float32(power)


def gradient(stops: list[Oklch], at: Floats) -> Floats:
    """Return a gradient through evenly spaced colors, smooth at the stops.

    Parameters
    ----------
    at : ndarray, shape (n,)
        Positions, 0 to 1.

    Returns
    -------
    ndarray of float32, shape (3, n)
    """
    fine = np.linspace(0.0, 1.0, 257)
    knots = np.linspace(0.0, 1.0, len(stops))
    labs = np.stack([oklab(stop) for stop in stops])
    lut = np.stack([np.interp(fine, knots, labs[:, axis]) for axis in range(3)], axis=1)
    kernel = cv2.getGaussianKernel(65, 16).ravel()
    padded = np.pad(lut, ((32, 32), (0, 0)), mode="reflect", reflect_type="odd")
    lut = np.stack([np.convolve(padded[:, axis], kernel, "valid") for axis in range(3)], axis=1)
    rgb = np.maximum(linear(lut), 0.0)
    return np.stack([np.interp(at, fine, rgb[:, axis]) for axis in range(3)]).astype(np.float32)


def mixed(one: Floats, other: Floats, share: Floats) -> Floats:
    """Return a blend of planes: `one` where the share is 0, `other` where it is 1."""
    change = np.asarray(other - one)
    if np.broadcast_shapes(change.shape, share.shape) != change.shape:
        return np.asarray(one + change * share)
    change *= share
    change += one  # in place: fresh memory costs more than the sums
    return change


def bloom(planes: Floats, strength: float, *, threshold: float = 0.9) -> None:
    """Let what is brighter than the threshold shine over its surroundings, in place."""
    darkroom.bloom(planes, threshold=threshold, strength=strength, lens=_LENS)


def developed(
    planes: Floats,
    rng: np.random.Generator,
    *,
    exposure: float = 1.0,
    saturation: float = 1.08,
    vignette: float = 0.28,
    grain: float = 1.3,
    contrast: float = 1.0,
    lift: float = 0.0,
    told: Told = lambda _: None,
) -> Bytes:
    """Return planes of light as a picture, shape (height, width, 3), uint8 sRGB.

    Parameters
    ----------
    grain : float
        In steps of 8 bits.
    contrast, lift : float
        1 and 0 leave the film's curve as it is; see `Look`.
    told : callable, optional
        Called on the way with how much is done, 0 to 1.
    """
    _, height, width = planes.shape
    out = np.empty_like(planes)
    curve = _curve(contrast, lift)
    factor = np.float32((_STEPS - 1) ** 2 / _MOST * exposure)
    for plane, target in zip(planes, out, strict=True):
        index = np.sqrt(np.clip(plane * factor, 0.0, float((_STEPS - 1) ** 2)))
        np.take(curve, index.astype(np.uint16), out=target, mode="clip")
    told(0.3)
    luma = sum(weight * plane for weight, plane in zip(_LUMA, out, strict=True))
    dark = _vignette(height, width, vignette)
    for plane, tone in zip(out, (0.012, 0.003, -0.010), strict=True):
        plane -= luma
        plane *= saturation
        plane += luma * (1.0 + tone)  # highlights warmer, shadows cooler
        plane -= np.float32(tone * 0.35)
        plane *= dark
    told(0.6)
    np.clip(out, 0.0, 1.0, out=out)
    return dithered(out, rng, grain=grain)


@lru_cache(8)
def _curve(contrast: float, lift: float) -> Floats:
    """Tabulate the film curve and the sRGB encoding over the square root of light."""
    curve = encode(darkroom.filmic(np.linspace(0.0, 1.0, _STEPS) ** 2 * _MOST))
    if (contrast, lift) != (1.0, 0.0):
        middle = _MIDDLE if contrast > 1.0 else _PALE
        curve = np.clip((curve - middle) * contrast + middle, 0.0, 1.0) * (1.0 - lift) + lift
        curve = curve.astype(np.float32)
    curve.flags.writeable = False
    return curve


def _vignette(height: int, width: int, strength: float) -> Floats:
    y = np.linspace(-0.5, 0.5, height, dtype=np.float32)[:, None] ** 2
    x = np.linspace(-0.5, 0.5, width, dtype=np.float32)[None] ** 2
    share = np.clip(((x + y) * 2 - 0.15) / 0.85, 0.0, 1.0)
    return np.asarray(1.0 - strength * share * share * (3 - 2 * share), np.float32)
