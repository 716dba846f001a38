"""The words of a prompt with what they mean: the first on each axis, and the things they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import cached_property

from kit.engines.prompt.tokens import Token
from kit.engines.prompt.vocabulary import Tint, vocabulary

#: Axes of words under which a picture keeps its seed; neon and what is synthetic are things too.
_DIRECTIONS = frozenset(
    ("mood", "composition", "tone", "suggested_hour", "suggested_weather", "suggested_colors")
)
_KEPT = frozenset(("neon", "synthwave"))
#: Things that glimmer in the dark, that are seen in an open sky, that show wherever there is land.
GLIMMERS = frozenset(("aurora", "crescent", "fireflies"))
SKY_LIGHTS = frozenset(("aurora", "crescent", "full_moon"))
ANYWHERE = GLIMMERS | SKY_LIGHTS | {"birds"}


class Said:
    """The words of a prompt with what they mean."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.texts = dict.fromkeys(token.text for token in tokens)
        self._axes: dict[str, list[tuple[str, str]]] = {}
        self._things: dict[str, frozenset[str]] = {}
        meanings = vocabulary().meanings
        for text in self.texts:
            for axis, value in meanings.get(text, {}).items():
                self._axes.setdefault(axis, []).append((text, value))

    @property
    def kept(self) -> Iterator[str]:
        """The words that the seed comes from."""
        said = {text for axis in _DIRECTIONS for text, _ in self._axes.get(axis, ())} - _KEPT
        return (token.text for token in self.tokens if token.text not in said)

    @property
    def families(self) -> Sequence[tuple[str, str]]:
        """Words that name a family, and which, as often as they are said."""
        found = dict(self._axes.get("family", ()))
        return [(token.text, found[token.text]) for token in self.tokens if token.text in found]

    def speaks_of(self, *axes: str) -> bool:
        """Return whether any word means something on one of some axes."""
        return any(axis in self._axes for axis in axes)

    def says(self, words: Set[str]) -> bool:
        """Return whether any of some words is said."""
        return not words.isdisjoint(self.texts)

    def first(self, axis: str, without: str = "") -> str | None:
        """Return what the first word says that means something on an axis."""
        return next((value for text, value in self._axes.get(axis, ()) if text != without), None)

    def all(self, axis: str) -> tuple[str, ...]:
        """Return all that words mean on an axis, in their order."""
        return tuple(dict.fromkeys(value for _, value in self._axes.get(axis, ())))

    def things(self, painter: str) -> frozenset[str]:
        """Return the names of what a painter shows of the things that are named."""
        if painter not in self._things:
            named = vocabulary().named
            found = {
                thing
                for text in self.texts
                for thing in named.get(text, ())
                if painter in thing.families and not self.says(thing.denials)
            }
            names = {thing.name for thing in found}
            shown = (it.name for it in found if not it.needs or not names.isdisjoint(it.needs))
            self._things[painter] = frozenset(shown)
        return self._things[painter]

    @cached_property
    def anywhere(self) -> frozenset[str]:
        """The things of the sky and the air that are named."""
        return self.things("lake") & ANYWHERE

    @cached_property
    def weather(self) -> str | None:
        """The weather: its own words', a ghostly mood's, or that the sun shines."""
        if said := self.first("weather"):
            return said
        if self.first("ghostly"):
            return "mist"
        return "clear" if self.first("sunny") else self.first("suggested_weather")

    @cached_property
    def feeling(self) -> str | None:
        """The hour that a feeling suggests, unless something glimmers in the dark."""
        return self.first("suggested_hour") if GLIMMERS.isdisjoint(self.anywhere) else None

    @property
    def suggested_colors(self) -> tuple[Tint, ...]:
        """The colors that a feeling suggests."""
        names = (self.first("suggested_colors") or "").split()
        return tuple(vocabulary().colors[name] for name in names)
