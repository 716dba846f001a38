"""Tokens: a prompt in any script as words in the form of the vocabulary.

Emoji are read by their Unicode names, so that a pine is a tree and a wave is water. Each token
keeps its original text. A negated word ("no snow", "not a desert but a forest") becomes another
word that directs nothing and still varies the picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import NamedTuple

from kit.engines.prompt.vocabulary import Tint, Vocabulary, vocabulary

_PIECE = re.compile(r"[^\W_]+|[^\w\s]")
_JOINING = frozenset("'’-")  # marks within a phrase
_DENIALS = frozenset({"no", "not", "without", "never"})
_OR = frozenset({"or", "nor"})
_SKY_REACH = 3  # words before "sky" or "clouds" among which an adjective may close it
_DENIAL_REACH = 3  # words after a negation among which the negated one must be


class Token(NamedTuple):
    """A word of a prompt."""

    text: str  # in the vocabulary's form; negated words start with "no-"
    typed: tuple[str, ...]  # its text in the prompt, in lower case
    ends: bool = False  # whether a mark such as a comma precedes it
    symbol: bool = False


def tokens_of(prompt: str) -> list[Token]:
    """Return the words of a prompt; known words in the singular and without accents.

    Examples
    --------
    >>> [token.text for token in tokens_of("Misty LAKES, no snow 🌲")]
    ['misty', 'lake', 'no', 'no-snow', 'evergreen', 'tree']
    """
    words = vocabulary()
    joined = _join_phrases([*_pieces(prompt)], words)
    plain = [token._replace(text=_find_form(token.text)) for token in joined]
    return [*_mark_denials(_close_sky(plain, words), words)]


def _pieces(prompt: str) -> Iterator[Token]:
    ends = False
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", prompt).casefold()):
        if piece[0].isalnum():
            yield Token(piece, (piece,), ends)
            ends = False
        elif unicodedata.category(piece) == "So":
            name = unicodedata.name(piece, f"symbol {ord(piece)}").lower().replace("-", " ")
            for word in name.split():
                yield Token(word, (piece,), ends, symbol=True)
        elif piece not in _JOINING:
            ends = True


def _join_phrases(tokens: Sequence[Token], words: Vocabulary) -> Iterator[Token]:
    """Yield tokens, with phrases replaced by their meaning."""
    place = 0
    while place < len(tokens):
        first = tokens[place]
        said = _phrase(tokens, place, words) if first.text in words.phrases else None
        place += 1
        if said is None:
            yield first
            continue
        count, instead = said
        phrase = tokens[place - 1 : place - 1 + count]
        typed = tuple(part for token in phrase for part in token.typed)
        for number, word in enumerate(instead):
            yield Token(word, typed, first.ends and not number)
        place += count - 1


def _phrase(
    tokens: Sequence[Token], place: int, words: Vocabulary
) -> tuple[int, Sequence[str]] | None:
    """Return the number of tokens of the phrase at a position, and its meaning."""
    begun = words.phrases[tokens[place].text]
    second = tokens[place + 1].text if place + 1 < len(tokens) else ""
    for phrase, instead, whole in (*begun.get(second, ()), *begun.get("", ())):
        said = tokens[place : place + len(phrase)]
        if tuple(token.text for token in said) != phrase:
            continue
        parted = any(token.symbol for token in said) or any(token.ends for token in said[1:])
        if not (whole and parted):
            return len(phrase), instead
    return None


@lru_cache(4096)
def _find_form(word: str) -> str:
    """Return a word in the vocabulary's form: without accents, in the singular."""
    letters = unicodedata.normalize("NFKD", word)
    plain = "".join(c for c in letters if not unicodedata.combining(c))
    endings = (("", ""), ("ies", "y"), ("es", ""), ("s", ""))
    forms = (plain.removesuffix(end) + instead for end, instead in endings if plain.endswith(end))
    return next((form for form in forms if form in vocabulary().known), word)


def _close_sky(tokens: Sequence[Token], words: Vocabulary) -> Sequence[Token]:
    """Return tokens without adjectives that close the sky: dark clouds are not a dark hour."""
    skies = [number for number, token in enumerate(tokens) if token.text in ("cloud", "sky")]
    changed = list(tokens)
    for sky in skies:
        kind = f"heavy_{tokens[sky].text}"
        for place in range(sky - 1, max(-1, sky - 1 - _SKY_REACH), -1):
            heavy = words.meanings.get(tokens[place].text, {})
            if kind in heavy:
                changed[place] = tokens[place]._replace(text="overcast")
            elif not {"heavy_cloud", "heavy_sky"} & heavy.keys():
                break
    return changed


def _mark_denials(tokens: Sequence[Token], words: Vocabulary) -> Iterator[Token]:
    reach, before = 0, False
    for token in tokens:
        if token.text in _DENIALS or (before and token.text in _OR):
            reach, before = _DENIAL_REACH, False
            yield token
        elif reach and token.text in words.known:
            reach, before = 0, True
            yield Token(f"no-{token.text}", ("no", *token.typed))
        else:
            reach, before = max(0, reach - 1), False
            yield token


#: Axes of words that do not change the picture's seed; neon and synthetic are objects too.
_DIRECTIONS = frozenset(
    ("mood", "composition", "tone", "suggested_hour", "suggested_weather", "suggested_colors")
)
_OBJECTS = frozenset(("neon", "synthwave"))
#: Objects that glimmer in the dark, that need an open sky, that are visible in any land.
GLIMMERS = frozenset(("aurora", "crescent", "fireflies"))
SKY_LIGHTS = frozenset(("aurora", "crescent", "full_moon"))
ANYWHERE = GLIMMERS | SKY_LIGHTS | {"birds"}


class WordMeanings:
    """The words of a prompt with their meanings."""

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
    def seed_words(self) -> Iterator[str]:
        """The words that determine the seed."""
        said = {text for axis in _DIRECTIONS for text, _ in self._axes.get(axis, ())} - _OBJECTS
        return (token.text for token in self.tokens if token.text not in said)

    @property
    def families(self) -> Sequence[tuple[str, str]]:
        """Words that name a family, with that family, in order and with repetitions."""
        found = dict(self._axes.get("family", ()))
        return [(token.text, found[token.text]) for token in self.tokens if token.text in found]

    def has_meaning(self, *axes: str) -> bool:
        """Return whether any word has a meaning on one of the axes."""
        return any(axis in self._axes for axis in axes)

    def has(self, words: Set[str]) -> bool:
        """Return whether any of the words is in the prompt."""
        return not words.isdisjoint(self.texts)

    def first(self, axis: str, without: str = "") -> str | None:
        """Return the value of the first word with a meaning on an axis."""
        return next((value for text, value in self._axes.get(axis, ()) if text != without), None)

    def all(self, axis: str) -> tuple[str, ...]:
        """Return all values of words on an axis, in order."""
        return tuple(dict.fromkeys(value for _, value in self._axes.get(axis, ())))

    def things(self, painter: str) -> frozenset[str]:
        """Return the names of the named objects that a painter can draw."""
        if painter not in self._things:
            named = vocabulary().things_of
            found = {
                thing
                for text in self.texts
                for thing in named.get(text, ())
                if painter in thing.families
                and not self.has({f"no-{word}" for word in thing.denials})
            }
            names = {thing.name for thing in found}
            shown = (it.name for it in found if not it.needs or not names.isdisjoint(it.needs))
            self._things[painter] = frozenset(shown)
        return self._things[painter]

    @cached_property
    def anywhere(self) -> frozenset[str]:
        """The named objects of the sky and the air."""
        return self.things("lake") & ANYWHERE

    @cached_property
    def weather(self) -> str | None:
        """The weather: named, or implied by a ghostly mood or by sunshine."""
        if named := self.first("weather"):
            return named
        if self.first("ghostly"):
            return "mist"
        return "clear" if self.first("sunny") else self.first("suggested_weather")

    @cached_property
    def suggested_hour(self) -> str | None:
        """The hour that a feeling suggests, unless something glimmers in the dark."""
        return self.first("suggested_hour") if GLIMMERS.isdisjoint(self.anywhere) else None

    @property
    def suggested_colors(self) -> tuple[Tint, ...]:
        """The colors that a feeling suggests."""
        names = (self.first("suggested_colors") or "").split()
        return tuple(vocabulary().colors[name] for name in names)
