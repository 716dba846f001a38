"""Costs in a currency: dated rates, exact sums, and no amount without a rate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kit.errors import ConfigError
from kit.explore import costs
from kit.explore.costs.spending import Rate, Rates
from kit.private import JsonLines
from tests.explore.fake_service import archive_of, make, table_of

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def spend(*amounts: str, rates: Any) -> costs.Spending:
    """Return spending of an amount a day, from `NOON` on."""
    generations = [
        make(n, amount, "0", created_at=NOON + timedelta(days=n))
        for n, amount in enumerate(amounts)
    ]
    return costs.Spending(archive_of(table_of(generations)), rates=rates)


@pytest.fixture
def rates(tmp_path: Path) -> Rates:
    return Rates(JsonLines(tmp_path / "rates.jsonl"))


def test_each_charge_is_converted_at_the_rate_of_its_day(rates: Rates) -> None:
    rates.add("EUR", 0.01)
    rates.add("EUR", 0.02, since="2026-03-11")
    rates.add("USD", "0.5")
    spending = spend("1", "1", "2", rates=rates.all())

    assert costs.by(spending)[["EUR", "USD"]].to_numpy().tolist() == [[0.07, 2.0]]
    assert costs.trend(spending)["EUR"].tolist() == [0.01, 0.02, 0.04]
    assert costs.charges(spending)["EUR"].tolist() == [0.04, 0.02, 0.01]
    assert costs.summary(spending)["EUR"].iloc[-1] == 0.07


def test_a_charge_before_the_first_rate_has_no_amount(rates: Rates) -> None:
    rates.add("EUR", 0.01, since="2026-03-11")
    spending = spend("1", "1", rates=rates.all())

    assert costs.by(spending)["EUR"].isna().tolist() == [True]
    assert costs.trend(spending)["EUR"].fillna(-1).tolist() == [-1, 0.01]


def test_days_without_charges_have_an_amount_of_zero(rates: Rates) -> None:
    rates.add("EUR", 0.01)
    spending = spend("1", "0", "1", rates=rates.all())

    assert costs.trend(spending)["EUR"].tolist() == [0.01, 0, 0.01]
    assert costs.by(spend(rates=rates.all())).empty


@hypothesis_settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=40), st.integers(1, 10**6))
def test_sums_of_money_are_exact(amounts: list[int], rate: int) -> None:
    rates = {"EUR": [Rate(None, Decimal(rate) / 10**6)]}
    found = costs.by(spend(*(str(Decimal(n) / 1000) for n in amounts), rates=rates))["EUR"].iloc[0]

    exact = Decimal(sum(amounts)) * rate / 10**9
    assert abs(Decimal(str(found)) - exact) <= Decimal("0.0000005")


def test_the_last_rate_of_a_day_counts_and_may_be_removed(rates: Rates) -> None:
    rates.add("EUR", 0.01)
    rates.add("EUR", 0.02)
    assert [rate.amount for rate in rates.all()["EUR"]] == [Decimal("0.02")]

    rates.add("EUR", None)
    assert rates.all() == {}


@pytest.mark.parametrize("amount", [0, -1, "much", float("nan"), float("inf"), "0.0000000001"])
def test_an_invalid_rate_is_refused(rates: Rates, amount: Any) -> None:
    with pytest.raises(ConfigError, match="what one credit is worth"):
        rates.add("EUR", amount)


def test_invalid_lines_of_rates_are_skipped(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "rates.jsonl")
    for line in ({"currency": "x"}, {"currency": "EUR", "amount": "a"}, {"rate": 1}):
        lines.append(line)
    lines.append({"currency": "EUR", "amount": "0.01", "since": "someday"})

    assert Rates(lines).all() == {}
