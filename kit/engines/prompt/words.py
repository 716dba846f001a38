"""Words: a prompt in any script as words, those that the lexicons know in the form they know.

Emoji are read by their Unicode names, so that a pine is a tree and a wave is water. What is denied
("no snow", "not a desert but a forest") directs nothing and still varies the picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set

from kit.engines.prompt import lexicon
from kit.engines.prompt.wording import reworded, together

_PIECE = re.compile(r"[^\W_]+|[^\w\s]")
_DENIALS = frozenset({"no", "not", "without", "never"})
_OR = frozenset({"or", "nor"})
_HEAPED = 3  # words among which the sky or the clouds stand that a word closes
_REACH = 3  # words after a denial among which the one stands that it denies


def words_of(prompt: str, known: Set[str]) -> list[str]:
    """Return the words of a prompt, in lower case, known ones in the singular and without accents.

    Examples
    --------
    >>> words_of("Misty LAKES, no snow 🌲", {"misty", "lake", "snow", "tree"})
    ['misty', 'lake', 'no', 'no-snow', 'evergreen', 'tree']
    """
    plain = reworded(unicodedata.normalize("NFKC", prompt))
    spelled = [word for piece in _PIECE.findall(plain) for word in _spelled(piece)]
    words = [_known(word, known) for word in together(spelled)]
    return [*_undenied([*_closed(words)], known)]


def _spelled(piece: str) -> Sequence[str]:
    """Return a word as it is, a symbol by its name, and nothing for a mark between words."""
    if piece[0].isalnum():
        return (piece,)
    if unicodedata.category(piece) != "So":
        return ()
    return unicodedata.name(piece, f"symbol {ord(piece)}").lower().replace("-", " ").split()


def _known(word: str, known: Set[str]) -> str:
    return next((form for form in _forms(word) if form in known), word)


def _forms(word: str) -> Iterator[str]:
    plain = word
    if not word.isascii():
        plain = "".join(
            c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)
        )
    yield plain
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("en", ""), ("n", "")):
        if plain.endswith(ending):
            yield plain.removesuffix(ending) + instead


def _closed(words: Sequence[str]) -> Iterator[str]:
    """Yield words, one for whatever closes the sky: dark clouds are no dark hour."""
    for place, word in enumerate(words):
        after = words[place + 1 : place + 1 + _HEAPED]
        yield "overcast" if _closes(word, after) else word


def _closes(word: str, after: Sequence[str]) -> bool:
    """Return whether a word closes the sky: "gray heavy clouds" are no gray light either."""
    for following in after:
        if word in lexicon.HEAVY.get(following, ()):
            return True
        if not any(following in heavy for heavy in lexicon.HEAVY.values()):
            return False
    return False


def _undenied(words: Sequence[str], known: Set[str]) -> Iterator[str]:
    reach, before = 0, False
    for word in words:
        if word in _DENIALS or (before and word in _OR):
            reach, before = _REACH, False
            yield word
        elif reach and word in known:
            reach, before = 0, True
            yield f"no-{word}"
        else:
            reach, before = max(0, reach - 1), False
            yield word
