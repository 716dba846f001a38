"""Reading: a prompt, settings and a seed become a brief.

The first known word on each axis decides; axes that the prompt leaves open are drawn from the seed
and the whole prompt, so that unknown words still vary the picture. A brief lists the used and the
unused words.
"""

from __future__ import annotations

import math
import random
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from kit.engines.prompt.brief import CLOSED_SKY, Brief, Grade
from kit.engines.prompt.moves import Moves, moves_of
from kit.engines.prompt.tokens import ANYWHERE, GLIMMERS, SKY_LIGHTS, Token, WordMeanings, tokens_of
from kit.engines.prompt.vocabulary import Tint, Vocabulary, vocabulary
from kit.engines.sizes import longest_side
from kit.parameters import Problem

#: Families without land: season and weather have no effect there.
_NO_LAND = frozenset(("space", "liquid", "flow"))
#: Maximum number of listed words, and of characters of each.
_MAX_LISTED, _MAX_LETTERS = 40, 60


def _account_words(
    said: WordMeanings, brief: Brief, painter: str, colors: Set[int], spoken: Set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a prompt that direct a brief, and the meaningful ones that do not.

    `colors` are the positions of the color words in use, and `spoken` the words that set the
    camera or the hours.
    """
    words, shown = vocabulary(), _visible_values(brief, painter)
    direct = {
        text
        for text in said.texts
        if any(thing.name in brief.things for thing in words.things_of.get(text, ()))
        or (text not in words.colors and not shown.isdisjoint(words.meanings.get(text, {}).items()))
    }
    label_used: dict[str, bool] = {}
    for place, token in enumerate(said.tokens):
        used = token.text in direct or place in colors or spoken >= set(token.typed)
        # Words without visual meaning and negations are not listed.
        silent = token.text in words.silent or token.text.isdecimal() or token.text[:3] == "no-"
        if used or not (silent or words.silent.issuperset(token.typed)):
            label = " ".join(token.typed)
            label_used[label] = used or label_used.get(label, False)
    used_ = tuple(label[:_MAX_LETTERS] for label, used in label_used.items() if used)
    unused = tuple(label[:_MAX_LETTERS] for label, used in label_used.items() if not used)
    return used_[:_MAX_LISTED], unused[:_MAX_LISTED]


def _visible_values(brief: Brief, painter: str) -> Set[tuple[str, str]]:
    """Return the (axis, value) pairs that are visible in a brief's picture."""
    flight = painter == "flight"  # over land, whatever the words name
    values: dict[str, tuple[str, ...]] = {
        "mood": (brief.mood,),
        "tone": brief.tones,
        "composition": brief.composition,
        "family": () if flight and brief.family in (*_NO_LAND, "city") else (brief.family,),
        "place": (brief.place,) if brief.family == "poster" else (),
        "hour": (brief.hour,),
        "suggested_hour": (brief.hour,),
    }
    if flight or brief.family not in _NO_LAND:
        values |= {
            "season": (brief.season,),
            "weather": (brief.weather,),
            "suggested_weather": (brief.weather,),
            "warmth": (str(brief.warmth),),
            "light": brief.lights,
            "sunny": ("sunny",) if brief.weather == "clear" else (),
            "ghostly": ("ghostly",) if brief.weather == "mist" else (),
        }
    if brief.family == "city":
        values["street_weather"] = (brief.weather,)
    return {(axis, value) for axis, found in values.items() for value in found}


_COLOR_REACH = 3  # words after a color within which the colored object must be
_LINKS = frozenset(("and", "or", "to"))
_MAX_TINTS = 3  # maximum number of colors of the light
#: Axes of words that are objects, not adjectives.
_NOUNS = frozenset(("family", "place"))


@dataclass(frozen=True, slots=True)
class Coloring:
    """The colors of a picture, and the tokens that set them."""

    light: tuple[Tint, ...] = ()
    land: Tint | None = None
    water: Tint | None = None
    named: bool = False
    places: frozenset[int] = frozenset()  # positions of the color words in use


def find_coloring(tokens: Sequence[Token], family: str, *, gold: bool = False) -> Coloring:
    """Return the parts of a family's pictures that the color words of a prompt color.

    A color directly before an object belongs to it: it colors land or water, in abstracts the
    whole, or is ignored. All other colors filter the light of the whole picture. With `gold`,
    gold is a metal and not a color.

    Examples
    --------
    >>> from kit.engines.prompt.tokens import tokens_of
    >>> both = find_coloring(tokens_of("a red barn in a green meadow"), "lake")
    >>> both.light, both.land
    ((), (148.0, 0.12))
    """
    words = vocabulary()
    found: dict[str, dict[Tint, int]] = {"light": {}, "land": {}, "water": {}}
    named = False
    for place, token in enumerate(tokens):
        tint = words.colors.get(token.text)
        if tint is None or (gold and token.text == "gold"):
            continue
        named = True
        if target := _target(tokens, place, family, words):
            found[target].setdefault(tint, place)
    light = dict(list(found["light"].items())[:_MAX_TINTS])
    land, water = (dict(list(found[what].items())[:1]) for what in ("land", "water"))
    places = frozenset(place for part in (light, land, water) for place in part.values())
    ground, wet = next(iter(land), None), next(iter(water), None)
    return Coloring(light=tuple(light), land=ground, water=wet, named=named, places=places)


def _target(tokens: Sequence[Token], place: int, family: str, words: Vocabulary) -> str:
    """Return the target of a color word: light, land or water; empty if it colors nothing."""
    if tokens[place].text in words.words("colors", "colored", "film"):
        return "light"
    nouns = _nouns(tokens, place, words)
    whole = family in words.words("colors", "colored", "whole")
    if whole and any(words.meanings.get(noun, {}).get("family") == family for noun in nouns):
        return "light"
    known = [words.targets[noun] for noun in nouns if noun in words.targets]
    if known:
        return known[-1] if known[-1] == "light" or not whole else ""
    return "" if nouns else "light"


def _nouns(tokens: Sequence[Token], place: int, words: Vocabulary) -> list[str]:
    """Return the objects among the words after a color, up to a mark or a word such as "in"."""
    found: list[str] = []
    for token in tokens[place + 1 : place + 1 + 2 * _COLOR_REACH]:
        if token.ends or len(found) >= _COLOR_REACH:
            break
        if token.text in words.colors or token.text in _LINKS:
            continue
        thing = token.text in words.targets
        if token.text in words.silent and not thing:
            break
        meant = words.meanings.get(token.text)
        if thing or not meant or not _NOUNS.isdisjoint(meant):
            found.append(token.text)
    return found


#: The value of a setting that follows the prompt.
AUTO = "auto"
#: Families of prompts that name none, with weights; those without hours have no land.
_FAMILY_WEIGHTS = {"lake": 5, "desert": 3, "forest": 4, "sea": 4, "space": 2, "liquid": 1}
_LANDS = ("lake", "desert", "forest", "sea")
#: Random choices for axes that the prompt leaves open: values with their weights.
_CHOICES: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "hour": (("dawn", "day", "sunset", "dusk", "night"), (3, 3, 5, 3, 2)),
    "place": (("mountains", "hills", "desert", "sea", "forest", "lake"), (5, 2, 2, 2, 3, 3)),
    "weather": (("clear", "mist"), (3, 1)),
}
#: Families with a fixed default hour instead of a random one.
_FIXED_HOURS = {"city": "night", "space": "night", "liquid": "day", "flow": "day"}
#: Axes that are visible in land only.
_LAND_AXES = ("season", "weather", "warmth", "light")
_FALLING = ("rain", "snow")
#: Family and object -> the family that can show it.
_OTHER_FAMILIES = {
    ("forest", "volcano"): "lake",
    ("forest", "waterfall"): "lake",
    ("forest", "palms"): "sea",
    ("sea", "waterfall"): "lake",
}
#: Words of palms that a forest cannot show; with any other it becomes a jungle.
_NO_JUNGLE = frozenset(("palm", "coconut", "beach", "maldives", "caribbean", "fiji", "tahiti"))
#: Object -> words that place it by the sea, even if others name lakes or streams.
_SEA_WORDS = {"palms": frozenset(("lagoon",)), "volcano": frozenset(("sea", "ocean"))}


def read(
    prompt: str,
    parameters: Mapping[str, Any],
    seed: int,
    *,
    family: str = "",
    painter: str = "",
    moves: Collection[str] = (),
) -> Brief:
    """Return the brief of a prompt and settings.

    Parameters
    ----------
    parameters : mapping
        ``aspect_ratio`` and ``size`` (pixels of the longer side), ``family``, ``palette`` and
        ``detail`` if the model has them; rain and snow as a ``weather`` close the sky as words
        do.
    seed : int
        The job's seed, 0 to 2**32 - 1.
    family : str, optional
        The painter's family, which overrides the words.
    painter : str, optional
        A name of ``things.toml`` that decides which objects are drawn, if it is not the family.
    moves : collection of str, optional
        Camera moves that a film supports.

    Examples
    --------
    >>> brief = read("a wide teal ocean at dusk", {"aspect_ratio": "1:1", "size": 512}, seed=7)
    >>> brief.family, brief.hour, brief.composition, brief.used
    ('sea', 'dusk', ('wide',), ('wide', 'teal', 'ocean', 'dusk'))
    >>> read("a cat on a beach", {}, seed=7).unused
    ('cat',)
    """
    words, said = vocabulary(), WordMeanings(tokens_of(prompt))
    composition = said.all("composition")
    asked = family or parameters.get("family", AUTO)
    number = zlib.crc32(f"{seed}:{' '.join(said.seed_words)}".encode())
    rng = random.Random(number)  # noqa: S311 - not for cryptography
    known = {axis: said.weather if axis == "weather" else said.first(axis) for axis in _CHOICES}
    drawn = {axis: known[axis] or rng.choices(*choice)[0] for axis, choice in _CHOICES.items()}
    named = asked if asked != AUTO else _find_family(said)
    # Without a named family, use one that can show what the words describe.
    land = bool(said.anywhere) or said.has_meaning(*_LAND_AXES)
    weights = {name: _FAMILY_WEIGHTS[name] for name in (_LANDS if land else _FAMILY_WEIGHTS)}
    family_rng = random.Random(number)  # noqa: S311 - not for cryptography
    chosen = named or family_rng.choices(list(weights), list(weights.values()))[0]
    shown = painter or chosen
    things = said.things(shown) if named or painter else said.things(shown) & ANYWHERE
    palette = parameters.get("palette", AUTO)
    coloring = find_coloring(said.tokens, chosen, gold="gold" in things)
    if palette != AUTO:
        coloring = Coloring(named=True)
    width, height = longest_side(parameters.get("aspect_ratio", "1:1"), parameters.get("size", 512))
    hour, season, weather = _light(said, drawn, chosen, parameters.get("weather", ""))
    brief = Brief(
        hour=hour,
        season=season,
        weather=weather,
        family=chosen,
        place=drawn["place"],
        mood=said.first("mood") or "balanced",
        tones=tuple(sorted(said.all("tone"))),
        composition=composition,
        horizon=sum(words.numbers_of("horizons").get(word, 0.0) for word in composition),
        lens=math.prod(words.numbers_of("lenses").get(word, 1.0) for word in composition),
        things=things,
        lights=said.all("light"),
        colors=coloring.light if coloring.named else said.suggested_colors,
        land=coloring.land,
        water=coloring.water,
        warmth=int(said.first("warmth") or 0),
        palette=palette,
        width=width,
        height=height,
        detail=parameters.get("detail", "standard"),
        seed=number,
    )
    film = moves_of(prompt, parameters, moves) if moves else Moves()
    used, unused = _account_words(said, brief, painter, coloring.places, film.words)
    return replace(
        brief, grade=_grade(brief), camera=film.camera, hours=film.hours, used=used, unused=unused
    )


def prompt_problems(
    prompt: str,
    parameters: Mapping[str, Any],
    *,
    family: str = "",
    painter: str = "",
    moves: Collection[str] = (),
) -> Iterator[Problem]:
    """Yield the problem if nothing of a prompt can be painted and no setting says what to paint."""
    if parameters.get("family", AUTO) != AUTO or parameters.get("land", AUTO) != AUTO:
        return
    if read(prompt, parameters, 0, family=family, painter=painter).used:
        return
    if not (moves and moves_of(prompt, parameters, moves).words):
        yield "prompt", NOTHING_KNOWN


#: The message for a prompt without any known word.
NOTHING_KNOWN = (
    "has no word that this model can paint. It knows English words for lakes, mountains, hills,"
    " deserts, forests and seas, some models also for streets, space, liquids and lines, and for"
    " hours, seasons, weather, moods and colors, such as 'misty mountains at dawn'. For any other"
    " subject add a neural model to engines.toml; the README shows how"
)


def _find_family(said: WordMeanings) -> str:
    """Return the named family, or an empty string."""
    words = vocabulary()
    rank = min((words.place_ranks.get(text, 0) for text, _ in said.families), default=0)
    named = [family for text, family in said.families if words.place_ranks.get(text, 0) == rank]
    if not named:
        return ""
    printed = words.words("places", "printed", "families").issuperset(named)
    if printed and said.has(words.words("places", "printed")):
        return "poster"
    return _family_for_things(said, Counter(named).most_common(1)[0][0])


def _family_for_things(said: WordMeanings, family: str) -> str:
    """Return the named family, or one that can show the other objects asked for."""
    if family == "sea" and said.has(vocabulary().words("places", "salt")):
        return family
    for (here, name), there in _OTHER_FAMILIES.items():
        jungle = name == "palms" and not said.has(_NO_JUNGLE)
        if family == here and not jungle and name in said.things(there):
            return there
    sea = any(said.has(near) and name in said.things("sea") for name, near in _SEA_WORDS.items())
    return "sea" if family == "lake" and sea else family


def _grade(brief: Brief) -> Grade:
    """Return the tone adjustments of mood and tones; a dramatic composition is a dramatic mood."""
    bold = "dramatic" in brief.composition and brief.mood in ("balanced", "calm", "vivid")
    names = (*(("dramatic",) if bold else ()), "glow" if brief.glows else brief.mood, *brief.tones)
    changes = [change for name in names if (change := vocabulary().grades.get(name))]
    factors = {
        name: math.prod(change.get(name, 1.0) for change in changes)
        for name in ("exposure", "contrast", "saturation")
    }
    sums = {name: sum(change.get(name, 0.0) for change in changes) for name in ("corners", "lift")}
    return Grade(**factors, **sums)


def _light(
    said: WordMeanings, drawn: Mapping[str, str], family: str, falling: str
) -> tuple[str, str, str]:
    """Return hour, season and weather: from words, their implications, and chance."""
    hour = _hour(said, drawn)
    gray = said.weather == "overcast" or said.first("mood") == "gloomy"
    # Clouds would hide the moon, the stars and the northern lights.
    seen = said.first("hour") == "night" or not SKY_LIGHTS.isdisjoint(said.anywhere)
    weather = "overcast" if gray and not said.weather and not seen else drawn["weather"]
    open_hour = not said.first("hour")
    if open_hour:
        hour = _hour_under(weather, said.suggested_hour or hour, said)
    season = "winter" if said.weather == "snow" else "summer"
    season = said.first("season", without="green") or said.first("season") or season
    weather = _weather(said, family, weather, falling)
    if open_hour and not said.suggested_hour:
        hour = _family_hour(said, family, hour)
    if open_hour and family not in _FIXED_HOURS:
        hour = _hour_under(weather, hour, said)
    return hour, season, weather


def _hour(said: WordMeanings, drawn: Mapping[str, str]) -> str:
    """Return the hour that words name or imply: an aurora is visible at night."""
    hour, sun = said.first("hour"), "sun" in said.texts
    if "aurora" in said.anywhere:
        return hour if hour in ("dusk", "night") else "night"
    if hour:
        return hour
    if "crescent" in said.anywhere:
        return "night"
    if "fireflies" in said.anywhere:
        return "sunset" if sun else "dusk"
    if said.weather == "overcast" or said.first("mood") == "gloomy":
        return "day"
    low = sun and drawn["hour"] in ("dusk", "night")
    return "sunset" if low else drawn["hour"]


def _hour_under(weather: str, hour: str, said: WordMeanings) -> str:
    """Return the hour in a weather if no word names one: under a closed sky it is day.

    A sun that breaks through may be low, and glimmering objects keep their night.
    """
    named = "sun" in said.all("light") or not GLIMMERS.isdisjoint(said.anywhere)
    return "day" if weather in CLOSED_SKY and not named else hour


def _family_hour(said: WordMeanings, family: str, drawn: str) -> str:
    """Return a family's hour if no word names one: sun rays need a sun."""
    if family == "forest" and "rays" in said.things(family):
        return "dawn"
    if "milky" in said.texts:
        return "night"
    if family == "city" and said.first("weather") == "overcast":
        return "day"
    return _FIXED_HOURS.get(family, drawn)


def _weather(said: WordMeanings, family: str, drawn: str, falling: str) -> str:
    """Return the weather: rain by default in streets, else by chance unless the sky is open."""
    weather = falling if falling in _FALLING else said.weather
    if weather:
        return weather
    if family == "city":
        streets = set(said.all("street_weather"))
        return next((it for it in ("rain", "snow", "clear") if it in streets), "rain")
    meanings = vocabulary().meanings
    denied = [text[3:] for text in said.texts if text.startswith("no-")]
    cleared = any(text == "cloud" or "weather" in meanings.get(text, ()) for text in denied)
    open_ = family == "space" or cleared or bool(said.first("starry"))
    return "clear" if open_ else drawn
