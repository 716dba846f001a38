"""Moves: what a prompt asks of the camera and of the passing of time.

Only what is said of a camera counts: a sun may rise and a planet orbit in front of one that stands
still. What is denied ("no zoom") directs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from kit.engines.prompt.vocabulary import vocabulary

_DENIED = re.compile(r"\b(?:no|without|not|never|dont|do not)(?: \w+){0,2} $")
#: What models call the same.
_ALIKE: Mapping[str, str] = {"orbit": "arc"}
_WORD = re.compile(r"[a-z0-9]+")


class Moves(NamedTuple):
    """How a film moves: its camera, its hours, and the words of the prompt that say so."""

    camera: str = ""
    hours: str = "fixed"
    words: frozenset[str] = frozenset()


def moves_of(prompt: str, parameters: Mapping[str, Any], able: Collection[str]) -> Moves:
    """Return how a film moves: as its settings ask for, else as the prompt says first.

    Parameters
    ----------
    parameters : mapping
        ``camera`` and, of a model whose hours may pass, ``hours``; ``auto`` follows the prompt.
    able : collection of str
        Moves of the camera that the model can do; what else is said counts for nothing.

    Examples
    --------
    >>> asked = {"camera": "auto", "hours": "auto"}
    >>> moves_of("Slow pan to the left over a lake, from day to night", asked, ["pan_left"])[:2]
    ('pan_left', 'day_to_night')
    """
    vocabulary_, said = vocabulary(), _WORD.findall(prompt.casefold().replace("'", ""))
    camera, hours = parameters.get("camera", "auto"), parameters.get("hours", "fixed")
    moves = Moves("" if camera == "auto" else camera, "fixed" if hours == "auto" else hours)
    if vocabulary_.words("camera", "triggers").isdisjoint(said):
        return moves
    plain = " ".join(said)
    spoken: frozenset[str] = frozenset()
    if camera == "auto":
        ways = {move: vocabulary_.moves[_ALIKE.get(move, move)] for move in able if move != "auto"}
        found, spoken = _first(plain, ways)
        moves = moves._replace(camera=found)
    if hours == "auto":
        found, more = _first(plain, vocabulary_.passing)
        moves, spoken = moves._replace(hours=found or "fixed"), spoken | more
    return moves._replace(words=spoken)


def _first(plain: str, ways: Mapping[str, re.Pattern[str]]) -> tuple[str, frozenset[str]]:
    """Return the name of what is said first, and the words that say so."""
    found = {
        match.start(): (name, match[0])
        for name, pattern in ways.items()
        for match in pattern.finditer(plain)
        # What denies it stands right before it.
        if not _DENIED.search(plain[max(0, match.start() - 60) : match.start()])
    }
    if not found:
        return "", frozenset()
    name, text = found[min(found)]
    return name, frozenset(text.split())
