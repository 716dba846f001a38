"""Wording: what people say of a picture, put in the words that the lexicons know.

A phrase is read before its words are: "dark red" is no hour, "snow-capped" no season, "high
quality" no camera, and "don't show clouds" denies them. What stands here changes no other word.

There are two tables. What people type is reworded first, where marks between words still count.
Once emoji are spelled out and marks are gone, what is left may be a phrase of its own, as "thin"
before the picture of a foggy town.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from kit.engines.prompt.directing import PHRASES

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
    **{f"pulsar {what}": "pulsar joyplot" for what in ("ridge", "ridges", "ridgelines", "waves")},
    "joy division": "joyplot",
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
_SYNONYMS |= PHRASES
#: What a hyphen frees a picture of: "a cloud-free sky".
_FREED = "cloud snow fog mist haze rain storm people tree car star moon"
_SYNONYMS |= {f"{what} free": f"no {what}" for what in _FREED.split()}
#: Names that mean something else as words.
_NAMES = "aurora rose violet amber olive scarlet april august"
_SYNONYMS |= {f"{name} s": "someone" for name in _NAMES.split()}
_SYNONYMS |= {f"{who} aurora": "someone" for who in ("princess", "queen", "named", "called")}

#: What is said in several words -> the word for it, whether they are typed or names of emoji.
_TOGETHER = {
    "bird s eye": "aerial",
    "birds eye": "aerial",
    "black and white": "monochrome",
    "blue hour": "twilight",
    "dense mist": "fog",
    "falling snow": "snowfall",
    "first light": "dawn",
    "high noon": "noon",
    "heavy mist": "fog",
    "last light": "sunset",
    "light fog": "mist",
    "rule of thirds": "thirds",
    "snow falling": "snowfall",
    "snow is falling": "snowfall",
    "thick mist": "fog",
    "thin fog": "mist",
}


def _swap(phrases: Mapping[str, str], between: str) -> Callable[[str], str]:
    """Return what puts other words for whole phrases of a text, the longest first.

    Parameters
    ----------
    between : str
        What may stand between the words of a phrase, as a regular expression.
    """
    longest = sorted(phrases, key=len, reverse=True)
    either = "|".join(between.join(phrase.split()) for phrase in longest)
    whole, gap = re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])"), re.compile(between)
    return lambda text: whole.sub(lambda found: phrases[gap.sub(" ", found[0])], text)


_reworded = _swap(_SYNONYMS, r"[\s'’_-]+")  # in one phrase; a comma ends it
_put_together = _swap(_TOGETHER, " ")


def reworded(prompt: str) -> str:
    """Return a prompt in lower case with the phrases that mislead in plain words.

    Examples
    --------
    >>> reworded("Snow-capped peaks above a DARK blue lake, don't show clouds")
    'snowcapped peaks over a blue lake, without clouds'
    """
    return _reworded(prompt.casefold())


def together(words: Iterable[str]) -> Sequence[str]:
    """Return words, one for what several of them say.

    Examples
    --------
    >>> together(["lake", "at", "first", "light"])
    ['lake', 'at', 'dawn']
    """
    return _put_together(" ".join(words)).split()
