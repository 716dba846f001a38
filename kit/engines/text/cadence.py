"""Cadence: how sentences sound one after the other.

Two in a row that begin with the same word sound like a list, unless the word is a light one, such
as an article: of those, two words count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

__all__ = ["stutters"]

_LIGHT_WORDS = (
    "a an and at by for from he her his i if in it its my of on she so that the their there they "
    "this those to we when you your"
)
_LIGHT = frozenset(_LIGHT_WORDS.split())
_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9])")


def stutters(parts: Sequence[str]) -> int:
    """Return how many parts of a text begin like the sentence before them.

    Parameters
    ----------
    parts : sequence of str
        Whole sentences, one or more a part.

    Examples
    --------
    >>> stutters(["Why? People wait.", "People scroll past this.", "Now you know."])
    1
    """
    return sum(_starts(one)[-1] == _starts(other)[0] for one, other in pairwise(parts))


@lru_cache(maxsize=8192)
def _starts(part: str) -> tuple[tuple[str, ...], ...]:
    """Return the words that the first and the last sentence of a part begin with."""
    sentences = _END.split(part)
    return _start(sentences[0]), _start(sentences[-1])


def _start(sentence: str) -> tuple[str, ...]:
    said = re.findall(r"[\w'-]+", sentence.casefold())
    return tuple(said[: 2 if said[:1] and said[0] in _LIGHT else 1])
