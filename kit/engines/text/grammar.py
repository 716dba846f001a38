"""The grammar: the sentences around the facts, in several voices, chosen by a seed.

A voice is a table of symbols, each with the templates it can become; ``{slots}`` are filled in one
pass, so nothing that a caller put into a slot is ever read as a template.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

__all__ = ["Voice", "voices"]

_SLOT = re.compile(r"\{(\w+)\}")


class Voice:
    """One way of talking: the same symbol gives its templates in an order the seed decides.

    Examples
    --------
    >>> voice = Voice({"cta": ["Follow for more {noun}."]}, random.Random(1))
    >>> voice.say("cta", noun="myths")
    ['Follow for more myths.']
    """

    def __init__(self, rules: Mapping[str, Sequence[str]], rng: random.Random) -> None:
        self._rules = {symbol: rng.sample(lines, len(lines)) for symbol, lines in rules.items()}

    def say(self, symbol: str, **slots: str) -> list[str]:
        """Return every sentence of a symbol whose slots are all given, the preferred one first."""
        lines = (self._filled(line, slots) for line in self._rules[symbol])
        return [line for line in lines if line]

    def _filled(self, line: str, slots: Mapping[str, str]) -> str:
        if not set(_SLOT.findall(line)) <= set(slots):
            return ""
        said = _SLOT.sub(lambda slot: slots[slot[1]], line)
        return said[:1].upper() + said[1:]


def voices(manner: str, rng: random.Random) -> list[Voice]:
    """Return the voices of a manner, in an order that the seed decides."""
    rules = _tables()[manner]
    return [Voice(rules[index], rng) for index in rng.sample(range(len(rules)), len(rules))]


@cache
def _tables() -> dict[str, list[dict[str, list[str]]]]:
    path = files("kit.engines.text") / "voices.json"
    tables: dict[str, list[dict[str, list[str]]]] = json.loads(path.read_text(encoding="utf-8"))
    return tables
