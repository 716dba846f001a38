from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from kit.explore.json_lines import JsonLines
from kit.explore.ratings import COLUMNS, Ratings


class CountedLines(JsonLines):
    """Lines that count how often they are read."""

    read = 0

    def __iter__(self) -> Any:
        self.read += 1
        return super().__iter__()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ratings.jsonl"


def test_ratings_are_read_once_until_something_is_written(file: Path) -> None:
    lines = CountedLines(file)
    ratings = Ratings(lines)
    ratings.rate("a", 4)

    assert [ratings["a"], ratings["b"], ratings.kept()] == [4, None, ["a"]]
    assert lines.read == 1
    Ratings(JsonLines(file)).rate("b", 5)  # as another kernel does
    assert [ratings["b"], ratings.kept(5)] == [5, ["b"]]
    assert lines.read == 2


@pytest.mark.parametrize("at", [None, "yesterday", 17, "2026-03-10", "2026-03-10T12:00:00.5+01:00"])
def test_a_time_of_whatever_kind_takes_no_rating_away(file: Path, at: Any) -> None:
    ratings = Ratings(JsonLines(file))
    ratings.rate("a", 4)
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"id": "b", "rating": 5, "at": at}) + "\n")

    frame = ratings.frame()

    assert frame["rating"].tolist() == [4, 5]
    assert dict(frame.dtypes.astype(str)) == COLUMNS
    assert (frame["rated_at"].isna()["b"]) == (not str(at).startswith("2026"))


@pytest.mark.parametrize("rating", ["5", 7, 2.5, True, [1]])
def test_what_is_no_rating_is_not_one(file: Path, rating: Any) -> None:
    file.write_text(json.dumps({"id": "a", "rating": rating, "at": "2026-03-10"}) + "\n")

    assert Ratings(JsonLines(file)).frame().empty


def test_the_last_rating_counts_and_may_be_taken_away(file: Path) -> None:
    ratings = Ratings(JsonLines(file))
    for rating in (2, 5, None):
        ratings.rate("a", rating)

    assert ratings["a"] is None
    assert ratings.kept(0) == []
    assert pd.isna(ratings.frame()["rating"].reindex(["a"]).iloc[0])
