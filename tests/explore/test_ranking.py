from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.explore.ratings import rank

NAMES = list("abcde")


@given(st.permutations(NAMES))
def test_choices_that_agree_give_their_order(order: list[str]) -> None:
    found = rank(NAMES, [(first, second, False) for first, second in combinations(order, 2)])

    assert found.index.tolist() == order
    assert found["place"].tolist() == [1, 2, 3, 4, 5]
    assert found["won"].tolist() == [4, 3, 2, 1, 0]


def test_some_choices_are_enough_where_one_leads_to_the_next() -> None:
    found = rank(NAMES, [(a, b, False) for a, b in pairwise(NAMES)] * 3)

    assert found.index.tolist() == NAMES
    assert found["score"].between(0, 1, inclusive="neither").all()


def test_the_chance_to_be_preferred_is_that_of_the_choices() -> None:
    found = rank(["a", "b"], [("a", "b", False)] * 300 + [("b", "a", False)] * 100)["score"]
    strength = found / (1 - found)

    assert strength["a"] / strength["b"] == pytest.approx(3, rel=0.02)


def test_equal_ones_share_a_place() -> None:
    assert rank(["a", "b"], [("a", "b", True)])["place"].tolist() == [1, 1]
    assert rank(["a", "b"], [("b", "a", True)])["tied"].tolist() == [1, 1]
    assert rank(["a", "b"], [])["score"].tolist() == [0.5, 0.5]
