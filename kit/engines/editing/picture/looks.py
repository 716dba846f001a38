"""Looks: color grades as data, adjusted by a sentence. Nothing heavy is imported."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kit.engines.prompt.styles import Style, read_style

Shift: TypeAlias = tuple[float, float, float]
_NO_SHIFT: Shift = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Look:
    """A color grade; all figures are shares of the full range.

    Blue to orange, green to magenta; contrast and saturation, 1 is neutral; brightness of the
    middle tones; additions to red, green and blue of the darks and of the lights; darkening of the
    corners, and the glow of the brightest places.
    """

    warmth: float = 0.0
    tint: float = 0.0
    contrast: float = 1.0
    saturation: float = 1.0
    light: float = 0.0
    shadows: Shift = _NO_SHIFT
    highlights: Shift = _NO_SHIFT
    vignette: float = 0.0
    glow: float = 0.0


#: Name -> look, in the order of forms.
LOOKS = {
    "cinematic": Look(
        0.02, 0, 1.14, 0.94, 0, (-0.035, 0.015, 0.05), (0.05, 0.02, -0.045), 0.32, 0.06
    ),
    "warm": Look(0.09, 0, 1.03, 1.08, 0, _NO_SHIFT, (0.02, 0.008, -0.03)),
    "cold": Look(-0.09, 0, 1.05, 0.9, 0, (-0.01, 0, 0.045)),
    "vintage": Look(0.06, 0, 0.84, 0.72, 0, (0.085, 0.055, 0.06), (0, -0.015, -0.1), 0.35),
    "noir": Look(0, 0, 1.42, 0, -0.03, vignette=0.5, glow=0.05),
    "neon": Look(-0.03, 0.06, 1.2, 1.5, 0, (0.035, -0.045, 0.1), (0.05, -0.03, 0.04), 0.3, 0.22),
    "sepia": Look(0.07, 0.012, 1.06, 0, 0, (0.07, 0.02, -0.05), (0.04, 0, -0.11)),
    "matte": Look(0, 0, 0.86, 0.86, 0, (0.07, 0.07, 0.075)),
    "vivid": Look(0, 0, 1.12, 1.38, 0.01),
    "pastel": Look(0, 0, 0.84, 0.95, 0.16, (0.07, 0.06, 0.09)),
    "golden": Look(0.13, 0, 1.05, 1.12, 0, _NO_SHIFT, (0.05, 0.015, -0.07), 0.2, 0.14),
    "dreamy": Look(0, 0.015, 0.92, 0.98, 0.05, glow=0.4),
}
#: The message if nothing would change.
NO_CHANGE = (
    "there is nothing to do: choose a look, a style or a title, or describe one in the"
    " prompt, such as 'warm and vintage' or 'like a pencil sketch'"
)
_TINT = 0.06


def look_of(name: str, style: Style) -> tuple[str, Look]:
    """Return the name and figures of the look that a setting and a sentence ask for.

    The setting decides unless it is ``auto``. Words such as darker, brighter and contrast modify
    either, and color words tint it, shadows more than highlights.

    Examples
    --------
    >>> look_of("auto", read_style("a moody evening"))[0]
    'cinematic'
    """
    name = style.look if name == "auto" else name
    look = LOOKS.get(name, Look())
    look = replace(look, light=look.light + style.light, contrast=look.contrast * style.contrast)
    if not style.tint:
        return name, look
    hue, chroma = style.tint
    turn = math.radians(hue - 29.0)  # 29 degrees is the hue of pure red
    most = _TINT * min(1.0, chroma / 0.12)
    red, green, blue = (most * math.cos(turn - third * 2 * math.pi / 3) for third in range(3))
    dark, light = look.shadows, look.highlights
    return name, replace(
        look,
        shadows=(dark[0] + red, dark[1] + green, dark[2] + blue),
        highlights=(light[0] + red / 2, light[1] + green / 2, light[2] + blue / 2),
    )


def manner_of(name: str, style: Style) -> str:
    """Return the manner of redrawing: the setting's, or a sentence's."""
    return style.redrawn if name == "auto" else name


def is_idle(prompt: str, values: Mapping[str, Any]) -> bool:
    """Return whether a prompt and settings of a restyling leave a picture unchanged."""
    style = read_style(prompt)
    text = (values.get("text") or "").strip()
    redrawn = manner_of(values["stylize"], style)
    return redrawn == "none" and not text and look_of(values["look"], style)[1] == Look()
