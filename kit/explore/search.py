"""Search: generations by words, as a query, and pictures by how they look, as hashes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from kit.errors import BadRequestError
from kit.pictures import open_picture

#: Words of a search.
_MOST = 32
_WORD = re.compile(r'"([^"]+)"|(\S+)')
_PROMPT = "strip_accents(lower(coalesce(prompt, '')))"
#: A tag is found as campaign=winter, too.
_TAGS = """regexp_replace(tags, '" *: *"', '=', 'g')"""
_REST = f"strip_accents(lower(concat_ws(' ', model_id, {_TAGS})))"
_ASKED = "strip_accents(lower(?))"
_THERE = (
    f"(contains(asked_prompt, {_ASKED}) or contains(asked_rest, {_ASKED}) "
    "or starts_with(lower(id), lower(?)))"
)
#: Where a word ends, in any script; ``\\b`` is three times as fast and knows ASCII alone.
_END = r"(^|$|[^\pL\pM\pN_])"

#: Cells of a picture each way, and what the light and the two colors of each are compared with.
_CELLS = 8
_LIGHT, _COLOR = (50, 100, 150, 200), (112, 122, 134, 144)
#: Bytes of a hash.
HASH_SIZE = _CELLS * _CELLS * (len(_LIGHT) + 2 * len(_COLOR)) // 8


class SearchQuery:
    """The rows of a table in which all words of a text occur, with a ``score`` from 0.5 to 1.

    A word is looked for in prompt, tags and model, also as a part of another one, in any case and
    without its accents; or it is the beginning of an id. It counts 1 where it is a whole word of
    the prompt and a half elsewhere; the score is the mean.

    Raises `BadRequestError`: there is no word, or there are too many.

    `text`: words; several in double quotes are one.
    """

    def __init__(self, text: str) -> None:
        self.words = [phrase or word for phrase, word in _WORD.findall(text)]
        if not 0 < len(self.words) <= _MOST:
            raise BadRequestError(f"a search takes words, such as snowy lake, {_MOST} at most")

    def select(self, table: str, where: str = "") -> str:
        """Return the query; `values` fill its question marks."""
        score = " + ".join(map(_score, self.words))
        found = " and ".join(_THERE for _ in self.words)
        inner = f"select *, {_PROMPT} asked_prompt, {_REST} asked_rest from {table} {where}"  # noqa: S608
        return f"select *, ({score}) / {len(self.words)} as score from ({inner}) where {found}"  # noqa: S608

    def values(self, inner: Sequence[Any] = ()) -> list[Any]:
        """Return the values of `select`, those of its condition among them."""
        return [*self.words, *inner, *(word for word in self.words for _ in range(3))]


def _score(word: str) -> str:
    """Return what counts a word: 1 where it is a whole one of the prompt."""
    end = r"\b" if word.isascii() else _END
    whole = f"regexp_matches(asked_prompt, '{end}' || regexp_escape({_ASKED}) || '{end}')"
    return f"(case when {whole} then 1.0 else 0.5 end)"


def hash_picture(file: Path | IO[bytes]) -> bytes:
    """Return what a picture looks like: `HASH_SIZE` bytes, of which alike ones share most bits.

    Light and color of 8 × 8 cells, each a bit for every threshold that it is above: the bits in
    which two hashes differ are how far the cells are apart. Size, format and compression hardly
    matter; where things are, and in which colors, does.

    Raises `OSError`: it is no picture; or another error of Pillow.
    """
    from PIL.Image import Resampling

    with open_picture(file) as opened:
        opened.draft("RGB", (64, 64))  # a JPEG is decoded no larger than that
        small = opened.convert("RGB").resize((_CELLS, _CELLS), Resampling.BOX)
    cells = np.asarray(small.convert("YCbCr"))
    above = [
        cells[..., channel] > level
        for channel, levels in enumerate((_LIGHT, _COLOR, _COLOR))
        for level in levels
    ]
    return np.packbits(above).tobytes()


def likeness(hashes: Sequence[bytes], wanted: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return how alike pictures are to one, by their hashes: 1 for the same."""
    rows = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, HASH_SIZE)
    apart = np.bitwise_count(rows ^ np.frombuffer(wanted, np.uint8)).sum(axis=1)
    found: np.ndarray[Any, np.dtype[np.float64]] = 1 - apart / (8 * HASH_SIZE)
    return found
