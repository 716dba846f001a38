from __future__ import annotations

from datetime import date

import pandas as pd
import pytest

from kit.explore.archive import search_rows
from kit.widgets.table.rows import TableView, choices, positions
from tests.widgets.table.histories import history


@pytest.mark.parametrize(
    ("view", "names"),
    [
        (TableView(), "abcdef"),
        (TableView(text="LAKE"), "acf"),
        (TableView(text="b"), "b"),
        (TableView(text="lake (at dawn)"), "f"),
        (TableView(text="nothing"), ""),
        (TableView(status="failed"), "ce"),
        (TableView(status="unheard of"), ""),
        (TableView(model="drift", text="lake"), "c"),
        (TableView(since=date(2026, 3, 4)), "abc"),
        (TableView(until=date(2026, 3, 3)), "def"),
        (TableView(since=date(2026, 3, 3), until=date(2026, 3, 3)), "d"),
    ],
)
def test_a_view_filters_the_rows(view: TableView, names: str) -> None:
    frame = history()

    assert "".join(frame.index[positions(frame, view, search_rows)]) == names


@pytest.mark.parametrize(
    ("column", "up", "down"),
    [
        ("credits", "bdface", "cafbde"),
        ("created_at", "fedcba", "abcdef"),
        ("model_id", "bcdeaf", "afbcde"),
        ("unheard of", "abcdef", "abcdef"),
    ],
)
def test_missing_values_sort_last_and_equal_ones_keep_their_order(
    column: str, up: str, down: str
) -> None:
    frame = history()

    assert "".join(frame.index[positions(frame, TableView(sort=column), search_rows)]) == up
    assert (
        "".join(frame.index[positions(frame, TableView(sort=column, descending=True), search_rows)])
        == down
    )


def test_an_empty_frame_has_no_rows() -> None:
    empty = history().iloc[:0]

    assert (
        positions(empty, TableView(text="x", status="y", sort="credits"), search_rows).tolist()
        == []
    )
    assert choices(empty, "status") == []


def test_a_filter_on_a_missing_column_matches_no_row() -> None:
    frame = pd.DataFrame({"seed": [1, 2]}, index=["a", "b"])

    assert positions(frame, TableView(status="failed"), search_rows).tolist() == []
    assert positions(frame, TableView(since=date(2026, 3, 1)), search_rows).tolist() == []
    assert positions(frame, TableView(text="b"), search_rows).tolist() == [1]


def test_choices_are_sorted_without_missing_values() -> None:
    assert choices(history(), "model_id") == ["drift", "poster"]
    assert choices(history(), "unheard of") == []


def test_the_frame_is_not_changed() -> None:
    frame = history()
    before = frame.copy(deep=True)

    positions(frame, TableView(text="lake", sort="credits", descending=True), search_rows)

    pd.testing.assert_frame_equal(frame, before)
