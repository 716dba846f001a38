"""The darkroom: light gathers in linear planes, and film turns it into a picture.

Every painter adds up linear light in planes, shape (3, height, width), float32, where 1 is paper
white and more is allowed; nothing is clipped before `developed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Oklch, dithered, encode, linear, oklab
from kit.engines.painting.fields import Plane
from kit.engines.prompt.brief import Brief

#: Detail -> how much larger than asked for a picture is painted.
_SCALES = {"low": 0.7, "standard": 1.0, "high": 1.4}
_LARGEST = 2048  # pixels of the longer side, beyond which nothing is painted larger than asked
_LUT = 4096
_CURVE = 8192
_BRIGHTEST = 16.0
_LUMA = (0.2126, 0.7152, 0.0722)


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """How light becomes a picture.

    Parameters
    ----------
    exposure : float
        Factor on the light.
    contrast, saturation : float
        1 leaves the curve and the colors as they are.
    vignette : float
        Share of the light that the corners lose.
    grain : float
        Strength of the grain in steps of 8 bits.
    lift : float
        How much darkness is lightened, 0 to 1.
    """

    exposure: float = 1.0
    contrast: float = 1.0
    saturation: float = 1.0
    vignette: float = 0.25
    grain: float = 1.2
    lift: float = 0.0


def painted(brief: Brief, progress: Progress, painter: Callable[[Brief, Progress], Bytes]) -> Bytes:
    """Return a picture in the brief's size, painted smaller or larger as its detail asks for.

    Parameters
    ----------
    painter : callable
        Paints a brief at its width and height; it must show the same scene at every size.
    """
    scale = min(_SCALES[brief.detail], max(1.0, _LARGEST / max(brief.width, brief.height)))
    width, height = max(48, round(brief.width * scale)), max(48, round(brief.height * scale))
    pixels = painter(replace(brief, width=width, height=height), progress)
    if (width, height) == (brief.width, brief.height):
        return pixels
    how = cv2.INTER_AREA if scale > 1.0 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (brief.width, brief.height), interpolation=how))


def light(color: Oklch) -> Plane:
    """Return a color as linear light, shape (3, 1, 1), so that it spreads over planes."""
    return np.asarray(np.maximum(linear(oklab(color)), 0.0)[:, None, None], np.float32)


def gradient(stops: Sequence[tuple[float, Oklch]], at: NDArray[np.floating]) -> Plane:
    """Return a gradient through color stops as linear light, shape (3, *at.shape).

    Parameters
    ----------
    stops : sequence of (position, color)
        Positions rise within 0 to 1; the corners between stretches are rounded off.
    at : ndarray
        Positions to look up, clipped to 0 to 1.
    """
    lut = _lut(tuple(stops))
    index = np.clip(at, 0.0, 1.0) * np.float32(_LUT - 1) + np.float32(0.5)
    index = index.astype(np.uint16)
    return np.stack([plane[index] for plane in lut])


def blended(one: Plane, other: Plane, share: Plane) -> Plane:
    """Return the light a share of the way from one to another."""
    change = np.asarray(other - one, np.float32)
    if np.broadcast_shapes(change.shape, share.shape) != change.shape:
        return np.asarray(one + change * share, np.float32)
    change *= share
    change += one
    return change


def softened(plane: Plane, sigma: float) -> Plane:
    """Return a plane blurred by a Gaussian of `sigma` pixels; a wide one is done at small size."""
    height, width = plane.shape
    step = int(sigma / 3)
    if step <= 1:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), max(sigma, 0.1)))
    size = (max(2, width // step), max(2, height // step))
    small = cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / step)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR))


@dataclass(frozen=True, slots=True)
class Lens:
    """How bright parts glow.

    Parameters
    ----------
    reduced : int
        How many times smaller the glow is drawn.
    most : float
        Light beyond the threshold that counts.
    glows : tuple of (sigma, share)
        Sigmas in reduced pixels of a picture whose longer side has 1024.
    """

    reduced: int
    most: float
    glows: tuple[tuple[float, float], ...]


_LENS = Lens(3, 5.0, ((5 / 3, 1.2), (8.0, 0.768), (95 / 3, 0.576)))


def bloom(
    picture: Plane, *, threshold: float = 0.8, strength: float = 0.4, lens: Lens = _LENS
) -> None:
    """Make the brightest parts glow as in a lens, in place: tight, wide and very wide."""
    _, height, width = picture.shape
    reach = max(height, width) / 1024
    size = (max(8, width // lens.reduced), max(8, height // lens.reduced))
    for plane in picture:
        small = cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
        bright = np.clip(small - np.float32(threshold), 0.0, lens.most)
        glow = np.zeros_like(bright)
        for sigma, share in lens.glows:
            glow += softened(bright, sigma * reach) * np.float32(share)
        cv2.scaleAdd(cv2.resize(glow, (width, height)), strength, plane, dst=plane)


def filmic(light: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return light of 0 and up as film shows it, linear, 0 to 1: highlights roll off.

    Source: K. Narkowicz, "ACES Filmic Tone Mapping Curve" (2016), the rational fit.
    """
    x = light * 0.8
    return np.clip((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)


def developed(picture: Plane, rng: np.random.Generator, film: Film) -> Bytes:
    """Return linear light as an sRGB picture: filmic curve, vignette, grain, dither.

    Parameters
    ----------
    picture : ndarray of float32
        Shape (3, height, width), linear, 0 and up. It is used as scratch space.

    Returns
    -------
    ndarray of uint8
        Shape (height, width, 3).
    """
    _, height, width = picture.shape
    curve = _curve(film.contrast, film.lift)
    falloff = _falloff(height, width, film.vignette) * np.float32(film.exposure / _BRIGHTEST)
    for plane in picture:
        plane *= falloff
        np.clip(plane, 0.0, 1.0, out=plane)
        index = cv2.sqrt(plane) * np.float32(_CURVE - 1)
        plane[...] = curve[index.astype(np.uint16)]
    if film.saturation != 1.0:
        gray = sum(weight * plane for weight, plane in zip(_LUMA, picture, strict=True))
        picture -= gray
        picture *= np.float32(film.saturation)
        picture += gray
    return dithered(np.asarray(picture, np.float32), rng, grain=film.grain)


@lru_cache(64)
def _lut(stops: tuple[tuple[float, Oklch], ...]) -> Plane:
    places = [place for place, _ in stops]
    labs = np.stack([oklab(color) for _, color in stops])
    fine = np.linspace(0.0, 1.0, _LUT)
    lut = np.stack([np.interp(fine, places, labs[:, axis]) for axis in range(3)], axis=1)
    padded = np.pad(lut, ((256, 256), (0, 0)), mode="edge")
    kernel = cv2.getGaussianKernel(513, 88).ravel()
    lut = np.stack([np.convolve(padded[:, axis], kernel, "valid") for axis in range(3)], axis=1)
    table = np.ascontiguousarray(np.maximum(linear(lut), 0.0).T, np.float32)
    table.flags.writeable = False
    return table


@lru_cache(8)
def _curve(contrast: float, lift: float) -> Plane:
    """Return the film's curve over the square root of light, so that shadows get many steps."""
    film = filmic(np.linspace(0.0, 1.0, _CURVE) ** 2 * _BRIGHTEST)
    # Where darkness is lightened, white stays white.
    middle = 0.85 if lift else 0.45
    shown = (encode(film) - middle) * contrast + middle
    curve = np.asarray(np.clip(shown, 0.0, 1.0) * (1.0 - lift) + lift, np.float32)
    curve.flags.writeable = False
    return curve


def _falloff(height: int, width: int, amount: float) -> Plane:
    down = np.linspace(-1.0, 1.0, height, dtype=np.float32)[:, None] ** 2
    across = np.linspace(-1.0, 1.0, width, dtype=np.float32)[None] ** 2
    corner = np.clip((down + across) * 0.5, 0.0, 1.0)
    return np.asarray(1.0 - np.float32(amount) * corner ** np.float32(1.2), np.float32)
