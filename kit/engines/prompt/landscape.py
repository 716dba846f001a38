"""Scenes: a prompt and a seed are read as what is to be drawn.

The words of the lexicon decide, the first one on each axis; what the prompt leaves open is drawn
from the seed and the whole prompt, so that unknown words still make a difference. A scene is plain
data and stands in the result's metadata.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kit.engines.prompt import directing, lexicon
from kit.engines.prompt.words import words_of

#: What is drawn where the prompt says nothing: values with their weights.
_OPEN: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "time": (("dawn", "day", "sunset", "dusk", "night"), (3, 3, 5, 3, 2)),
    "subject": (("mountains", "hills", "desert", "sea", "forest", "lake"), (5, 2, 2, 2, 3, 3)),
    "weather": (("clear", "mist"), (3, 1)),
    "season": (("summer",), (1,)),
    "mood": (("balanced",), (1,)),
}
_MOST_TINTS = 2
_LISTS = ("tints", "extras", "composition", "lights", "tones", "discs")
#: Hours of a low sun.
LOW = ("dawn", "sunset", "dusk")
#: Hour -> what may shine in its sky.
_SHINING = {
    **{hour: {"sun"} for hour in ("dawn", "day", "sunset")},
    "dusk": {"sun", "moon", "stars"},
    "night": {"moon", "stars"},
}
_SKY_LIGHTS = frozenset({"aurora", "crescent", "full_moon"})
_GLIMMERS = frozenset({"aurora", "crescent", "fireflies"})
#: Weathers under a closed sky.
COVERED = ("rain", "snow", "overcast", "fog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is to be drawn.

    Parameters
    ----------
    tints : tuple of str
        Color words, at most two: the first colors the land, the second the light.
    extras : tuple of str
        Any of birds, aurora, fireflies, crescent, full_moon.
    warmth : int
        1 where the light is warmer than the hour's, -1 where it is cooler, else 0.
    composition : tuple of str
        Any of wide, close, low, high, centered, minimal, dramatic, thirds.
    lights : tuple of str
        What the prompt names of the sky's light, keys of `kit.engines.prompt.lexicon.LIGHTS`.
    tones : tuple of str
        How the light is set: any of bright, dark, hard, soft, outline.
    discs : tuple of str
        What the prompt wants to see in the sky: any of sun, moon.
    number : int
        Seed of everything random in the drawing, from the job's seed and the prompt, but not from
        what it says of mood and camera: they change how the same scene is seen.

    Examples
    --------
    >>> scene = read("a teal winter night over the mountains", seed=7)
    >>> scene.time, scene.subject, scene.season, scene.tints
    ('night', 'mountains', 'winter', ('teal',))
    """

    time: str
    subject: str
    weather: str
    season: str
    mood: str
    tints: tuple[str, ...]
    extras: tuple[str, ...]
    palette: str
    number: int
    warmth: int = 0
    composition: tuple[str, ...] = ()
    lights: tuple[str, ...] = ()
    tones: tuple[str, ...] = ()
    discs: tuple[str, ...] = ()

    @property
    def dark(self) -> bool:
        """Whether stars can show."""
        return self.time in ("night", "dusk")

    @property
    def covered(self) -> bool:
        """Whether clouds hide sun, moon and stars."""
        return self.weather in COVERED

    @property
    def open(self) -> bool:
        """Whether sun or moon are seen: under a closed sky only where the prompt names them."""
        return opened(self.weather, self.time, self.lights)

    @property
    def dim(self) -> bool:
        """Whether a closed sky swallows the colors of a low sun."""
        return dimmed(self.weather, self.time, self.lights)

    @property
    def crescent(self) -> bool:
        """Whether the moon is a crescent: the prompt says so, or says nothing of it."""
        if "crescent" in self.extras or "full_moon" in self.extras:
            return "crescent" in self.extras
        return self.number % 5 < 2

    def facts(self) -> dict[str, Any]:
        """Return the scene as JSON-able metadata."""
        facts = asdict(self)
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        return {**facts, **lists}


def read(prompt: str, *, seed: int, palette: str = "auto") -> Scene:
    """Return the scene that a prompt describes.

    Parameters
    ----------
    palette : str
        A named palette, or ``"auto"`` to take the colors from the time of day and the prompt.
    """
    words = words_of(prompt, WORDS)
    told = (word for word in words if word not in _DIRECTIONS)
    number = zlib.crc32(f"{seed}:{' '.join(told)}".encode())
    dice = random.Random(number)  # noqa: S311 - a picture is no secret
    said = {axis: first_in(words, table) for axis, table in lexicon.AXES.items()}
    said["weather"] = weather_in(words)
    axes = {axis: said[axis] or _drawn(dice, axis) for axis in _OPEN}
    extras = [lexicon.EXTRA_WORDS[word] for word in words if word in lexicon.EXTRA_WORDS]
    lights = lights_in(words)
    axes = {**axes, **_implied(said, extras, sun="sun" in words, hour=axes["time"])}
    if not said["time"]:
        axes["time"] = hour_of_feeling(words, extras) or axes["time"]
        axes["time"] = hour_under(axes["weather"], axes["time"], lights, extras)
    return Scene(
        **axes,
        tints=colors_in(words)[:_MOST_TINTS],
        extras=tuple(dict.fromkeys(extras)),
        palette=palette,
        number=number,
        warmth=warmth_in(words),
        composition=composition_in(words),
        lights=lights,
        tones=directing.tones_in(words),
        discs=discs_in(words),
    )


def opened(weather: str, hour: str, lights: Sequence[str]) -> bool:
    """Return whether sun or moon are seen: under a closed sky only where they are named."""
    return weather not in COVERED or not _SHINING[hour].isdisjoint(lights)


def dimmed(weather: str, hour: str, lights: Sequence[str]) -> bool:
    """Return whether a closed sky swallows the colors of a low sun: those that are not named."""
    return weather in COVERED and hour in LOW and {"sun", "fire"}.isdisjoint(lights)


def hour_under(weather: str, hour: str, lights: Sequence[str], extras: Sequence[str]) -> str:
    """Return the hour under a weather where no word names one: under a closed sky it is day.

    Parameters
    ----------
    hour : str
        What was drawn.
    lights, extras : sequence of str
        What the prompt names: a sun that breaks through may stand low, and what shines or glimmers
        in the dark keeps its night.
    """
    named = "sun" in lights or not _GLIMMERS.isdisjoint(extras)
    return "day" if weather in COVERED and not named else hour


def _implied(
    said: Mapping[str, str | None], extras: Sequence[str], *, sun: bool, hour: str
) -> dict[str, str]:
    """Return what one axis says about another: falling snow means winter, an aurora night.

    Parameters
    ----------
    sun : bool
        Whether the prompt speaks of the sun.
    hour : str
        The time of day as it is so far, said or drawn.
    """
    implied = {}
    if "aurora" in extras:
        implied["time"] = said["time"] if said["time"] in ("dusk", "night") else "night"
    elif "crescent" in extras and not said["time"]:
        implied["time"] = "night"
    elif "fireflies" in extras and not said["time"]:
        implied["time"] = "sunset" if sun else "dusk"
    if said["weather"] == "snow" and not said["season"]:
        implied["season"] = "winter"
    gray = said["weather"] == "overcast" or said["mood"] == "gloomy"
    low = sun and not said["time"] and hour in ("dusk", "night")
    light = _gray(said, extras) if gray else {"time": "sunset"} if low else {}
    return {**light, **implied}


def _gray(said: Mapping[str, str | None], extras: Sequence[str]) -> dict[str, str]:
    """Return what clouds and gloom mean for what is not said: it is day, and the sky is closed."""
    hour = {} if said["time"] else {"time": "day"}
    # Clouds would hide the moon, the stars and the northern lights.
    open_ = said["time"] == "night" or not _SKY_LIGHTS.isdisjoint(extras)
    return hour if said["weather"] or open_ else {**hour, "weather": "overcast"}


def weather_in(words: Sequence[str]) -> str | None:
    """Return the weather that words tell: their own, a ghostly mood's, or that the sun shines."""
    if said := first_in(words, lexicon.AXES["weather"]):
        return said
    if any(word in lexicon.GHOSTLY for word in words):
        return "mist"
    if any(word in lexicon.SUNNY for word in words):
        return "clear"
    return directing.suggested(words, directing.WEATHERS)


def warmth_in(words: Sequence[str]) -> int:
    """Return whether words make the light warmer (1) or cooler (-1) than its hour."""
    return next((lexicon.WARMTHS[word] for word in words if word in lexicon.WARMTHS), 0)


def lights_in(words: Sequence[str]) -> tuple[str, ...]:
    """Return which lights of the sky words name, in their order."""
    table = lexicon.LIGHT_WORDS
    return tuple(dict.fromkeys(table[word] for word in words if word in table))


def hour_of_feeling(words: Sequence[str], extras: Sequence[str]) -> str | None:
    """Return the hour that a feeling suggests, unless something glimmers in the dark."""
    return None if _GLIMMERS.intersection(extras) else directing.suggested(words, directing.HOURS)


def colors_in(words: Sequence[str]) -> tuple[str, ...]:
    """Return the color words, or those that a feeling suggests where there are none."""
    said = tuple(dict.fromkeys(word for word in words if word in lexicon.COLORS))
    return said or tuple((directing.suggested(words, directing.COLORS) or "").split())


def discs_in(words: Sequence[str]) -> tuple[str, ...]:
    """Return what words want to see in the sky: the sun or the moon itself, not only its light."""
    return tuple(disc for disc in ("sun", "moon") if disc in words)


def composition_in(words: Sequence[str]) -> tuple[str, ...]:
    """Return how words place the camera and what is seen, in their order."""
    table = lexicon.COMPOSITION_WORDS
    return tuple(dict.fromkeys(table[word] for word in words if word in table))


def first_in(words: Sequence[str], table: Mapping[str, str]) -> str | None:
    """Return what the first word that stands in a table means there."""
    return next((table[word] for word in words if word in table), None)


def _drawn(dice: random.Random, axis: str) -> str:
    values, weights = _OPEN[axis]
    return dice.choices(values, weights)[0]


#: What a picture keeps its seed under; neon and what is synthetic are things as well.
_DIRECTIONS = {
    *lexicon.AXES["mood"],
    *lexicon.COMPOSITION_WORDS,
    *directing.WORDS,
} - {"neon", "synthwave"}
#: Every word that directs a landscape.
WORDS = {
    "cloud",
    "sky",
    *lexicon.COLORS,
    *lexicon.EXTRA_WORDS,
    *lexicon.WARMTHS,
    *lexicon.COMPOSITION_WORDS,
    *lexicon.SUNNY,
    *lexicon.LIGHT_WORDS,
    *directing.WORDS,
    *(word for table in lexicon.AXES.values() for word in table),
}
