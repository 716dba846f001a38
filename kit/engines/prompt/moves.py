"""Camera moves and passage of time in a prompt.

Only words about a camera count: a rising sun or an orbiting planet does not move it. Negated moves
("no zoom") are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from kit.engines.prompt.vocabulary import vocabulary

_NEGATION = re.compile(r"\b(?:no|without|not|never|dont|do not)(?: \w+){0,2} $")
#: Synonyms -> the models' names.
_ALIKE: Mapping[str, str] = {"orbit": "arc"}
_WORD = re.compile(r"[a-z0-9]+")


class Moves(NamedTuple):
    """The moves of a film: its camera, its hours, and the words of the prompt that set them."""

    camera: str = ""
    hours: str = "fixed"
    words: frozenset[str] = frozenset()


def moves_of(prompt: str, parameters: Mapping[str, Any], able: Collection[str]) -> Moves:
    """Return the moves of a film from its settings, or else the first ones in the prompt.

    Parameters
    ----------
    parameters : mapping
        ``camera`` and, for models with passing hours, ``hours``; ``auto`` follows the prompt.
    able : collection of str
        Camera moves that the model supports; others are ignored.

    Examples
    --------
    >>> asked = {"camera": "auto", "hours": "auto"}
    >>> moves_of("Slow pan to the left over a lake, from day to night", asked, ["pan_left"])[:2]
    ('pan_left', 'day_to_night')
    """
    vocabulary_, words = vocabulary(), _WORD.findall(prompt.casefold().replace("'", ""))
    camera, hours = parameters.get("camera", "auto"), parameters.get("hours", "fixed")
    moves = Moves("" if camera == "auto" else camera, "fixed" if hours == "auto" else hours)
    if vocabulary_.words("camera", "triggers").isdisjoint(words):
        return moves
    plain = " ".join(words)
    spoken: frozenset[str] = frozenset()
    if camera == "auto":
        ways = {move: vocabulary_.moves[_ALIKE.get(move, move)] for move in able if move != "auto"}
        found, spoken = _first_move(plain, ways)
        moves = moves._replace(camera=found)
    if hours == "auto":
        found, more = _first_move(plain, vocabulary_.hour_patterns)
        moves, spoken = moves._replace(hours=found or "fixed"), spoken | more
    return moves._replace(words=spoken)


def _first_move(plain: str, patterns: Mapping[str, re.Pattern[str]]) -> tuple[str, frozenset[str]]:
    """Return the name of the first move in the text, and its words."""
    found = {
        match.start(): (name, match[0])
        for name, pattern in patterns.items()
        for match in pattern.finditer(plain)
        # A negation directly precedes it.
        if not _NEGATION.search(plain[max(0, match.start() - 60) : match.start()])
    }
    if not found:
        return "", frozenset()
    name, text = found[min(found)]
    return name, frozenset(text.split())
