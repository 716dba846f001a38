"""Grading: a look applied to pixels, by one table per channel, one matrix and a soft light."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.editing.picture.finish import bands
from kit.engines.editing.picture.looks import Look
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_ROWS = 256  # of a band
_GLOW_SIDE = 320  # pixels a side of the copy that is blurred for a glow


def graded(pixels: Bytes, look: Look) -> Bytes:
    """Return a picture in a look.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    """
    # Colors first, so that a look without color can still be toned by the tables.
    out = cv2.transform(pixels, color_matrix(look.saturation))
    out = cv2.LUT(out, _tables(look), dst=out)
    if look.glow:
        out = _glowing(out, look.glow)
    if look.vignette:
        out = _vignetted(out, look.vignette)
    return np.asarray(out)


def color_matrix(saturation: float) -> Floats:
    """Return what red, green and blue become: 1 leaves them, 0 makes them one gray."""
    own = saturation * np.eye(3, dtype=np.float32)
    return np.asarray(own + (1 - saturation) * np.tile(_LUMA, (3, 1)), np.float32)


def _tables(look: Look) -> Bytes:
    tone: Floats = np.linspace(0.0, 1.0, 256, dtype=np.float32)
    middle: Floats = np.float32(4.0) * tone * (np.float32(1.0) - tone)
    shifts = (look.warmth + look.tint / 2, -look.tint, -look.warmth + look.tint / 2)
    channels = []
    for shift, dark, light in zip(shifts, look.shadows, look.highlights, strict=True):
        value = _curved(tone + np.float32(shift + look.light) * middle, look.contrast)
        channels.append(value + dark * (1.0 - tone) ** 2 + light * tone**2)
    return np.asarray(np.rint(np.stack(channels, axis=1) * 255).clip(0, 255), np.uint8)[None]


def _curved(value: Floats, contrast: float) -> Floats:
    """Steepen around the middle with rounded ends, so that lights and darks keep their drawing."""
    if contrast <= 1.0:
        return np.asarray(0.5 + contrast * (value - 0.5), np.float32)
    steep = 3.2 * (contrast - 1.0) + 1e-3
    curve = np.tanh(steep * (2.0 * value - 1.0)) / np.tanh(steep)
    return np.asarray(0.5 + 0.5 * curve, np.float32)


def _glowing(pixels: Bytes, amount: float) -> Bytes:
    """Let lights shine beyond their outlines, in place: a large picture fits few times."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _GLOW_SIDE / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    light = small * smooth_step(0.35, 0.95, small @ _LUMA)[..., None]
    soft = cv2.GaussianBlur(light, (0, 0), 0.012 * _GLOW_SIDE)
    soft += cv2.GaussianBlur(light, (0, 0), 0.045 * _GLOW_SIDE)
    veil = np.rint(255 * np.clip(amount * soft, 0, 1)).astype(np.uint8)
    veil = cv2.resize(veil, (width, height), interpolation=cv2.INTER_CUBIC)
    # Screen: light adds up but never clips.
    for plane in (pixels, veil):
        cv2.bitwise_not(plane, dst=plane)
    cv2.multiply(pixels, veil, dst=pixels, scale=1 / 255)
    return np.asarray(cv2.bitwise_not(pixels, dst=pixels))


def _vignetted(pixels: Bytes, amount: float) -> Bytes:
    """Darken the corners, in place."""
    mask = _shade(pixels.shape, amount)
    for rows, _, _ in bands(len(pixels), _ROWS, 0):
        part = pixels[rows]
        cv2.multiply(part, cv2.merge([mask[rows]] * 3), dst=part, scale=1 / 255)
    return pixels


def _shade(shape: tuple[int, ...], amount: float) -> Bytes:
    height, width = shape[:2]
    rows = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    columns = np.linspace(-1, 1, 64, dtype=np.float32)[None, :]
    shade = 255 * (1.0 - amount * smooth_step(0.5, 2.0, rows**2 + columns**2))
    large = cv2.resize(shade, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.convertScaleAbs(large))
