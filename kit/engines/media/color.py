"""Colors: chosen in OKLCH, mixed in OKLab, painted as encoded sRGB.

A gradient in OKLab keeps hue and lightness even along the way; painting uses encoded sRGB, so that
layers blend like in any drawing program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

#: Planes of numbers; docstrings give the shape.
Floats: TypeAlias = NDArray[np.float32]
#: An encoded sRGB picture, shape (height, width, 3), or a mask, shape (height, width).
Bytes: TypeAlias = NDArray[np.uint8]
#: Lightness 0 to 1, chroma from 0 (screens show up to about 0.3), hue in degrees.
Oklch: TypeAlias = tuple[float, float, float]

#: From encoded RGB (0 to 255) and 1 to luma and both chroma planes of video in limited range, shape
#: (3, 4); `RGB` is the inverse. All videos of the kit use this matrix and its tags.
#: Source: ITU-R BT.709-6.
_LUMA = np.array([0.2126, 0.7152, 0.0722])
_CHROMA = (np.eye(3)[[2, 0]] - _LUMA) / (2 * (1 - _LUMA[[2, 0], None]))
YUV: Floats = np.column_stack(
    [np.vstack([219 / 255 * _LUMA, 224 / 255 * _CHROMA]), [16, 128, 128]]
).astype(np.float32)
RGB: Floats = np.linalg.inv(np.vstack([YUV, [0, 0, 0, 1]]))[:3].astype(np.float32)

# Source: B. Ottosson, "A perceptual color space for image processing" (2020), the two matrices.
_FROM_LAB = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_TO_LINEAR = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)
_SIDE = 256
_RAMP_HALF = 128  # half the number of samples of a gradient


@lru_cache(4096)
def oklab(color: Oklch) -> NDArray[np.float64]:
    """Return a color in OKLab, its chroma reduced into the gamut of a screen.

    The array is cached and read-only.
    """
    lightness, chroma, hue = color
    a, b = math.cos(math.radians(hue)), math.sin(math.radians(hue))
    low, high = 0.0, chroma
    for _ in range(12):
        if _in_gamut(np.array([lightness, high * a, high * b])):
            low = high
            break
        middle = (low + high) / 2
        inside = _in_gamut(np.array([lightness, middle * a, middle * b]))
        low, high = (middle, high) if inside else (low, middle)
    lab = np.array([lightness, low * a, low * b])
    lab.flags.writeable = False
    return lab


def linear(lab: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return OKLab, shape (..., 3), as linear sRGB; values may lie outside 0 to 1."""
    return np.asarray(((lab @ _FROM_LAB.T) ** 3) @ _TO_LINEAR.T)


def lab_of(encoded: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return encoded sRGB, shape (..., 3), 0 to 1, as OKLab."""
    roots = np.cbrt(decode(encoded) @ np.linalg.inv(_TO_LINEAR).T)
    return np.asarray(roots @ np.linalg.inv(_FROM_LAB).T)


def decode(encoded: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return encoded sRGB as linear sRGB, 0 to 1."""
    value = np.asarray(encoded, np.float64)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def encode(light: NDArray[np.floating]) -> Floats:
    """Return linear sRGB as encoded sRGB, 0 to 1."""
    value = np.clip(np.asarray(light, np.float64), 0.0, 1.0)
    curve = np.where(value <= 0.0031308, value * 12.92, 1.055 * value ** (1 / 2.4) - 0.055)
    return np.asarray(curve, np.float32)


@lru_cache(4096)
def srgb(color: Oklch) -> Floats:
    """Return a color as encoded sRGB, shape (3,), 0 to 1.

    The array is cached and read-only.
    """
    painted = encode(linear(oklab(color)))
    painted.flags.writeable = False
    return painted


def ramp(stops: Sequence[tuple[float, Oklch]], at: NDArray[np.floating]) -> Floats:
    """Return a gradient through color stops at given positions, as encoded sRGB, 0 to 1.

    The shape is (3, *at.shape). Stops must have rising positions; the corners at stops are
    rounded, as the eye would see lines there.
    """
    fine, colors = _round_corners(tuple(stops))
    planes = np.empty((3, *np.shape(at)), np.float32)
    for plane, values in zip(planes, colors, strict=True):
        plane[...] = np.interp(at, fine, values)
    return planes


@lru_cache(256)
def _round_corners(
    stops: tuple[tuple[float, Oklch], ...],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return samples along a gradient: positions, shape (n,), and colors, shape (3, n)."""
    positions = [position for position, _ in stops]
    labs = np.array([oklab(color) for _, color in stops])
    fine = np.linspace(positions[0], positions[-1], 2 * _RAMP_HALF + 1)
    reach = _RAMP_HALF // 8
    along = np.empty((len(fine) + 2 * reach, 3))
    for axis in range(3):
        row = np.interp(fine, positions, labs[:, axis])
        before = 2 * row[0] - row[reach:0:-1]  # continued by point reflection
        after = 2 * row[-1] - row[-2 : -2 - reach : -1]
        along[:, axis] = np.concatenate([before, row, after])
    kernel = cv2.getGaussianKernel(2 * reach + 1, 0.05 * _RAMP_HALF).ravel()
    smooth = np.array([np.convolve(along[:, axis], kernel, "valid") for axis in range(3)])
    return fine, np.asarray(encode(linear(smooth.T)).T, np.float64)


@lru_cache(4096)
def mix(one: Oklch, other: Oklch, share: float) -> Oklch:
    """Return the color at a share of the way from one to another, in OKLab."""
    lab = oklab(one) * (1 - share) + oklab(other) * share
    return (
        float(lab[0]),
        math.hypot(lab[1], lab[2]),
        math.degrees(math.atan2(lab[2], lab[1])) % 360,
    )


def noise_tile(rng: np.random.Generator) -> Floats:
    """Return triangular noise of one 8-bit step, shape (3, n, n), that tiles seamlessly."""
    shape = (3, _SIDE, _SIDE)
    return np.asarray(rng.random(shape, np.float32) - rng.random(shape, np.float32))


def dither(planes: Floats, rng: np.random.Generator, *, grain: float = 0.0) -> Bytes:
    """Return planes, shape (3, height, width), encoded sRGB, 0 to 1, as 8-bit without banding.

    The planes are overwritten. Paper `grain`, in steps of 8 bits, is the same in all channels.
    -
    """
    _, height, width = planes.shape
    tile = noise_tile(rng)
    if grain:
        coarse = cv2.GaussianBlur(rng.standard_normal((_SIDE, _SIDE), np.float32), (0, 0), 0.7)
        tile = tile + grain * 1.6 * coarse
    repeats = (-(-height // _SIDE), -(-width // _SIDE))
    out = []
    for plane, noise in zip(planes, tile, strict=True):
        spread = np.tile(noise, repeats)[:height, :width]
        cv2.scaleAdd(plane, 255.0, spread, dst=spread)
        out.append(cv2.convertScaleAbs(np.maximum(spread, 0.0)))
    return np.asarray(cv2.merge(out))


def _in_gamut(lab: NDArray[np.float64]) -> bool:
    rgb = linear(lab)
    return bool(rgb.min() >= -1e-4 and rgb.max() <= 1.0001)
