"""Search: SQL queries for generations by words, and hashes of pictures for similarity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from kit.errors import BadRequestError
from kit.pictures import open_picture

#: Maximum of words in a search.
_MAX_WORDS = 32
_WORD = re.compile(r'"([^"]+)"|(\S+)')
_PROMPT = "strip_accents(lower(coalesce(prompt, '')))"
#: Tags can also be searched as campaign=winter.
_TAGS = """regexp_replace(tags, '" *: *"', '=', 'g')"""
_OTHER_TEXTS = f"strip_accents(lower(concat_ws(' ', model_id, {_TAGS})))"
_WORD_VALUE = "strip_accents(lower(?))"
_CONTAINS_WORD = (
    f"(contains(asked_prompt, {_WORD_VALUE}) or contains(asked_rest, {_WORD_VALUE}) "
    "or starts_with(lower(id), lower(?)))"
)
#: The end of a word in any script; ``\\b`` is three times as fast but only for ASCII.
_WORD_END = r"(^|$|[^\pL\pM\pN_])"

#: Cells per side of a picture, and thresholds for the brightness and the two colors of each.
_CELLS = 8
_BRIGHTNESS_LEVELS, _COLOR_LEVELS = (50, 100, 150, 200), (112, 122, 134, 144)
#: Size of a hash in bytes.
HASH_SIZE = _CELLS * _CELLS * (len(_BRIGHTNESS_LEVELS) + 2 * len(_COLOR_LEVELS)) // 8


class SearchQuery:
    """A query for the rows that contain all words of a text, with a ``score`` from 0.5 to 1.

    Words are searched in prompt, tags and model, also as parts of other words, ignoring case and
    accents; or as the beginning of an id. A whole word of the prompt counts 1, other matches count
    a half; the score is the mean.

    Raises `BadRequestError` if there are no words or too many.

    `text`: words; several in double quotes count as one.
    """

    def __init__(self, text: str) -> None:
        self.words = [phrase or word for phrase, word in _WORD.findall(text)]
        if not 0 < len(self.words) <= _MAX_WORDS:
            raise BadRequestError(f"a search takes words, such as snowy lake, {_MAX_WORDS} at most")

    def select(self, table: str, where: str = "") -> str:
        """Return the query; `values` replace its question marks."""
        score = " + ".join(map(_score, self.words))
        found = " and ".join(_CONTAINS_WORD for _ in self.words)
        inner = f"select *, {_PROMPT} asked_prompt, {_OTHER_TEXTS} asked_rest from {table} {where}"  # noqa: S608
        return f"select *, ({score}) / {len(self.words)} as score from ({inner}) where {found}"  # noqa: S608

    def values(self, inner: Sequence[Any] = ()) -> list[Any]:
        """Return the values of `select`, including those of its condition."""
        return [*self.words, *inner, *(word for word in self.words for _ in range(3))]


def _score(word: str) -> str:
    """Return the SQL score of a word: 1 if it is a whole word of the prompt."""
    end = r"\b" if word.isascii() else _WORD_END
    whole = f"regexp_matches(asked_prompt, '{end}' || regexp_escape({_WORD_VALUE}) || '{end}')"
    return f"(case when {whole} then 1.0 else 0.5 end)"


def hash_picture(file: Path | IO[bytes]) -> bytes:
    """Return a perceptual hash of a picture: `HASH_SIZE` bytes; similar ones share most bits.

    Brightness and color of 8 × 8 cells, with one bit per threshold that they exceed: the number of
    different bits is the distance of the cells. Size, format and compression hardly matter; the
    positions and colors of things do.

    Raises `OSError` if it is no picture; or another error of Pillow.
    """
    from PIL import Image, ImageOps

    with open_picture(file) as opened:
        opened.draft("RGB", (64, 64))  # a JPEG is decoded no larger than this
        small = opened.convert("RGB").resize((_CELLS, _CELLS), Image.Resampling.BOX)
    cells = np.asarray(ImageOps.exif_transpose(small).convert("YCbCr"))
    above = [
        cells[..., channel] > level
        for channel, levels in enumerate((_BRIGHTNESS_LEVELS, _COLOR_LEVELS, _COLOR_LEVELS))
        for level in levels
    ]
    return np.packbits(above).tobytes()


def likeness(hashes: Sequence[bytes], target: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the similarity of pictures to one, by their hashes: 1 if identical."""
    rows = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, HASH_SIZE)
    differences = np.bitwise_count(rows ^ np.frombuffer(target, np.uint8)).sum(axis=1)
    found: np.ndarray[Any, np.dtype[np.float64]] = 1 - differences / (8 * HASH_SIZE)
    return found
