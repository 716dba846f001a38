"""The words that direct pictures, read on first use from the files in `words`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from typing import Any, TypeAlias

#: Hue in degrees and chroma, in OKLCH.
Tint: TypeAlias = tuple[float, float]
#: Words of a phrase, their replacement, and whether a mark between the words prevents it.
Phrase: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bool]

#: Axis -> table of a file with its values and their words.
_AXES = {
    "family": ("places", "families"),
    "place": ("places", "places"),
    "hour": ("light", "hours"),
    "season": ("light", "seasons"),
    "weather": ("light", "weathers"),
    "mood": ("light", "moods"),
    "tone": ("light", "tones"),
    "warmth": ("light", "warmths"),
    "light": ("light", "lights"),
    "suggested_hour": ("light", "suggested_hours"),
    "suggested_weather": ("light", "suggested_weathers"),
    "suggested_colors": ("light", "suggested_colors"),
    "street_weather": ("light", "street_weathers"),
    "composition": ("camera", "compositions"),
}


@dataclass(frozen=True, slots=True)
class Thing:
    """An object, state or manner that a prompt may name."""

    name: str
    words: frozenset[str]
    families: frozenset[str]  # painters that draw it
    denials: frozenset[str]  # negating any of them suppresses it, whatever else the prompt names
    needs: frozenset[str]  # at least one of these other objects is needed for it to be drawn


class Vocabulary:
    """All words, indexed for lookups."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        self._tables = tables
        self.colors: Mapping[str, Tint] = {
            word: (hue, chroma) for word, (hue, chroma) in tables["colors"]["colors"].items()
        }
        parts = ("words", "families", "denials", "needs")
        self.things = tuple(
            Thing(name, *(frozenset(table.get(part, "").split()) for part in parts))
            for name, table in tables["things"].items()
        )
        self.silent = frozenset(tables["phrases"]["silent"]["words"].split())
        self.known = frozenset(
            word for word in (*self.meanings, *self.colors, *self.targets) if word[:3] != "no-"
        )

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The painters of scenes."""
        return tuple(self._tables["places"]["families"])

    @cached_property
    def meanings(self) -> Mapping[str, Mapping[str, str]]:
        """Word -> axis -> its value there; objects are in `things_of`."""
        found: dict[str, dict[str, str]] = {}
        for axis, (file, table) in _AXES.items():
            for value, words in self._tables[file][table].items():
                for word in words.split():
                    found.setdefault(word, {})[axis] = value
        for name in ("sunny", "ghostly", "starry", "heavy_cloud", "heavy_sky"):
            for word in self.words("light", "sets", name):
                found.setdefault(word, {})[name] = name
        for word in (*self.things_of, "cloud", "sky"):
            found.setdefault(word, {})
        return found

    @cached_property
    def things_of(self) -> Mapping[str, Sequence[Thing]]:
        """Word -> the objects that it names."""
        found: dict[str, list[Thing]] = {}
        for thing in self.things:
            for word in thing.words:
                found.setdefault(word, []).append(thing)
        return found

    @cached_property
    def targets(self) -> Mapping[str, str]:
        """Word -> the target of a color word before it: land, water or light."""
        table = self._tables["colors"]["colored"]
        return {word: what for what in ("light", "water", "land") for word in table[what].split()}

    @cached_property
    def place_ranks(self) -> Mapping[str, int]:
        """Word of a place -> its rank: it counts only if no place of a lower rank is named."""
        ranks = self._tables["places"]["faint"]["ranks"]
        return {word: rank for rank, words in enumerate(ranks, 1) for word in words.split()}

    @cached_property
    def phrases(self) -> Mapping[str, Mapping[str, Sequence[Phrase]]]:
        """First word -> second word (empty for single words) -> phrases, longest first."""
        found: dict[str, dict[str, list[Phrase]]] = {}
        for name, whole in (("phrases", True), ("together", False)):
            for said, meant in self._tables["phrases"][name].items():
                for parts in product(*(part.split("|") for part in said.split())):
                    words = tuple(part for part in parts if part)
                    instead = tuple(meant.format("", *words).split())
                    begun = found.setdefault(words[0], {})
                    begun.setdefault("".join(words[1:2]), []).append((words, instead, whole))
        for begun in found.values():
            for group in begun.values():
                group.sort(key=lambda phrase: -len(phrase[0]))
        return found

    @cached_property
    def moves(self) -> Mapping[str, re.Pattern[str]]:
        """Move of a camera -> its pattern, in plain lower case with single spaces."""
        return self._patterns("moves")

    @cached_property
    def hour_patterns(self) -> Mapping[str, re.Pattern[str]]:
        """Passage of time -> its pattern."""
        return self._patterns("passing")

    @cached_property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """Mood or tone -> its tone adjustments."""
        grades: Mapping[str, Mapping[str, float]] = self._tables["light"]["grades"]
        return grades

    def numbers_of(self, table: str) -> Mapping[str, float]:
        """Return the numbers of a table of the camera, by composition."""
        numbers: Mapping[str, float] = self._tables["camera"][table]
        return numbers

    def words(self, file: str, table: str, name: str = "words") -> frozenset[str]:
        """Return the words listed under a name."""
        return frozenset(self._tables[file][table][name].split())

    def _patterns(self, table: str) -> Mapping[str, re.Pattern[str]]:
        parts = dict(self._tables["camera"]["parts"])
        for name, text in parts.items():
            parts[name] = text.replace("{how}", parts["how"])
        found = {}
        for name, said in self._tables["camera"][table].items():
            pattern = said.replace("\\\n", "")
            for part, text in parts.items():
                pattern = pattern.replace(f"{{{part}}}", text)
            found[name] = re.compile(rf"\b(?:{pattern})")
        return found


@cache
def vocabulary() -> Vocabulary:
    """Return the words, loaded once."""
    folder = files("kit.engines.prompt") / "words"
    names = ("places", "things", "light", "camera", "colors", "phrases")
    return Vocabulary(
        {name: tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in names}
    )
