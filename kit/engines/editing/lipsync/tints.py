"""Tints: what the inside of a mouth is painted with, so that it lies in the light of its face."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.lips import Lips
from kit.engines.editing.lipsync.pose import Pose, Window
from kit.engines.media.color import Bytes, Floats

#: Skin and mouth of a face as far as they tell how colored the picture is, in face units.
_FACE = Window(left=-60, top=20, width=120, height=110)
#: How much of the skin's own hue teeth take on, and how bright they are in full light.
_WARMTH, _TOOTH = 0.35, 201.0
#: How far skin is from gray, as a share of its brightness, from which on nothing is faded.
_VIVID = 0.3


@dataclass(frozen=True, slots=True)
class Colors:
    """What the inside of a mouth is painted with, float32 RGB, 0 to 255."""

    dark: Floats
    tooth: Floats
    tongue: Floats


def colors_of(pixels: Bytes, pose: Pose, lips: Lips) -> Colors:
    """Return colors for the inside that fit the light on a face."""
    low, high = Window(lips.x - 20, lips.y + 4, 40, 14), Window(-45, 40, 90, 30)
    lip, skin = (np.median(w.cut(pixels, pose), axis=(0, 1)) for w in (low, high))
    light = float(np.clip(skin.mean() / 165, 0.3, 1.1))
    tint = skin / max(float(skin.mean()), 1.0)
    dark = 0.10 * lip + light * np.array([44, 14, 13])
    tooth = np.clip(light * _TOOTH * (1 + _WARMTH * (tint - 1)), 0, 240)
    tongue = 0.45 * lip + light * np.array([82, 26, 30])
    # A faded or gray picture has a faded mouth; pale skin in a colored one does not.
    vivid = float(np.clip(_vividness(_FACE.cut(pixels, pose)) / _VIVID, 0.1, 1))
    return Colors(*(_faded(color, vivid, tint) for color in (dark, tooth, tongue)))


def _vividness(patch: Bytes) -> float:
    """Return how far the more colored parts of a patch are from gray."""
    colors = patch.reshape(-1, 3).astype(np.float32)
    spread = colors.max(axis=1) - colors.min(axis=1)
    return float(np.percentile(spread / np.maximum(colors.mean(axis=1), 24), 80))


def _faded(color: NDArray[np.floating], vivid: float, tint: NDArray[np.floating]) -> Floats:
    """Return a color with less of its own hue, and as much of the skin's instead."""
    faded = color.mean() * tint
    return np.asarray(faded + (color - faded) * vivid, np.float32)
