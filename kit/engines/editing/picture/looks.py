"""Looks: color gradings as data. Nothing heavy is imported."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kit.engines.prompt.styles import Style, read_style
from kit.engines.prompt.vocabulary import Tint

__all__ = ["LOOKS", "NOTHING", "Look", "is_idle", "look_of", "manner_of"]

Shift = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How colors change; all figures are shares of the full range.

    Parameters
    ----------
    warmth, tint : float
        From blue to orange, and from green to magenta; strongest in the middle tones.
    contrast, saturation : float
        1 leaves as it is.
    shadows, highlights : tuple of float
        Added to red, green and blue of the dark and of the light tones.
    light : float
        Lifts (or lowers) the middle tones.
    vignette : float
        How much darker the corners become.
    glow : float
        How much of a soft light spreads from the brightest places.
    """

    warmth: float = 0.0
    tint: float = 0.0
    contrast: float = 1.0
    saturation: float = 1.0
    shadows: Shift = (0.0, 0.0, 0.0)
    highlights: Shift = (0.0, 0.0, 0.0)
    light: float = 0.0
    vignette: float = 0.0
    glow: float = 0.0


#: Name -> look, in the order in which a form shows them.
LOOKS = {
    "cinematic": Look(
        warmth=0.02,
        contrast=1.14,
        saturation=0.94,
        shadows=(-0.035, 0.015, 0.05),
        highlights=(0.05, 0.02, -0.045),
        vignette=0.32,
        glow=0.06,
    ),
    "warm": Look(warmth=0.09, contrast=1.03, saturation=1.08, highlights=(0.02, 0.008, -0.03)),
    "cold": Look(warmth=-0.09, contrast=1.05, saturation=0.9, shadows=(-0.01, 0.0, 0.045)),
    "vintage": Look(
        warmth=0.06,
        contrast=0.84,
        saturation=0.72,
        shadows=(0.085, 0.055, 0.06),
        highlights=(0.0, -0.015, -0.10),
        vignette=0.35,
    ),
    "noir": Look(contrast=1.42, saturation=0.0, light=-0.03, vignette=0.5, glow=0.05),
    "neon": Look(
        warmth=-0.03,
        tint=0.06,
        contrast=1.2,
        saturation=1.5,
        shadows=(0.035, -0.045, 0.10),
        highlights=(0.05, -0.03, 0.04),
        vignette=0.3,
        glow=0.22,
    ),
    "sepia": Look(
        warmth=0.07,
        tint=0.012,
        contrast=1.06,
        saturation=0.0,
        shadows=(0.07, 0.02, -0.05),
        highlights=(0.04, 0.0, -0.11),
    ),
    "matte": Look(contrast=0.86, saturation=0.86, shadows=(0.07, 0.07, 0.075)),
    "vivid": Look(contrast=1.12, saturation=1.38, light=0.01),
    "pastel": Look(contrast=0.84, saturation=0.95, light=0.16, shadows=(0.07, 0.06, 0.09)),
    "golden": Look(
        warmth=0.13,
        contrast=1.05,
        saturation=1.12,
        highlights=(0.05, 0.015, -0.07),
        vignette=0.2,
        glow=0.14,
    ),
    "dreamy": Look(contrast=0.92, saturation=0.98, light=0.05, tint=0.015, glow=0.4),
}
#: What is said where nothing would change.
NOTHING = (
    "there is nothing to do: choose a look, a way to redraw or a title, or ask for one in the"
    " prompt, such as 'warm and vintage' or 'like a pencil sketch'"
)
_TINT = 0.06


def look_of(name: str, style: Style) -> tuple[str, Look]:
    """Return the name and figures of the look that a setting and a sentence ask for.

    The setting decides unless it is ``auto``. Words such as darker, brighter and contrast change
    either, and color words tint it.

    Examples
    --------
    >>> look_of("auto", read_style("a moody evening"))[0]
    'cinematic'
    """
    name = style.look if name == "auto" else name
    look = LOOKS.get(name, Look())
    look = replace(look, light=look.light + style.light, contrast=look.contrast * style.contrast)
    return name, _tinted(look, style.tint) if style.tint else look


def is_idle(prompt: str, values: Mapping[str, Any]) -> bool:
    """Return whether a prompt and the settings of a restyling leave a picture as it is."""
    style = read_style(prompt)
    text = (values.get("text") or "").strip()
    redrawn = manner_of(values["stylize"], style)
    return redrawn == "none" and not text and look_of(values["look"], style)[1] == Look()


def manner_of(name: str, style: Style) -> str:
    """Return how a picture is redrawn: as the setting says, or as a sentence does."""
    return style.redrawn if name == "auto" else name


def _tinted(look: Look, tint: Tint) -> Look:
    """Push the tones of a look towards a color, shadows more than highlights."""
    hue, chroma = tint
    turn = math.radians(hue - 29.0)  # 29 degrees is the hue of pure red
    thirds = [math.cos(turn - share * 2 * math.pi / 3) for share in range(3)]
    red, green, blue = (_TINT * third * min(1.0, chroma / 0.12) for third in thirds)
    old = look.shadows
    shadows = (old[0] + red, old[1] + green, old[2] + blue)
    light = look.highlights
    highlights = (light[0] + red / 2, light[1] + green / 2, light[2] + blue / 2)
    return replace(look, shadows=shadows, highlights=highlights)
