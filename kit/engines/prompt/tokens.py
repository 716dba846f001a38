"""Tokens: a prompt in any script as words in the form that the vocabulary knows.

Emoji are read by their Unicode names, so that a pine is a tree and a wave is water. Each token
remembers what was typed for it. What is denied ("no snow", "not a desert but a forest") becomes a
word of its own that directs nothing and still varies the picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from kit.engines.prompt.vocabulary import Vocabulary, vocabulary

_PIECE = re.compile(r"[^\W_]+|[^\w\s]")
_JOINING = frozenset("'’-")  # marks within a phrase
_DENIALS = frozenset({"no", "not", "without", "never"})
_OR = frozenset({"or", "nor"})
_HEAPED = 3  # words among which the sky or the clouds stand that a word closes
_REACH = 3  # words after a denial among which the one stands that it denies


class Token(NamedTuple):
    """A word of a prompt.

    Parameters
    ----------
    text : str
        As the vocabulary has it; of what is denied with "no-" before it.
    typed : tuple of str
        What stands in the prompt for it, in lower case.
    ends : bool
        Whether a mark such as a comma stands before it.
    """

    text: str
    typed: tuple[str, ...]
    ends: bool = False
    symbol: bool = False


def tokens_of(prompt: str) -> list[Token]:
    """Return the words of a prompt, known ones in the singular and without accents.

    Examples
    --------
    >>> [token.text for token in tokens_of("Misty LAKES, no snow 🌲")]
    ['misty', 'lake', 'no', 'no-snow', 'evergreen', 'tree']
    """
    words = vocabulary()
    meant = _phrased([*_pieces(prompt)], words)
    plain = [_plain(token) for token in meant]
    return [*_undenied(_closed(plain, words), words)]


def _pieces(prompt: str) -> Iterator[Token]:
    ends = False
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", prompt).casefold()):
        if piece[0].isalnum():
            yield Token(piece, (piece,), ends)
            ends = False
        elif unicodedata.category(piece) == "So":
            for name in _name(piece):
                yield Token(name, (piece,), ends, symbol=True)
        elif piece not in _JOINING:
            ends = True


def _name(symbol: str) -> Sequence[str]:
    return unicodedata.name(symbol, f"symbol {ord(symbol)}").lower().replace("-", " ").split()


def _phrased(tokens: Sequence[Token], words: Vocabulary) -> Iterator[Token]:
    """Yield tokens, those of whole phrases as what they mean."""
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
    """Return how many tokens from a place are a phrase, and what it means."""
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


def _plain(token: Token) -> Token:
    known = _known(token.text)
    return token if known == token.text else Token(known, *token[1:])


@lru_cache(4096)
def _known(word: str) -> str:
    known = vocabulary().known
    return next((form for form in _forms(word) if form in known), word)


def _forms(word: str) -> Iterator[str]:
    plain = word
    if not word.isascii():
        plain = "".join(
            c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)
        )
    yield plain
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if plain.endswith(ending):
            yield plain.removesuffix(ending) + instead


def _closed(tokens: Sequence[Token], words: Vocabulary) -> Sequence[Token]:
    """Return tokens, one for whatever closes the sky: dark clouds are no dark hour."""
    skies = [number for number, token in enumerate(tokens) if token.text in ("cloud", "sky")]
    changed = list(tokens)
    for sky in skies:
        kind = f"heavy_{tokens[sky].text}"
        for place in range(sky - 1, max(-1, sky - 1 - _HEAPED), -1):
            heavy = words.meanings.get(tokens[place].text, {})
            if kind in heavy:
                changed[place] = tokens[place]._replace(text="overcast")
            elif not {"heavy_cloud", "heavy_sky"} & heavy.keys():
                break
    return changed


def _undenied(tokens: Sequence[Token], words: Vocabulary) -> Iterator[Token]:
    reach, before = 0, False
    for token in tokens:
        if token.text in _DENIALS or (before and token.text in _OR):
            reach, before = _REACH, False
            yield token
        elif reach and token.text in words.known:
            reach, before = 0, True
            yield Token(f"no-{token.text}", ("no", *token.typed))
        else:
            reach, before = max(0, reach - 1), False
            yield token
