"""Inks: the colors of a title, and the tints of a picture that they are chosen to suit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats, encode, lab_of, linear, paint

#: Least contrast of text to what is behind it. Source: WCAG 2.2, success criterion 1.4.3.
LEAST = 4.5
_SMALL = 48  # pixels a side that tell a picture's tints
#: Hues, in degrees of OKLCH, of accents on light pictures: crimson, blue, violet, teal.
_ACCENTS = (22.0, 262.0, 305.0, 190.0)

Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Tone:
    """Light letters on shade, or dark letters on a light veil.

    Parameters
    ----------
    ink : tuple of int
        Color of the letters.
    light : bool
        Whether the letters are the lighter ones.
    end : float
        Lightness, in OKLab, towards which an accent is moved.
    """

    ink: Color
    light: bool
    end: float


LIGHT = Tone((255, 255, 255), True, 1.0)
DARK = Tone((18, 18, 24), False, 0.1)


@dataclass(frozen=True, slots=True)
class Tints:
    """What a picture's own darks and lights look like: RGB, 0 to 1, shape (3,)."""

    dark: Floats
    light: Floats
    ink: Color


def tints_of(pixels: Bytes, behind: Bytes) -> Tints:
    """Return the tints of a picture's darks and lights, no stronger than suits a part of it."""
    small = cv2.resize(pixels, (_SMALL, _SMALL), interpolation=cv2.INTER_AREA)
    lab = lab_of(small.reshape(-1, 3) / 255)
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    low, high = np.percentile(lab[:, 0], (45, 60))
    dark = _mean_hue(lab, (lab[:, 0] <= low) * (chroma + 0.004))
    light = _mean_hue(lab, (lab[:, 0] >= high) * (chroma + 0.004))
    ink = paint((0.21, min(0.05, 0.8 * dark[0]), dark[1]))
    return Tints(
        paint((0.32, min(0.14, 1.7 * dark[0], 0.02 + 1.4 * _chroma(behind)), dark[1])),
        paint((0.975, min(0.022, 0.4 * light[0]), light[1])),
        _color(ink),
    )


def _chroma(pixels: Bytes) -> float:
    few = cv2.resize(pixels, (_SMALL, _SMALL), interpolation=cv2.INTER_AREA)
    lab = lab_of(few.reshape(-1, 3) / 255)
    return float(np.hypot(lab[:, 1], lab[:, 2]).mean())


def _mean_hue(lab: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return chroma, and hue in degrees, of a weighted mean of OKLab colors."""
    a, b = (weights[:, None] * lab[:, 1:]).sum(axis=0) / max(1e-9, weights.sum())
    return float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


def accent_for(ground: Sequence[float]) -> Color:
    """Return an accent for dark letters: a deep hue that stands apart from what is behind it.

    Parameters
    ----------
    ground : sequence of float
        Mean color behind the text, RGB, 0 to 255.
    """
    _, a, b = lab_of(np.array(ground) / 255)
    hue = np.degrees(np.arctan2(b, a)) % 360
    gray = np.hypot(a, b) < 0.02

    def off(other: float) -> float:
        return float(abs((other - hue + 180) % 360 - 180))

    best = _ACCENTS[0] if gray else max(_ACCENTS, key=lambda other: min(120.0, off(other)))
    return _color(paint((0.5, 0.21, best)))


def contrast_on(color: Color, ground: float) -> float:
    """Return the contrast of a color to a relative luminance, 1 to 21."""
    light = float(luminance(np.array(color, np.float32)))
    high, low = max(light, ground), min(light, ground)
    return (high + 0.05) / (low + 0.05)


def accent_on(color: Color, ground: float, tone: Tone) -> Color:
    """Return a color, made lighter or darker in its own hue as far as it must be to stand out."""
    lab = lab_of(np.array(color) / 255)
    whole = max(1e-6, abs(tone.end - lab[0]))
    for lightness in np.linspace(lab[0], tone.end, 24):
        kept = min(1.0, abs(tone.end - lightness) / whole + 0.25)
        rgb = _color(encode(linear(np.array([lightness, *(lab[1:] * kept)]))))
        if contrast_on(rgb, ground) >= LEAST:
            return rgb
    return tone.ink


def luminance(color: Floats | Bytes) -> Floats:
    """Return the relative luminance of colors of 0 to 255, shape (..., 3). Source: WCAG 2.2."""
    value = np.asarray(color, np.float32) / 255
    light = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(light @ np.array([0.2126, 0.7152, 0.0722]), np.float32)


def _color(rgb: Floats) -> Color:
    red, green, blue = (int(np.clip(np.rint(255 * channel), 0, 255)) for channel in rgb)
    return red, green, blue
