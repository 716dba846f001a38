"""Wording: what people say of a picture, put in the words that the lexicons know.

A phrase is read before its words are: "dark red" is no hour, "snow-capped" no season, "high
quality" no camera, and "don't show clouds" denies them. What stands here changes no other word.
"""

from __future__ import annotations

import re

_SHADES = "red orange yellow green teal blue navy violet purple magenta pink brown gray grey gold"
#: Words for which the lexicons have another -> that one.
_SYNONYMS = {
    # Colors
    "maroon": "crimson",
    "burgundy": "crimson",
    "ruby": "crimson",
    "vermilion": "scarlet",
    "copper": "rust",
    "terracotta": "rust",
    "peach": "coral",
    "salmon": "coral",
    "apricot": "coral",
    "ochre": "amber",
    "honey": "amber",
    "bronze": "brown",
    "beige": "sepia",
    "chartreuse": "lime",
    "jade": "emerald",
    "aqua": "cyan",
    "aquamarine": "turquoise",
    "cobalt": "blue",
    "sapphire": "blue",
    "lilac": "lavender",
    "mauve": "lavender",
    "plum": "purple",
    "fuchsia": "magenta",
    "iridescent": "iridescent colorful",
    "grayscale": "monochrome",
    "greyscale": "monochrome",
    # Weather
    "raining": "rain",
    "rains": "rain",
    "drizzling": "rain",
    "pouring": "rain",
    "downpour": "rain",
    "thunder": "thunderstorm",
    "lightning": "thunderstorm",
    "tempest": "storm",
    "sandstorm": "haze desert",
    "dusty": "haze",
    "smog": "haze",
    "sunshower": "sun rain",
    "sunshowers": "sun rain",
    **{f"{what} {shower}": f"{what} rain" for what in ("sun", "rain", "april") for shower in
       ("shower", "showers")},
    "it snows": "snowfall",
    "light snow": "snowfall",
    "heavy snow": "snowfall",
    "dust storm": "haze",
    "sand storm": "haze desert",
    "sunshine": "sunny",
    "sunlit": "sunny",
    # Hours and seasons
    "daytime": "day",
    "nighttime": "night",
    "night time": "night",
    "night sky": "starry night",
    "springtime": "spring",
    "summertime": "summer",
    "midsummer": "summer",
    "wintertime": "winter",
    "midwinter": "winter",
    "wintry": "winter",
    "frosty": "frost",
    "early evening": "evening",
    "early night": "dusk",
    **{f"early {season}": season for season in ("spring", "summer", "autumn", "fall", "winter")},
    **{f"early {month}": month for month in ("april", "july", "august", "october", "november")},
    "midnight blue": "navy",
    **{f"{shade} {color}": color for color in _SHADES.split() for shade in ("dark", "bright")},
    "bright neon": "neon",
    "snow capped": "snowcapped",
    "snow tipped": "snowcapped",
    "hot spring": "hotspring",
    "hot springs": "hotspring",
    "falls": "waterfall",
    "night falls": "night",
    "snow falls": "snowfall",
    # Cameras
    "top down": "aerial",
    "top view": "aerial",
    "from the air": "aerial",
    "from the sky": "aerial",
    "from above": "aerial",
    "seen above": "aerial",
    "above": "over",
    "low angle": "upward",
    "near": "by",
    "high detail": "structure",
    "detail": "structure",
    "details": "structure",
    "on the ground": "underfoot",
    **{
        f"{level} {what}": what
        for level in ("high", "low")
        for what in ("quality", "resolution", "contrast", "definition", "key", "poly", "res")
    },
    **{f"high {what}": f"tall {what}" for what in ("mountain", "mountains", "peak", "peaks",
       "cliff", "cliffs", "dune", "dunes", "wave", "waves", "rise")},
    "grand canyon": "canyon",
    # Places
    "blade runner": "cyberpunk",
    "flow field": "flowfield",
    "flow fields": "flowfield",
    "salt flat": "desert",
    "salt flats": "desert",
    "black hole": "blackhole",
    "black holes": "blackhole",
    "new york": "manhattan",
    "sea of clouds": "mountains mist",
    "savannah": "savanna",
    "savannahs": "savanna",
    # Denials
    "don t show": "without",
    "don t": "not",
    "do not": "not",
    "free of": "without",
    "free from": "without",
    "devoid of": "without",
    "instead of": "not",
    "rather than": "not",
    "avoid": "without",
    "avoiding": "without",
    "exclude": "without",
    "excluding": "without",
    "sans": "without",
    "lacking": "without",
}  # fmt: skip
#: What a hyphen frees a picture of: "a cloud-free sky".
_FREED = "cloud snow fog mist haze rain storm people tree car star moon"
_SYNONYMS |= {f"{what} free": f"no {what}" for what in _FREED.split()}
#: Names that mean something else as words.
_NAMES = "aurora rose violet amber olive scarlet april august"
_SYNONYMS |= {f"{name} s": "someone" for name in _NAMES.split()}
_SYNONYMS |= {f"{who} aurora": "someone" for who in ("princess", "queen", "named", "called")}

_BETWEEN = r"[\s'’_-]+"  # in one phrase; a comma ends it
_PHRASE = re.compile(
    r"(?<![^\W_])(?:"
    + "|".join(_BETWEEN.join(phrase.split()) for phrase in sorted(_SYNONYMS, key=len, reverse=True))
    + r")(?![^\W_])"
)
_GAP = re.compile(_BETWEEN)


def reworded(prompt: str) -> str:
    """Return a prompt in lower case with the phrases that mislead in plain words.

    Examples
    --------
    >>> reworded("Snow-capped peaks above a DARK blue lake, don't show clouds")
    'snowcapped peaks over a blue lake, without clouds'
    """
    return _PHRASE.sub(lambda found: _SYNONYMS[_GAP.sub(" ", found[0])], prompt.casefold())
