"""Scrims: as much shade behind a text as it needs to be read, and accents that stand out on it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, encode, lab_of, linear
from kit.engines.media.noise import smooth_step

#: Least contrast of text to what is behind it. Source: WCAG 2.2, success criterion 1.4.3.
LEAST = 4.5
_AIM = 4.8  # what is left over for rounding and for glints smaller than a letter
_BLOCK = 12  # pixels over which brightness is averaged: smaller glints do not hide letters
_ROWS = 256  # shaded at a time; bounds the memory
_STEPS = np.linspace(0.0, 0.92, 24)
_BRIGHT = 0.42  # luminance from which on dark letters need less shade than light ones


@dataclass(frozen=True, slots=True)
class Tone:
    """Light letters on shade, or dark letters on a light veil.

    Parameters
    ----------
    ink, shade : tuple of int
        Color of letters and of what is laid behind them.
    worst : float
        Percentile of the brightness behind the text that letters must still stand out from.
    end : float
        Lightness, in OKLab, towards which an accent is moved.
    """

    ink: tuple[int, int, int]
    shade: tuple[int, int, int]
    worst: float
    end: float


LIGHT = Tone((255, 255, 255), (9, 8, 26), 97.0, 1.0)
DARK = Tone((18, 18, 24), (255, 253, 250), 3.0, 0.1)


def tone_for(pixels: Bytes, rows: tuple[int, int]) -> Tone:
    """Return the tone that needs less shade behind a text between two rows."""
    behind = luminance(_averaged(pixels[max(0, rows[0]) : rows[1]]))
    return DARK if float(np.median(behind)) > _BRIGHT else LIGHT


def scrimmed(pixels: Bytes, rows: tuple[int, int], tone: Tone, least: float) -> tuple[Bytes, float]:
    """Return a picture shaded behind a text, and how bright it is there.

    Parameters
    ----------
    rows : tuple of int
        Top and bottom of the text.
    least : float
        Shade that it gets in any case, 0 to 1.

    Returns
    -------
    pixels : ndarray of uint8
    ground : float
        Relative luminance behind the text, 0 to 1, where letters stand out least.
    """
    height = pixels.shape[0]
    band = pixels[max(0, rows[0]) : min(height, rows[1])]
    behind = _averaged(band)
    shares = [share for share in _STEPS if share >= least] or [least]
    for share in shares:
        ground = _ground(behind, tone, float(share))
        if contrast_on(tone.ink, ground) >= _AIM:
            break
    mask = (share * _profile(height, rows))[:, None, None]
    out = pixels.copy()
    for top in range(0, height, _ROWS):
        part = slice(top, top + _ROWS)
        if mask[part].any():
            old = pixels[part]
            shaded = old + mask[part] * (np.array(tone.shade, np.float32) - old)
            out[part] = np.rint(shaded).astype(np.uint8)
    return out, ground


def contrast_on(color: tuple[int, int, int], ground: float) -> float:
    """Return the contrast of a color to a relative luminance, 1 to 21."""
    light = float(luminance(np.array(color, np.float32)))
    high, low = max(light, ground), min(light, ground)
    return (high + 0.05) / (low + 0.05)


def accent_on(color: tuple[int, int, int], ground: float, tone: Tone) -> tuple[int, int, int]:
    """Return a color, made lighter or darker in its own hue as far as it must be to stand out."""
    lab = lab_of(np.array(color) / 255)
    whole = max(1e-6, abs(tone.end - lab[0]))
    for lightness in np.linspace(lab[0], tone.end, 24):
        kept = min(1.0, abs(tone.end - lightness) / whole + 0.25)
        rgb = encode(linear(np.array([lightness, *(lab[1:] * kept)])))
        red, green, blue = (int(np.clip(np.rint(255 * channel), 0, 255)) for channel in rgb)
        if contrast_on((red, green, blue), ground) >= LEAST:
            return (red, green, blue)
    return tone.ink


def luminance(color: Floats) -> Floats:
    """Return the relative luminance of colors of 0 to 255, shape (..., 3). Source: WCAG 2.2."""
    value = np.asarray(color, np.float32) / 255
    light = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(light @ np.array([0.2126, 0.7152, 0.0722]), np.float32)


def _averaged(band: Bytes) -> Floats:
    height, width = band.shape[:2]
    size = (max(1, width // _BLOCK), max(1, height // _BLOCK))
    return np.asarray(cv2.resize(band, size, interpolation=cv2.INTER_AREA), np.float32)


def _ground(behind: Floats, tone: Tone, share: float) -> float:
    shaded = behind + share * (np.array(tone.shade, np.float32) - behind)
    return float(np.percentile(luminance(shaded), tone.worst))


def _profile(height: int, rows: tuple[int, int]) -> Floats:
    """Return the shade of each row: full behind the text, fading out above and below it."""
    at = np.arange(height, dtype=np.float32)
    fade = 0.55 * (rows[1] - rows[0]) + 0.05 * height
    above = smooth_step(rows[0] - fade, rows[0], at) if rows[0] > fade * 0.6 else np.float32(1.0)
    beyond = height - rows[1]
    below = smooth_step(rows[1] + fade, rows[1], at) if beyond > fade * 0.6 else np.float32(1.0)
    return np.asarray(above * below * np.ones_like(at), np.float32)
