from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from kit import wire
from kit.errors import BadRequestError
from kit.explore.filters import Filters, HistoryFilter, LongNames, parse_filter

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
GENERATIONS = [
    wire.Generation.model_validate(
        {"id": "1", "status": "error", "modelId": "a", "assetType": "image", "createdAt": NEW_YEAR}
        | {"tags": {"mood": "calm", "take": 5}}
    ),
    wire.Generation(
        id="2",
        status="completed",
        model_id="b",
        asset_type="video",
        created_at=NEW_YEAR + timedelta(days=1),
    ),
    wire.Generation(id="3", model_id="a", asset_type="image"),
]


@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-01",
        "2026-01-01T00:00:00Z",
        "2026-01",
        pd.Period("2026-01"),
        date(2026, 1, 1),
        datetime(2026, 1, 1),  # noqa: DTZ001 - without a zone on purpose
        datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_moments_may_be_given_in_many_types(moment: Any) -> None:
    assert parse_filter(since=moment).since == NEW_YEAR


@pytest.mark.parametrize(
    ("choices", "rows"),
    [
        ({}, [0, 1, 2]),
        ({"status": "failed"}, [0]),
        ({"status": ["failed", "completed"]}, [0, 1]),
        ({"model_id": "a"}, [0, 2]),
        ({"asset_type": "video"}, [1]),
        ({"tag": "mood=calm"}, [0]),
        ({"tag": "take=5"}, [0]),
        ({"since": "2026-01-02"}, [1]),
        ({"until": "2026-01-02"}, [0]),
        ({"created_after": "2026-01-01", "created_before": "2026-01-03"}, [0, 1]),
    ],
)
def test_filters_select_generations(choices: dict[str, Any], rows: list[int]) -> None:
    choice = parse_filter(**choices)

    assert [n for n, one in enumerate(GENERATIONS) if choice.matches(one, one.tags or {})] == rows


def test_the_query_has_only_filters_of_the_service() -> None:
    assert parse_filter(status="failed", model=["a", "b"], since=NEW_YEAR).query(7) == {
        "status": "failed",
        "created_after": NEW_YEAR,
        "limit": 1000,
    }
    assert [parse_filter().query(limit)["limit"] for limit in (50, 5000, None)] == [
        None,
        1000,
        1000,
    ]


def test_times_in_an_hour_that_the_clock_shows_twice_are_in_order() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    period = parse_filter(since=first, until=first.replace(minute=15, fold=1))

    assert period.since == first
    with pytest.raises(BadRequestError, match="since must be before until"):
        parse_filter(since=period.until, until=first)


def test_an_unknown_filter_or_invalid_time_is_reported() -> None:
    with pytest.raises(TypeError, match="no filter 'modle'; did you mean 'model'"):
        parse_filter(modle="a")
    for none in ("soon", "2026-13", pd.NaT, pd.Period("2026"), 7):
        with pytest.raises(BadRequestError, match=rf"2026-11-28': {re.escape(repr(none))}"):
            parse_filter(since=none)
    with pytest.raises(BadRequestError, match=r"since must be before until, and 2026-12-01 00:00"):
        parse_filter(since="2026-12", until="2026-11")


def test_the_typed_filters_are_the_fields_of_the_filter() -> None:
    names = Filters.__optional_keys__ - {"timezone"}

    assert names - LongNames.__optional_keys__ == set(HistoryFilter.__slots__)
    assert parse_filter(**dict.fromkeys(names)) == HistoryFilter()


def test_an_unknown_status_is_an_error() -> None:
    with pytest.raises(BadRequestError, match="no status 'complete'; did you mean 'completed'"):
        parse_filter(status=["failed", "complete"])
