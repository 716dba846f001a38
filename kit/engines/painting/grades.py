"""Prints: what moods and tones of light make of the film that a painter chose.

Each word is a set of factors; a picture without any of them keeps its film as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """What a word makes of a film.

    Parameters
    ----------
    exposure, contrast, saturation : float
        Factors.
    corners : float
        Share of the light that corners lose, added to the film's own.
    lift : float
        How much darkness is lightened, 0 to 1.
    """

    exposure: float = 1.0
    contrast: float = 1.0
    saturation: float = 1.0
    corners: float = 0.0
    lift: float = 0.0


_DARKEST = 0.56  # share of its light that a picture keeps whatever is said

MOODS = {
    "calm": Print(contrast=0.93, saturation=0.84, corners=-0.10),
    "dramatic": Print(exposure=0.96, contrast=1.26, saturation=1.08, corners=0.30),
    "pastel": Print(exposure=1.3, contrast=0.78, saturation=1.12, corners=-0.3, lift=0.08),
    "vivid": Print(exposure=1.06, contrast=1.10, saturation=1.42, corners=-0.05),
    "gloomy": Print(exposure=0.66, contrast=0.98, saturation=0.55, corners=0.26),
}
#: Of neon, which is a thing as well: what is near it keeps its color.
NEON = Print(saturation=1.14)
TONES = {
    "bright": Print(exposure=1.6, contrast=0.86, corners=-0.3, lift=0.06),
    "dark": Print(exposure=0.66, contrast=1.16, corners=0.34),
    "hard": Print(contrast=1.38, corners=0.1),
    "soft": Print(exposure=1.06, contrast=0.80, saturation=0.95, corners=-0.15, lift=0.03),
    "outline": Print(exposure=0.85, contrast=1.30, corners=0.15),
}


def glows(brief: Brief) -> bool:
    """Return whether a brief is vivid for its neon: a thing that shines, and not a mood alone."""
    return brief.mood == "vivid" and "glow" in brief.things


def printed(film: Film, brief: Brief) -> Film:
    """Return a film as the words of mood and tone in a brief change it."""
    moods = [brief.mood]
    if "dramatic" in brief.composition and brief.mood not in ("dramatic", "gloomy", "pastel"):
        moods = ["dramatic", *moods]
    least = film.exposure
    prints = [NEON if glows(brief) and mood == "vivid" else MOODS[mood]
              for mood in moods if mood in MOODS]  # fmt: skip
    for one in (*prints, *(TONES[tone] for tone in brief.tones if tone in TONES)):
        film = replace(
            film,
            exposure=max(film.exposure * one.exposure, _DARKEST * least),
            contrast=film.contrast * one.contrast,
            saturation=film.saturation * one.saturation,
            vignette=min(0.75, max(0.0, film.vignette + one.corners)),
            lift=min(0.4, film.lift + one.lift),
        )
    return film
