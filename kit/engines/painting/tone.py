"""Tone: linear light becomes a picture by exposure, bloom, film curve, vignette and grain.

All painters add linear light in planes, shape (3, height, width), float32, where 1 is paper white
and a sun may be 20; nothing is clipped before `develop`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, Oklch, dither, encode, linear, oklab
from kit.engines.painting.noise import Plane, blur
from kit.engines.prompt.brief import Brief

_LUT_SIZE, _CURVE_SIZE = 4096, 8192
_MAX_LIGHT = 16.0
_LUMA = (0.2126, 0.7152, 0.0722)
_MIN_LIGHT = 0.56  # minimum share of its light that a picture keeps
#: For a longer side of 1024 pixels: sigmas of the bloom, and their weights.
_BLOOM = ((6.0, 1.1), (24.0, 0.72), (90.0, 0.56))
_BLOOM_SCALE = 4  # bloom is computed at this reduction
_MAX_FLARE = 5.0  # maximum light above the threshold that counts
_MID_TONE, _PALE_TONE = 0.45, 0.72  # tones around which contrast grows and shrinks


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """The conversion of light to a picture."""

    exposure: float = 1.0
    contrast: float = 1.0
    saturation: float = 1.0
    lift: float = 0.0  # how much the darks are lightened, 0 to 1
    vignette: float = 0.25  # share of the light lost in the corners
    bloom: float = 0.0  # strength of the glow around light above the threshold
    threshold: float = 0.8
    grain: float = 1.2  # in steps of 8 bits
    filmic: bool = True  # highlights roll off; else light above 1 is white
    seed: int = 0  # of the grain

    def grade(self, brief: Brief) -> Film:
        """Return the film adjusted to a brief's moods and tones, with its seed for the grain."""
        grade = brief.grade
        return replace(
            self,
            exposure=self.exposure * max(grade.exposure, _MIN_LIGHT),
            contrast=self.contrast * grade.contrast,
            saturation=self.saturation * grade.saturation,
            vignette=min(0.75, max(0.0, self.vignette + grade.corners)),
            lift=min(0.4, self.lift + grade.lift),
            seed=brief.seed,
        )


def develop(light: Floats, film: Film) -> Bytes:
    """Return linear light, shape (3, height, width), as sRGB, shape (height, width, 3), uint8."""
    _, height, width = light.shape
    curve = _curve(film.contrast, film.lift, film.filmic)
    down = np.linspace(-1.0, 1.0, height, dtype=np.float32)[:, None] ** 2
    across = np.linspace(-1.0, 1.0, width, dtype=np.float32)[None] ** 2
    corner = np.clip((down + across) * 0.5, 0.0, 1.0) ** np.float32(1.2)
    falloff = (1.0 - np.float32(film.vignette) * corner) * np.float32(film.exposure / _MAX_LIGHT)
    picture = np.empty((3, height, width), np.float32)
    for plane, out in zip(light, picture, strict=True):
        if film.bloom:
            cv2.scaleAdd(_glow(plane, film.threshold), film.bloom, plane, dst=out)
            out *= falloff
        else:
            np.multiply(plane, falloff, out=out)
        np.clip(out, 0.0, 1.0, out=out)
        index = cv2.sqrt(out)
        index *= np.float32(_CURVE_SIZE - 1)
        np.take(curve, index.astype(np.uint16), out=out, mode="clip")
    if film.saturation != 1.0:
        gray = np.zeros((height, width), np.float32)
        for plane, share in zip(picture, _LUMA, strict=True):
            cv2.scaleAdd(plane, share * (1.0 - film.saturation), gray, dst=gray)
        picture *= np.float32(film.saturation)
        picture += gray
    return dither(picture, np.random.default_rng([film.seed, 91]), grain=film.grain)


def light(color: Oklch, power: float = 1.0) -> Floats:
    """Return a color as linear light, shape (3, 1, 1), for broadcasting."""
    planes = np.maximum(linear(oklab(color)), 0.0)[:, None, None] * power
    return np.asarray(planes, np.float32)


def gradient(stops: Sequence[tuple[float, Oklch]], at: Plane, *, rounding: float = 0.022) -> Floats:
    """Return a gradient through color stops as linear light, shape (3, *at.shape).

    Stops are (position, color), rising within 0 to 1; `rounding` is that of the corners.
    """
    lut = _lut(tuple(stops), rounding)
    index = np.clip(at, 0.0, 1.0) * np.float32(_LUT_SIZE - 1) + np.float32(0.5)
    index = index.astype(np.uint16)
    return np.stack([plane[index] for plane in lut])


def even_stops(colors: Sequence[Oklch]) -> list[tuple[float, Oklch]]:
    """Return colors as evenly spaced stops of a gradient."""
    return [(number / (len(colors) - 1), color) for number, color in enumerate(colors)]


def blend(one: Plane, other: Plane, share: Plane) -> Floats:
    """Return the light at a share of the way from one to another."""
    change = np.asarray(other - one, np.float32)
    if np.broadcast_shapes(change.shape, share.shape) != change.shape:
        return np.asarray(one + change * share, np.float32)
    change *= share
    change += one  # in place: new memory costs more than the arithmetic
    return change


def decode(pixels: Bytes) -> Floats:
    """Return sRGB pixels, shape (height, width, 3), as planes of linear light."""
    value = np.arange(256) / 255.0
    table = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.stack([table.astype(np.float32)[pixels[..., channel]] for channel in range(3)])


def _glow(plane: Floats, threshold: float) -> Floats:
    height, width = plane.shape
    reach = max(height, width) / 1024
    size = (max(8, width // _BLOOM_SCALE), max(8, height // _BLOOM_SCALE))
    small = cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
    bright = np.clip(small - np.float32(threshold), 0.0, _MAX_FLARE)
    glow = np.zeros_like(bright)
    for sigma, share in _BLOOM:
        glow += blur(bright, sigma * reach / _BLOOM_SCALE) * np.float32(share)
    return np.asarray(cv2.resize(glow, (width, height)))


@lru_cache(64)
def _lut(stops: tuple[tuple[float, Oklch], ...], rounding: float) -> Floats:
    places = [place for place, _ in stops]
    labs = np.stack([oklab(color) for _, color in stops])
    fine = np.linspace(0.0, 1.0, _LUT_SIZE)
    lut = np.stack([np.interp(fine, places, labs[:, axis]) for axis in range(3)], axis=1)
    sigma = rounding * _LUT_SIZE
    reach = int(3 * sigma)
    padded = np.pad(lut, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    kernel = cv2.getGaussianKernel(2 * reach + 1, sigma).ravel()
    lut = np.stack([np.convolve(padded[:, axis], kernel, "valid") for axis in range(3)], axis=1)
    table = np.ascontiguousarray(np.maximum(linear(lut), 0.0).T, np.float32)
    table.flags.writeable = False
    return table


@lru_cache(16)
def _curve(contrast: float, lift: float, filmic: bool) -> Floats:
    """Return encoded sRGB over the square root of light, for many steps in the shadows."""
    x = np.linspace(0.0, 1.0, _CURVE_SIZE) ** 2 * _MAX_LIGHT
    if filmic:  # Source: K. Narkowicz, "ACES Filmic Tone Mapping Curve" (2016), the rational fit.
        x = 0.8 * x
        x = (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)
    shown = encode(x)
    if contrast > 1.0:  # an S-curve, which keeps black and white
        low = _MID_TONE * (np.minimum(shown, _MID_TONE) / _MID_TONE) ** contrast
        rest = 1.0 - _MID_TONE
        high = rest * ((1.0 - np.maximum(shown, _MID_TONE)) / rest) ** contrast
        shown = np.where(shown < _MID_TONE, low, 1.0 - high)
    else:
        shown = np.clip((shown - _PALE_TONE) * contrast + _PALE_TONE, 0.0, 1.0)
    curve = np.asarray(shown * (1.0 - lift) + lift, np.float32)
    curve.flags.writeable = False
    return curve
