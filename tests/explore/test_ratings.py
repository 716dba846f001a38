from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import ConfigError
from kit.explore.ratings import COLUMNS, Ratings, rank
from kit.private import JsonLines


class CountedLines(JsonLines):
    """Lines that count how often they are read."""

    read = 0

    def __iter__(self) -> Any:
        self.read += 1
        return super().__iter__()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ratings.jsonl"


def test_ratings_are_read_again_only_after_a_write(file: Path) -> None:
    lines = CountedLines(file)
    ratings = Ratings(lines)
    ratings.rate("a", 4)

    assert [ratings["a"], ratings["b"], ratings.kept()] == [4, None, ["a"]]
    assert lines.read == 1
    Ratings(JsonLines(file)).rate("b", 5)  # as another kernel does
    assert [ratings["b"], ratings.kept(5)] == [5, ["b"]]
    assert lines.read == 2


@pytest.mark.parametrize("at", [None, "yesterday", 17, "2026-03-10", "2026-03-10T12:00:00.5+01:00"])
def test_an_invalid_time_does_not_lose_the_rating(file: Path, at: Any) -> None:
    ratings = Ratings(JsonLines(file))
    ratings.rate("a", 4)
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"id": "b", "rating": 5, "at": at}) + "\n")

    frame = ratings.frame()

    assert frame["rating"].tolist() == [4, 5]
    assert dict(frame.dtypes.astype(str)) == COLUMNS
    assert (frame["rated_at"].isna()["b"]) == (not str(at).startswith("2026"))


@pytest.mark.parametrize("rating", ["5", 7, 2.5, True, [1]])
def test_an_invalid_saved_rating_is_ignored(file: Path, rating: Any) -> None:
    file.write_text(json.dumps({"id": "a", "rating": rating, "at": "2026-03-10"}) + "\n")

    assert Ratings(JsonLines(file)).frame().empty


def test_a_numpy_integer_is_a_valid_rating(file: Path) -> None:
    ratings = Ratings(JsonLines(file))
    ratings.rate("a", pd.Series([4])[0])

    assert ratings["a"] == 4


def test_the_last_rating_counts_and_may_be_removed(file: Path) -> None:
    ratings = Ratings(JsonLines(file))
    for name, rating in [("a", 2), ("b", 5), ("a", 4), ("c", 1), ("c", None)]:
        ratings.rate(name, rating)

    frame = ratings.frame()
    assert frame["rating"].to_dict() == {"a": 4, "b": 5}
    assert (ratings["c"], ratings.kept(0)) == (None, ["a", "b"])
    assert repr(ratings) == "<Ratings 2>"


def test_a_truncated_line_does_not_corrupt_the_next_rating(file: Path) -> None:
    ratings = Ratings(JsonLines(file))
    ratings.rate("a", 4, "two\u2028lines")
    file.write_bytes(file.read_bytes() + '{"id": "b", "note": "é'.encode()[:-1])
    ratings.rate("c", 5)

    assert ratings.frame()["note"].fillna("").to_dict() == {"a": "two\u2028lines", "c": ""}


def test_no_ratings_are_an_empty_frame(file: Path) -> None:
    frame = Ratings(JsonLines(file)).frame()

    assert frame.empty
    assert dict(frame.dtypes.astype(str)) == COLUMNS


@pytest.mark.parametrize("rating", [6, -1, 2.5, True, "good"])
def test_an_invalid_rating_is_refused(file: Path, rating: Any) -> None:
    with pytest.raises(ConfigError, match="from 0 to 5"):
        Ratings(JsonLines(file)).rate("a", rating)


# ── ranking by comparisons ────────────────────────────────────────────────────────────────────────

NAMES = list("abcde")


@given(st.permutations(NAMES))
def test_consistent_choices_give_their_order(order: list[str]) -> None:
    found = rank(NAMES, [(first, second, False) for first, second in combinations(order, 2)])

    assert found.index.tolist() == order
    assert found["place"].tolist() == [1, 2, 3, 4, 5]
    assert found["won"].tolist() == [4, 3, 2, 1, 0]


def test_a_chain_of_choices_is_enough_for_an_order() -> None:
    found = rank(NAMES, [(a, b, False) for a, b in pairwise(NAMES)] * 3)

    assert found.index.tolist() == NAMES
    assert found["score"].between(0, 1, inclusive="neither").all()


def test_the_score_ratio_is_that_of_the_choices() -> None:
    found = rank(["a", "b"], [("a", "b", False)] * 300 + [("b", "a", False)] * 100)["score"]
    strength = found / (1 - found)

    assert strength["a"] / strength["b"] == pytest.approx(3, rel=0.02)


def test_equal_ones_share_a_place() -> None:
    assert rank(["a", "b"], [("a", "b", True)])["place"].tolist() == [1, 1]
    assert rank(["a", "b"], [("b", "a", True)])["tied"].tolist() == [1, 1]
    assert rank(["a", "b"], [])["score"].tolist() == [0.5, 0.5]
