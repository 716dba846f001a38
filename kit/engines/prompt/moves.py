"""Moves: what a prompt asks of the camera and of the passing of time.

Only what is said of a camera counts: a sun may rise and a planet orbit in front of one that stands
still. What is denied ("no zoom") directs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from kit.engines.prompt.vocabulary import vocabulary

_DENIED = re.compile(r"\b(?:no|without|not|never|dont|do not)(?: \w+){0,2} $")
#: What models call the same.
_ALIKE: Mapping[str, str] = {"orbit": "arc"}
_WORD = re.compile(r"[a-z0-9]+")


def moved(prompt: str) -> tuple[tuple[str, ...], str | None, frozenset[str]]:
    """Return the moves that a prompt names, in their order, the passing of hours, and their words.

    Examples
    --------
    >>> moved("Slow pan to the left over a lake, from day to night")[:2]
    (('pan_left',), 'day_to_night')
    """
    words = vocabulary()
    said = _WORD.findall(prompt.casefold().replace("'", ""))
    if words.words("camera", "triggers").isdisjoint(said):
        return (), None, frozenset()
    plain = " ".join(said)
    moves, spoken = _found(plain, words.moves)
    passing, hours = _found(plain, words.passing)
    return tuple(moves), next(iter(passing), None), frozenset(spoken | hours)


def camera_for(asked: str, moves: Sequence[str], able: Collection[str], otherwise: str) -> str:
    """Return how the camera moves: as was asked for, else as the prompt says, else as usual.

    Parameters
    ----------
    asked : str
        The setting; ``auto`` follows the prompt.
    able : collection of str
        What the model can do; what else is said counts for nothing.

    Examples
    --------
    >>> camera_for("auto", ("descend", "pan_left"), ["push", "pan_left"], "push")
    'pan_left'
    """
    if asked != "auto":
        return asked
    ways = {_ALIKE.get(move, move): move for move in able}
    return next((ways[move] for move in moves if move in ways), otherwise)


def _found(plain: str, ways: Mapping[str, re.Pattern[str]]) -> tuple[list[str], set[str]]:
    """Return the names of what is said, in their order, and the words that say so."""
    found: dict[int, tuple[str, str]] = {}
    for name, pattern in ways.items():
        for match in pattern.finditer(plain):
            # What denies it stands right before it.
            if not _DENIED.search(plain[max(0, match.start() - 60) : match.start()]):
                found[match.start()] = name, match[0]
    ordered = [found[start] for start in sorted(found)]
    return [name for name, _ in ordered], {word for _, text in ordered for word in text.split()}
