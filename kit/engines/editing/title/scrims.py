"""Scrims: as much shade behind a text as it needs to be read, in the picture's own colors.

A scrim multiplies with a dark tint of the picture, or veils with a light one, and bends what is
still too bright (or too dark) below (above) a bound, so that the contrast holds on any picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.editing.title.places import Discs, found, small_size
from kit.engines.editing.title.setting import Tints, Tone, luminance
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

_AIM = 4.75  # what is left over for rounding and for glints smaller than a letter
_BLOCK = 6  # pixels over which brightness is averaged: smaller glints do not hide letters
_ROWS = 48  # shaded at a time; bounds the memory
_SMALL = 128  # pixels a side of the copy that is blurred
_STEPS = np.linspace(0.0, 1.0, 26)
_KNEE = 0.6  # share of the bound from which on brightness is bent
_GLINT = np.float32(
    60.0
)  # steps that a small bright (or dark) place may differ from its surroundings
_CALM = 0.8  # share of the bound below which most of the picture behind the text should lie
_FAR, _CLOSE = (0.42, 0.16), (0.15, 0.11)  # over how much of the picture shades fade out
_REACH = np.float32(0.6)  # share of the shade that reaches far beyond the letters
_ONE = np.ones((1, 1, 1), np.float32)
_LIGHT = np.array([[0.2126, 0.7152, 0.0722]], np.float32)

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Scrim:
    """How the picture behind a text is changed.

    Parameters
    ----------
    tint : ndarray of float32
        What it is multiplied with or veiled by, RGB, 0 to 1.
    share : float
        How strongly, 0 to 1.
    bound : float
        Gray, 0 to 255, that nothing behind the text passes.
    kept : float
        Share of the detail that is kept; the rest goes over into its surroundings.
    """

    tone: Tone
    tint: Floats
    share: float
    bound: float
    kept: float

    def over(self, pixels: Floats, around: Floats, near: Floats, wide: Floats) -> Floats:
        """Return float pixels, 0 to 255, under the scrim.

        Parameters
        ----------
        around : ndarray of float32
            The same, blurred.
        near, wide : ndarray of float32
            Masks, 0 to 1, shape (rows, columns, 1): where letters are, and how far shade reaches.
        """
        flat = pixels if self.kept == 1.0 else self._calm(pixels, around, near)
        mask = _REACH * wide + (1 - _REACH) * near
        share = np.asarray(self.share * mask, np.float32)
        if self.tone.light:
            shaded = np.asarray(flat * (1.0 + share * (self.tint - 1.0)), np.float32)
            return np.asarray(shaded + near * (_bent(shaded, self.bound) - shaded))
        veiled = flat + share * (255 * self.tint - flat)
        bent = 255.0 - _bent(255.0 - veiled, 255.0 - self.bound)
        return np.asarray(veiled + near * (bent - veiled))

    def beside(self, pixels: Floats, wide: Floats) -> Floats:
        """Return float pixels under that part of the scrim that reaches beyond the letters."""
        share = np.float32(self.share) * _REACH * wide
        if self.tone.light:
            return np.asarray(pixels * (1.0 + share * (self.tint - 1.0)))
        return np.asarray(pixels + share * (255 * self.tint - pixels))

    def _calm(self, pixels: Floats, around: Floats, near: Floats) -> Floats:
        """Draw a sun behind the text as a soft light in the sky's own color, not a gray disc."""
        off = pixels - around
        calm = _GLINT * np.tanh(np.float32(self.kept / _GLINT) * _hued(off, around))
        return np.asarray(pixels + near * (calm - off))


@dataclass(frozen=True, slots=True)
class Need:
    """What a text asks of the picture behind it.

    Parameters
    ----------
    ink : float
        Relative luminance of that color of the text which is nearest to what lies behind it.
    least : float
        Shade that it gets in any case, 0 to 1.
    sparing : bool
        Whether what outshines its surroundings, like a sun, is left alone beside the text.
    """

    tone: Tone
    tints: Tints
    ink: float
    least: float
    sparing: bool = False


def scrimmed(pixels: Bytes, box: Box, need: Need) -> tuple[Bytes, float]:
    """Return a picture shaded behind a text, and how bright it is there.

    Parameters
    ----------
    box : tuple of int
        Left, top, right and bottom of the text.

    Returns
    -------
    pixels : ndarray of uint8
    ground : float
        Relative luminance behind the text, 0 to 1, where letters stand out least.
    """
    around = _around(pixels)
    scrim = _chosen(pixels, around, box, need)
    wide, near = (_profiles(pixels.shape, box, fades) for fades in (_FAR, _CLOSE))
    discs = _discs(pixels, around, box, need.tone) if need.sparing else None
    out = pixels.copy()
    for top in range(0, pixels.shape[0], _ROWS):
        rows = slice(top, top + _ROWS)
        reach = wide[1][rows, None] * wide[0]
        if reach.max() > 1 / 512:
            close = near[1][rows, None] * near[0]
            old, soft = pixels[rows].astype(np.float32), around[rows].astype(np.float32)
            if discs is not None:
                shining = _standing_out(old, soft, need.tone)
                reach, close = discs.spared(shining, reach, close, rows)
            bare = close.max() < 1 / 512
            new = (
                scrim.beside(old, reach[..., None])
                if bare
                else scrim.over(old, soft, close[..., None], reach[..., None])
            )
            if discs is not None and need.tone.light:
                hidden = (shining * discs.behind[rows])[..., None]
                new = new + hidden * (_lowered(old, soft, scrim.bound) - new)
            out[rows] = np.rint(new).clip(0, 255).astype(np.uint8)
    return out, ground_of(out, box, need.tone)


def ground_of(pixels: Bytes, box: Box, tone: Tone) -> float:
    """Return the relative luminance in a box, 0 to 1, where letters stand out least."""
    light = luminance(_averaged(pixels, box))
    return float(np.percentile(light, 99.0 if tone.light else 1.0))


def _chosen(pixels: Bytes, around: Bytes, box: Box, need: Need) -> Scrim:
    """Return the weakest scrim under which the text can be read."""
    tone, tints = need.tone, need.tints
    behind, soft = _averaged(pixels, box), _averaged(around, box)
    limit = _limit(need.ink, tone)
    tint = tints.dark if tone.light else tints.light
    kept = _kept(behind)
    calm = _CALM * limit if tone.light else limit + 0.25 * (1.0 - limit)
    scrim = Scrim(tone, tint, 1.0, _gray(limit), kept)
    for share in _STEPS[need.least <= _STEPS]:
        scrim = Scrim(tone, tint, float(share), _gray(limit), kept)
        light = luminance(scrim.over(behind, soft, _ONE, _ONE))
        middle, worst = np.percentile(light, (70, 99.5) if tone.light else (30, 0.5))
        enough = middle <= calm if tone.light else middle >= calm
        if enough and _apart(float(worst), need.ink) >= _AIM:
            break
    return scrim


def _limit(ink: float, tone: Tone) -> float:
    if tone.light:
        return (ink + 0.05) / _AIM - 0.05
    return min(0.95, (ink + 0.05) * _AIM - 0.05)


def _apart(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _gray(light: float) -> float:
    """Return the encoded gray, 0 to 255, of a relative luminance."""
    light = max(light, 0.0)
    curve = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return 255 * curve


def _bent(pixels: Floats, bound: float) -> Floats:
    """Bend the brightness of pixels so that it never passes a bound; their hues stay."""
    gray = cv2.transform(pixels, _LIGHT)[..., None]
    knee = _KNEE * bound
    rest = max(1e-3, bound - knee)
    above = np.maximum(gray - knee, 0.0)
    bent = np.minimum(gray, knee) + rest * (1.0 - np.exp(-above / rest))
    return np.asarray(pixels * (bent / np.maximum(gray, 1e-3)), np.float32)


def _lowered(pixels: Floats, around: Floats, bound: float) -> Floats:
    """Return a sun that letters stand on: as bright as these allow, in the color of its sky."""
    hue = around / np.maximum(around.max(axis=2, keepdims=True), 1.0)
    return _bent(np.asarray(pixels * hue * hue), bound)


def _kept(behind: Floats) -> float:
    low, high = np.percentile(behind.mean(axis=2) / 255, (4, 96))
    return float(np.clip(1.15 - 0.9 * (high - low), 0.75, 1.0))


def _hued(off: Floats, around: Floats) -> Floats:
    """Give strong differences from the surroundings the hue of these, light or dark as they are."""
    gray = cv2.transform(off, _LIGHT)[..., None]
    share = smooth_step(30.0, 100.0, np.abs(gray))
    alike = gray * around / np.maximum(cv2.transform(around, _LIGHT)[..., None], 16.0)
    return np.asarray(off + share * (alike - off), np.float32)


def _around(pixels: Bytes) -> Bytes:
    height, width = pixels.shape[:2]
    scale = _SMALL / max(height, width)
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), 0.085 * _SMALL)
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR))


def _averaged(pixels: Bytes, box: Box) -> Floats:
    left, top, right, bottom = box
    part = pixels[max(0, top) : bottom, max(0, left) : right]
    size = (max(1, part.shape[1] // _BLOCK), max(1, part.shape[0] // _BLOCK))
    return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.float32)


def _discs(pixels: Bytes, around: Bytes, box: Box, tone: Tone) -> Discs:
    """Return the suns and moons of a picture."""
    size = small_size(*pixels.shape[:2])
    old, soft = (
        cv2.resize(each, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        for each in (pixels, around)
    )
    return found(_standing_out(old, soft, tone), box, pixels.shape[:2])


def _standing_out(pixels: Floats, around: Floats, tone: Tone) -> Floats:
    """Return how far pixels are lighter (for dark letters: darker) than around them, 0 to 1."""
    more = cv2.transform(pixels - around, _LIGHT)
    return smooth_step(14.0, 52.0, more if tone.light else -more)


def _profiles(
    shape: tuple[int, ...], box: Box, fades: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the shade of each column and row: full behind the text, fading out beyond it."""
    height, width = shape[:2]
    left, top, right, bottom = box
    pad = 0.03 * height
    across = _profile(width, left - pad, right + pad, fades[0] * width)
    tall = fades[1] * (height + 2.0 * (bottom - top))
    return across, _profile(height, top - pad, bottom + pad, tall)


def _profile(length: int, first: float, last: float, fade: float) -> Floats:
    at = np.arange(length, dtype=np.float32)
    off = np.zeros_like(at)
    # Towards a near edge nothing fades: a shade that ends just before it would be a dark stripe.
    if first > 0.35 * fade:
        off = np.maximum(off, first - at)
    if length - last > 0.35 * fade:
        off = np.maximum(off, at - last)
    return smooth_step(1.0, 0.0, off / np.float32(fade))
