from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from kit.errors import ConfigError, ParameterError
from kit.explore import costs
from kit.explore.frames import PARTS

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)
PAST, AHEAD = 84, 28

Random = np.random.Generator
Days = NDArray[np.float64]


def spend(daily: Days, model: str = "poster") -> pd.DataFrame:
    """Return spending until the day before `NOON`, with the columns that a forecast reads."""
    first = MIDNIGHT - timedelta(days=len(daily))
    days = [first + timedelta(days=n) for n in range(len(daily))]
    frame = pd.DataFrame(
        {
            "model_id": pd.Series([model] * len(daily), dtype="string"),
            "day": pd.Series(days, dtype="datetime64[us, UTC]"),
            "net": pd.Series(np.round(daily * PARTS).astype("int64"), dtype="Int64"),
        }
    )
    return frame[frame["net"] > 0]


# ── coverage ──────────────────────────────────────────────────────────────────────────────────────


def independent(random: Random, days: int) -> Days:
    return random.lognormal(1, 0.6, days)


def weekly(random: Random, days: int) -> Days:
    factors = np.roll([1.4, 1.5, 1.3, 1.2, 1.0, 0.2, 0.1], random.integers(7))
    return np.resize(factors, days) * random.lognormal(1.5, 0.5, days)


def sparse(random: Random, days: int) -> Days:
    return (random.random(days) < 0.12) * random.lognormal(2, 0.8, days)


def autocorrelated(random: Random, days: int) -> Days:
    found = np.zeros(days + 100)
    for day in range(1, len(found)):
        found[day] = 0.8 * found[day - 1] + random.normal()
    return np.maximum(0, 10 + 2 * found[100:])


def rising(random: Random, days: int) -> Days:
    return np.maximum(0, 5 + 10 * np.arange(days) / PAST + random.normal(0, 3, days))


def steeply_rising(random: Random, days: int) -> Days:
    return (2 + 20 * np.arange(days) / PAST) * random.lognormal(0, 0.4, days)


def falling(random: Random, days: int) -> Days:
    return (15 - 9 * np.arange(days) / days) * random.lognormal(0, 0.4, days)


@pytest.mark.parametrize(
    "process", [independent, weekly, sparse, autocorrelated, rising, steeply_rising, falling]
)
def test_four_of_five_totals_are_within_a_band_of_80_percent(
    process: Callable[[Random, int], Days],
) -> None:
    random = np.random.default_rng(7)
    runs, inside = 120, 0
    for _ in range(runs):
        daily = process(random, PAST + AHEAD)
        total = costs.forecast(spend(daily[:PAST]), now=MIDNIGHT, days=AHEAD - 1).total
        inside += total.low <= daily[PAST:].sum() <= total.high
    assert 0.7 <= inside / runs <= 0.9


# ── amounts ───────────────────────────────────────────────────────────────────────────────────────


def test_a_steady_rate_is_forecast_exactly_with_the_rest_of_today() -> None:
    frame = costs.forecast(spend(np.full(28, 2.0)), Decimal(100), now=NOON, days=10)

    assert frame.total == costs.Band(21, 21, 21)
    assert frame[["day", "expected"]].iloc[0].tolist() == [pd.Timestamp("2026-03-10", tz="UTC"), 1]
    assert frame[["expected", "low", "high", "running", "left"]].iloc[-1].tolist() == [
        *(2, 2, 2, 21, 79)
    ]
    assert len(frame) == 11
    assert frame.days_left == costs.Band(50, 50, 50)


def test_a_larger_share_of_outcomes_needs_a_wider_band() -> None:
    past = spend(independent(np.random.default_rng(1), PAST))
    narrow, wide = (costs.forecast(past, now=NOON, level=level).total for level in (0.5, 0.95))

    assert wide.low < narrow.low < narrow.expected < narrow.high < wide.high
    assert narrow.expected == wide.expected


def test_weekends_are_forecast_lower_if_they_were_lower() -> None:
    factors = np.resize([5.0, 5, 5, 5, 5, 1, 1], 35)  # 35 days before a Tuesday begin with one
    frame = costs.forecast(spend(np.roll(factors, -1)), now=MIDNIGHT, days=13)
    weekdays = frame.groupby(frame["day"].dt.day_of_week)["expected"].mean()

    assert weekdays[[5, 6]].max() < 2 < 4 < weekdays[[0, 1, 2, 3, 4]].min()


def test_credits_last_shorter_when_spending_rises() -> None:
    random = np.random.default_rng(3)
    flat = costs.forecast(spend(np.full(PAST, 10.0)), Decimal(600), now=NOON).days_left
    steep = costs.forecast(spend(rising(random, PAST)), Decimal(600), now=NOON).days_left

    assert flat is not None
    assert steep is not None
    assert flat.expected == 60
    assert steep.low <= steep.expected <= steep.high < 60


def test_days_left_are_none_without_a_balance_and_zero_for_zero() -> None:
    past = spend(np.full(20, 1.0))

    assert costs.forecast(past, now=NOON).days_left is None
    assert costs.forecast(past, Decimal(0), now=NOON).days_left == costs.Band(0, 0, 0)


def test_small_charges_are_forecast_too() -> None:
    ahead = costs.forecast(spend(np.full(30, 0.00002)), Decimal("0.001"), now=MIDNIGHT, days=4)

    assert (ahead.total.expected, ahead["left"].iloc[0]) == (0.0001, 0.00098)


def test_less_than_two_weeks_is_too_little_history() -> None:
    for days in (0, 1, 13):
        with pytest.raises(ConfigError, match=f"too little history.* 14 whole days.* {days}$"):
            costs.forecast(spend(np.full(days, 1.0)), now=NOON)
    assert len(costs.forecast(spend(np.full(14, 1.0)), now=NOON, days=1)) == 2


def test_wrong_arguments_are_refused() -> None:
    past = spend(np.full(20, 1.0))
    with pytest.raises(ConfigError, match="level must be between 0 and 1, not 80"):
        costs.forecast(past, now=NOON, level=80)
    for wrong in ({"days": 0}, {"days": 10**9}, {"window": 7}):
        with pytest.raises(ParameterError, match=f"{min(wrong)} must be a whole number"):
            costs.forecast(past, now=NOON, **wrong)  # type: ignore[arg-type]


# ── unusual days ──────────────────────────────────────────────────────────────────────────────────


def test_a_day_far_above_the_others_is_listed_with_its_excess() -> None:
    daily = np.full(20, 2.0)
    daily[12] = 50.0
    found = costs.unusual(spend(daily))

    assert found[["model_id", "net", "usual", "excess", "times"]].values.tolist() == [
        ["poster", 50.0, 2.0, 48.0, 25.0]
    ]
    assert found["day"].tolist() == [pd.Timestamp("2026-03-02", tz="UTC")]


def test_a_model_may_be_unusual_on_a_day_with_a_usual_sum() -> None:
    small = np.full(20, 1.0)
    small[5] = 9.0
    both = pd.concat([spend(small, "poster"), spend(np.full(20, 100.0), "drift")])

    assert costs.unusual(both)["model_id"].tolist() == ["poster"]
    small[5] = 5.0  # beside a usual sum of 101
    assert costs.unusual(pd.concat([spend(small, "poster"), both[20:]])).empty


def test_days_of_unknown_models_may_be_unusual() -> None:
    nameless = spend(np.array([2.0] * 12 + [50.0])).assign(model_id=None)

    assert costs.unusual(nameless)[["model_id", "net"]].to_numpy().tolist() == [["none", 50.0]]
    mixed = pd.concat([nameless, spend(np.array([1.0] * 13), "poster")])
    assert costs.unusual(mixed)["model_id"].tolist() == ["all models", "none"]


def test_the_days_of_all_models_are_not_compared_with_those_of_one() -> None:
    steady = spend(np.ones(10))
    many = pd.concat([steady.assign(model_id=name) for name in ("poster", "drift", "scene")])

    assert costs.unusual(many).empty


def test_ordinary_variation_is_not_unusual() -> None:
    random = np.random.default_rng(11)
    found = [len(costs.unusual(spend(weekly(random, PAST)))) for _ in range(20)]

    assert sum(found) <= 0.01 * 20 * PAST


def test_a_day_is_compared_with_the_same_weekday() -> None:
    daily = np.resize([40.0, 44, 40, 42, 38, 18, 16], PAST)
    daily[50] *= 2.5  # the second of the week
    found = costs.unusual(spend(daily))

    assert found[["net", "usual", "excess", "times"]].values.tolist() == [[110.0, 44.0, 66.0, 2.5]]
    every_week = np.resize([1.0, 1, 1, 1, 1, 50, 1], PAST)
    assert costs.unusual(spend(every_week)).empty


def test_few_days_have_no_unusual_ones() -> None:
    assert costs.unusual(spend(np.array([1.0, 1, 1, 90]))).empty
    assert costs.unusual(spend(np.array([]))).empty
