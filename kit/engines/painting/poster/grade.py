"""Feeling: what moods, tones and a few words of the camera make of a palette's colors.

Lightness moves away from a middle tone or toward it; hues stay. A palette without such words stays
as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kit.engines.prompt.brief import Brief

if TYPE_CHECKING:
    from kit.engines.painting.poster.palettes import Palette

Color: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeling:
    """What a word makes of colors.

    Parameters
    ----------
    contrast : float
        Factor on how far lightness is from the middle.
    middle : float
        The lightness that stays.
    light, chroma : float
        Factors on lightness, after that, and on chroma.
    """

    contrast: float = 1.0
    middle: float = 0.55
    light: float = 1.0
    chroma: float = 1.0

    def of(self, color: Color) -> Color:
        """Return a color as the word changes it."""
        lightness = (self.middle + (color[0] - self.middle) * self.contrast) * self.light
        return min(0.985, max(0.03, lightness)), color[1] * self.chroma, color[2]


#: On top of what palettes do with moods by themselves.
MOODS = {
    "calm": Feeling(contrast=0.72, middle=0.74, chroma=0.92),
    "dramatic": Feeling(contrast=1.22, middle=0.62, chroma=1.14),
    "pastel": Feeling(contrast=0.56, middle=0.88, chroma=1.15),
    "vivid": Feeling(contrast=1.06, chroma=1.05),
    "gloomy": Feeling(contrast=0.92, light=0.94),
}
TONES = {
    "bright": Feeling(contrast=0.62, middle=0.96),
    "dark": Feeling(contrast=1.25, light=0.70),
    "hard": Feeling(contrast=1.36, middle=0.60, chroma=1.05),
    "soft": Feeling(contrast=0.66, middle=0.70),
}
COMPOSITIONS = {"minimal": Feeling(contrast=0.78, middle=0.74, chroma=0.92)}
#: Against the light all land is dark, and what is pale on it is faint.
OUTLINE = Feeling(contrast=0.12, middle=0.10, chroma=0.7)
FAINT = Feeling(contrast=0.30, middle=0.12, chroma=0.7)


def felt(palette: Palette, brief: Brief) -> Palette:
    """Return the colors of a scene as its words of mood, tone and camera change them."""
    for feeling in brief.picked(MOODS, TONES, COMPOSITIONS):
        palette = _each(palette, feeling)
    if "outline" not in brief.tones:
        return palette
    far, middle, near = (OUTLINE.of(color) for color in palette.land)
    snow, mist = FAINT.of(palette.snow), FAINT.of(palette.mist)
    return replace(palette, land=(far, middle, near), snow=snow, mist=mist)


def _each(palette: Palette, feeling: Feeling) -> Palette:
    """Return a palette with all its colors changed but the sun's."""
    top, upper, lower, horizon = (feeling.of(color) for color in palette.sky)
    far, middle, near = (feeling.of(color) for color in palette.land)
    return replace(
        palette,
        sky=(top, upper, lower, horizon),
        land=(far, middle, near),
        glow=feeling.of(palette.glow),
        mist=feeling.of(palette.mist),
        snow=feeling.of(palette.snow),
        cloud=feeling.of(palette.cloud),
    )
