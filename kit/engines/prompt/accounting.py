"""Accounting: which words of a prompt a brief is made of, and which speak of something else."""

from __future__ import annotations

from collections.abc import Set

from kit.engines.prompt.brief import Brief
from kit.engines.prompt.said import Said
from kit.engines.prompt.tokens import Token
from kit.engines.prompt.vocabulary import vocabulary

#: Families that are no land: neither season nor weather shows there.
_NO_LAND = frozenset(("space", "liquid", "flow"))
#: Words that are told, and characters of each.
_MOST, _LONGEST = 40, 60


def accounted(
    said: Said, brief: Brief, painter: str, colors: Set[int], spoken: Set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which words of a prompt direct a brief, and which speak of something and do not.

    Parameters
    ----------
    colors : set of int
        Places of the color words that color something.
    spoken : set of str
        Words that moved the camera or the hours.
    """
    words, shown = vocabulary(), _shown(brief, painter)
    direct = {
        text
        for text in said.texts
        if any(thing.name in brief.things for thing in words.named.get(text, ()))
        or (text not in words.colors and not shown.isdisjoint(words.meanings.get(text, {}).items()))
    }
    told: dict[str, bool] = {}
    for place, token in enumerate(said.tokens):
        used = token.text in direct or place in colors or spoken >= set(token.typed)
        if used or not _is_silent(token, words.silent):
            label = " ".join(token.typed)
            told[label] = used or told.get(label, False)
    used_ = tuple(label[:_LONGEST] for label, used in told.items() if used)
    unused = tuple(label[:_LONGEST] for label, used in told.items() if not used)
    return used_[:_MOST], unused[:_MOST]


def _is_silent(token: Token, silent: Set[str]) -> bool:
    """Return whether a word speaks of nothing that could be painted, or denies something."""
    text = token.text
    if text in silent or text.isdecimal() or text.startswith("no-"):
        return True
    return all(part in silent for part in token.typed)


def _shown(brief: Brief, painter: str) -> Set[tuple[str, str]]:
    """Return the values that show in a brief's picture, each with its axis."""
    flown = painter == "flight"  # over land, whatever is named
    values: dict[str, tuple[str, ...]] = {
        "mood": (brief.mood,),
        "tone": brief.tones,
        "composition": brief.composition,
        "family": () if flown and brief.family in (*_NO_LAND, "city") else (brief.family,),
        "place": (brief.place,) if brief.family == "poster" else (),
        "hour": (brief.hour,),
        "suggested_hour": (brief.hour,),
    }
    if flown or brief.family not in _NO_LAND:
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
    return {(axis, value) for axis, said in values.items() for value in said}
