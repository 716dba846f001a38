"""Briefs: a prompt, settings and a seed are read as what is to be painted.

The words of the lexicons decide; what the prompt leaves open is drawn from the seed and the whole
prompt, so that unknown words still vary the picture. A brief is plain data, and painters draw all
their randomness from its `seed`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kit.engines.prompt import landscape as scene
from kit.engines.prompt import lexicon as landscape
from kit.engines.prompt import sights
from kit.engines.prompt import subjects as lexicon
from kit.engines.prompt.words import words_of
from kit.engines.sizes import longest_side

#: Words for people and for what drives, which a prompt may deny.
PEOPLE = ("people", "person", "pedestrian", "crowd", "human", "walker")
CARS = ("car", "traffic", "vehicle")
_KNOWN = {
    *scene.WORDS,
    *lexicon.SUBJECT_WORDS,
    *landscape.COMPOSITION_WORDS,
    *sights.WORDS,
    *PEOPLE,
    *CARS,
}
_MOST_COLORS = 3
#: Light that streams between trees.
RAYS = ("ray", "rays", "sunray", "sunrays", "beam", "beams", "sunbeam", "sunbeams", "sunlight")
#: Families that an open prompt may become, with their weights.
_OPEN = {"lake": 5, "desert": 3, "forest": 4, "sea": 4, "space": 2, "liquid": 1}
#: What is said of a street besides its weather -> the weather.
_STREETS = {
    **dict.fromkeys(("rainy", "wet", "stormy"), "rain"),
    **dict.fromkeys(("snow", "snowy", "christmas", "winter"), "snow"),
    **dict.fromkeys(("sunny", "bright", "summer", "dry", "noon", "midday", "sunlit"), "clear"),
    **dict.fromkeys(("sunset", "golden", "dawn", "sunrise"), "clear"),
    **dict.fromkeys(("sun", "blue", "morning", "afternoon", "daylight"), "clear"),
}
#: Weather that a prompt denies: then the sky is not drawn closed.
_DENIED = tuple(f"no-{word}" for word in ("cloud", *landscape.AXES["weather"]))
#: What shows in an open sky alone.
_STARS = ("star", "starry", "starlight", "milky")
#: Settings of what falls, which comes from clouds.
_FALLING = ("rain", "snow")
#: Families whose places can also be printed flat.
_PRINTABLE = frozenset({"lake", "desert", "forest", "sea", "poster"})
#: Families whose hour, where the prompt names none, is not drawn as a landscape's.
_HOURS = {"city": "night", "space": "night", "liquid": "day", "flow": "day"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What is to be painted.

    Parameters
    ----------
    family : str
        One of `kit.engines.painting.families.FAMILIES`.
    time_of_day : str
        dawn, day, sunset, dusk or night.
    season : str
        winter, spring, summer or autumn.
    weather : str
        clear, overcast, mist, fog, rain or snow.
    mood : str
        balanced, calm, dramatic, pastel, vivid or gloomy.
    colors : tuple of str
        Color words of the prompt, keys of `kit.engines.prompt.lexicon.COLORS`, at most three.
    composition : tuple of str
        Any of wide, close, low, high, centered, minimal, dramatic, thirds.
    extras : tuple of str
        Any of birds, aurora, fireflies, crescent, full_moon.
    warmth : int
        1 where the light is warmer than the hour's, -1 where it is cooler, else 0.
    words : tuple of str
        All words of the prompt, as `kit.engines.prompt.words` reads them; see `says`.
    width, height : int
        Pixels to paint.
    detail : str
        low, standard or high: how much time to spend.
    palette : str
        A key of `kit.engines.painting.poster.palettes.NAMED`, or auto.
    seed : int
        Of everything random in the painting, from the job's seed and the prompt, but not from what
        it says of mood and camera.
    tones : tuple of str
        How the light is set: any of bright, dark, hard, soft, outline.
    discs : tuple of str
        What the prompt wants to see in the sky: any of sun, moon.
    falling : bool
        Whether rain and snow are drawn; without it they only show in the light.

    Examples
    --------
    >>> brief = read("a wide teal ocean at dusk", {"aspect_ratio": "1:1", "size": 512}, seed=7)
    >>> brief.family, brief.time_of_day, brief.colors, brief.composition
    ('sea', 'dusk', ('teal',), ('wide',))
    """

    family: str
    time_of_day: str
    season: str
    weather: str
    mood: str
    colors: tuple[str, ...]
    composition: tuple[str, ...]
    extras: tuple[str, ...]
    warmth: int
    words: tuple[str, ...]
    width: int
    height: int
    detail: str
    palette: str
    seed: int
    tones: tuple[str, ...] = ()
    discs: tuple[str, ...] = ()
    falling: bool = True

    @property
    def covered(self) -> bool:
        """Whether clouds hide sun, moon and stars."""
        return self.weather in scene.COVERED

    @property
    def lights(self) -> tuple[str, ...]:
        """What the prompt names of the sky's light; see `kit.engines.prompt.lexicon.LIGHTS`."""
        return scene.lights_in(self.words)

    @property
    def open(self) -> bool:
        """Whether sun or moon are seen: under a closed sky only where the prompt names them."""
        return scene.opened(self.weather, self.time_of_day, self.lights)

    @property
    def dim(self) -> bool:
        """Whether a closed sky swallows the colors of a low sun."""
        return scene.dimmed(self.weather, self.time_of_day, self.lights)

    @property
    def dark(self) -> bool:
        """Whether the hour is one of artificial light and stars."""
        return self.time_of_day in ("dusk", "night")

    @property
    def sights(self) -> tuple[str, ...]:
        """What the prompt asks for by name and the family shows, keys of `sights.SIGHTS`."""
        return sights.sights_of(self.words, self.family)

    def says(self, *words: str) -> bool:
        """Return whether the prompt holds one of some words."""
        return not set(words).isdisjoint(self.words)

    def facts(self) -> dict[str, Any]:
        """Return the brief as JSON-able metadata, without what the settings already say."""
        return {
            "family": self.family,
            "time_of_day": self.time_of_day,
            "season": self.season,
            "weather": self.weather,
            "mood": self.mood,
            "colors": list(self.colors),
            "composition": list(self.composition),
            "tones": list(self.tones),
            "extras": list(self.extras),
            "sights": list(self.sights),
            "warmth": self.warmth,
            "palette": self.palette,
            "number": self.seed,
        }


def read(prompt: str, parameters: Mapping[str, Any], seed: int) -> Brief:
    """Return the brief that a prompt and settings give.

    Parameters
    ----------
    parameters : mapping
        ``aspect_ratio`` and ``size`` (pixels of the longer side); ``family``, ``palette`` and
        ``detail`` where the model has them; rain and snow as a ``weather`` close the sky as words
        do.
    seed : int
        The job's seed, 0 to 2**32 - 1.
    """
    palette = parameters.get("palette", "auto")
    land = scene.read(prompt, seed=seed, palette=palette)
    words = tuple(words_of(prompt, _KNOWN))
    family = _family(words, parameters.get("family", "auto"), land.number)
    said_time = scene.first_in(words, landscape.AXES["time"])
    weather = _weather(words, family, land.weather, parameters.get("weather", ""))
    felt = scene.hour_of_feeling(words, land.extras)
    hour = land.time if said_time or felt else _hour(words, family, land.time)
    if not said_time and family not in _HOURS:
        hour = scene.hour_under(weather, hour, scene.lights_in(words), land.extras)
    width, height = longest_side(parameters["aspect_ratio"], parameters["size"])
    return Brief(
        family=family,
        time_of_day=hour,
        season=_season(words, land.season),
        weather=weather,
        mood=land.mood,
        colors=scene.colors_in(words)[:_MOST_COLORS],
        composition=scene.composition_in(words),
        extras=land.extras,
        warmth=land.warmth,
        words=words,
        width=width,
        height=height,
        detail=parameters.get("detail", "standard"),
        palette=palette,
        seed=land.number,
        tones=land.tones,
        discs=land.discs,
    )


def _family(words: Sequence[str], asked: str, number: int) -> str:
    if asked != "auto":
        return asked
    said = Counter(lexicon.SUBJECT_WORDS[word] for word in _telling(words))
    if said and _PRINTABLE.issuperset(said) and not set(lexicon.PRINTED).isdisjoint(words):
        return "poster"
    if said:
        return sights.place_for(words, said.most_common(1)[0][0])
    dice = random.Random(number)  # noqa: S311 - a picture is no secret
    open_ = {
        name: weight for name, weight in _OPEN.items() if name != "space" or "sun" not in words
    }
    return dice.choices(list(open_), list(open_.values()))[0]


def _telling(words: Sequence[str]) -> list[str]:
    """Return the words that tell the place: those that many places share only where none does."""
    named = [word for word in words if word in lexicon.SUBJECT_WORDS]
    rank = {word: place for place, faint in enumerate(lexicon.FAINT, 1) for word in faint.split()}
    most = min((rank.get(word, 0) for word in named), default=0)
    return [word for word in named if rank.get(word, 0) == most]


def _season(words: Sequence[str], read_: str) -> str:
    """Return the season: a green hill may stand in spring as well as in summer."""
    return scene.first_in([w for w in words if w != "green"], landscape.AXES["season"]) or read_


def _hour(words: Sequence[str], family: str, drawn: str) -> str:
    """Return the hour where no word names one: rays of the sun need a sun."""
    if family == "forest" and not set(RAYS).isdisjoint(words):
        return "dawn"
    if "milky" in words:
        return "night"
    if family == "city" and scene.first_in(words, landscape.AXES["weather"]) == "overcast":
        return "day"
    return _HOURS.get(family, drawn)


def _weather(words: Sequence[str], family: str, drawn: str, asked: str) -> str:
    """Return the weather: a street is wet and a sky without a word for it is not foggy."""
    said = asked if asked in _FALLING else scene.weather_in(words)
    if family == "city" and not said:
        return next((weather for word, weather in _STREETS.items() if word in words), "rain")
    open_ = family == "space" or not set(_DENIED).union(_STARS).isdisjoint(words)
    return said or ("clear" if open_ else drawn)
