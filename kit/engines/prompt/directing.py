"""Directing: words of a picture's light and feeling, and what they mean for what is not said.

The words of moods and of the camera stand in `kit.engines.prompt.lexicon`; here stands what is
beside them: how hard and how bright the light is, which hour and weather a feeling suggests, and
the phrases of photographers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol, TypeVar

Felt = TypeVar("Felt")


class Directed(Protocol):
    """What has been read of a prompt's feeling."""

    @property
    def mood(self) -> str:
        """A key of `kit.engines.prompt.lexicon.MOODS`, or balanced."""

    @property
    def tones(self) -> tuple[str, ...]:
        """Keys of `TONES`."""

    @property
    def composition(self) -> tuple[str, ...]:
        """Keys of `kit.engines.prompt.lexicon.COMPOSITIONS`."""


#: How the light of a picture is set: bright and airy, dark, of hard or soft contrast, from behind.
TONES = {
    "bright": "highkey airy ethereal heavenly",
    "dark": (
        "lowkey noir menacing menace threatening hostile sinister ominous foreboding dreadful dread"
        " apocalyptic doom oppressive"
    ),
    "hard": "highcontrast contrasty harsh stark",
    "soft": "softlight lowcontrast diffused muted subdued",
    "outline": "silhouette silhouetted backlit backlight backlighting",
}
#: Hour -> words that suggest it where none is named.
HOURS = {
    "dawn": "hopeful optimistic",
    "day": (
        "joyful joyous joy cheerful happy playful lively festive exuberant uplifting highkey airy"
    ),
    "sunset": (
        "romantic nostalgic nostalgia silhouette silhouetted backlit backlight backlighting"
    ),
}
#: Weather -> words that suggest it where none is named.
WEATHERS = {
    "mist": "ethereal dreamlike heavenly otherworldly",
    "clear": (
        "hopeful optimistic joyful joyous joy cheerful happy playful lively festive exuberant"
        " uplifting romantic silhouette silhouetted backlit backlight backlighting"
    ),
}
#: Colors -> words that suggest them where none is named.
COLORS = {"lavender rose": "romantic", "brown": "nostalgic nostalgia"}
#: What photographers say in several words -> the words for it.
PHRASES = {
    "high key": "highkey",
    "low key": "lowkey",
    "high contrast": "highcontrast",
    "strong contrast": "highcontrast",
    "low contrast": "lowcontrast",
    "soft light": "softlight",
    "soft lighting": "softlight",
    "soft contrast": "lowcontrast",
    "hard light": "highcontrast",
    "rim light": "backlit",
    "rim lighting": "backlit",
    "contre jour": "backlit",
    "against the light": "backlit",
    "film noir": "noir",
    "negative space": "minimalist",
    "white space": "minimalist",
    "empty space": "minimalist",
    "golden ratio": "thirds",
    "golden section": "thirds",
    "off center": "thirds",
    "off centre": "thirds",
    "worm s eye": "upward",
    "worms eye": "upward",
    "high angle": "aerial",
    "long shot": "wide",
    "long lens": "closeup",
    "tight shot": "closeup",
    "low sun": "sun sunset",
    "setting sun": "sun sunset",
    "rising sun": "sun sunrise",
    "light hearted": "cheerful",
    "close up": "closeup",
    "extreme close up": "closeup",
    "ultra wide": "wide",
    "extreme wide": "wide",
    "silhouette of": "silhouette",
    "silhouettes of": "silhouette",
}
#: What a picture taken so is called besides: it says no more.
_CALLED = ("shot", "view", "angle", "angle shot", "angle view", "composition")
_CAMERAS = ("wide", "ultra wide", "extreme wide", "establishing", "panoramic", "close up",
            "extreme close up", "closeup", "macro", "low", "aerial", "drone", "overhead", "epic",
            "cinematic", "centered", "symmetrical", "minimalist", "minimal")  # fmt: skip
PHRASES |= {
    f"{camera} {what}{of}": PHRASES.get(camera, "upward" if camera == "low" else camera)
    for camera in _CAMERAS
    for what in _CALLED
    for of in ("", " of")
}
PHRASES |= {f"{what} of": word for what, word in PHRASES.items() if not what.endswith(" of")}


def tones_in(words: Collection[str]) -> tuple[str, ...]:
    """Return how words set the light: any of bright, dark, hard, soft, outline.

    Examples
    --------
    >>> tones_in(["a", "menacing", "sea"])
    ('dark',)
    """
    return tuple(tone for tone, names in _TONES.items() if not names.isdisjoint(words))


def felt(
    said: Directed, moods: Mapping[str, Felt], tones: Mapping[str, Felt], views: Mapping[str, Felt]
) -> Iterator[Felt]:
    """Yield what tables hold for the mood, the tones and the composition of a picture.

    What is minimal is calm by itself, and what is dramatic to the camera is so in its mood.
    """
    mood = said.mood
    if mood == "calm" and "minimal" in said.composition:
        mood = ""
    if "dramatic" in said.composition and mood not in ("dramatic", "gloomy"):
        yield moods["dramatic"]
    if mood in moods:
        yield moods[mood]
    for words, table in ((said.tones, tones), (said.composition, views)):
        yield from (table[word] for word in words if word in table)


def suggested(words: Collection[str], table: dict[str, str]) -> str | None:
    """Return what the first word that suggests something in a table suggests.

    Examples
    --------
    >>> suggested(["a", "hopeful", "lake"], HOURS)
    'dawn'
    """
    found = (key for word in words for key, names in table.items() if word in names.split())
    return next(found, None)


_TONES = {tone: frozenset(names.split()) for tone, names in TONES.items()}
#: Every word of the tables above.
WORDS = frozenset().union(
    *(names.split() for table in (TONES, HOURS, WEATHERS, COLORS) for names in table.values())
)
