"""The report of a month: its content, and that it loads nothing."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kit.errors import ConfigError
from kit.explore import costs
from kit.explore.costs.spending import Rate
from kit.explore.filters import HistoryFilter
from kit.pricing import parse_credits
from kit.studio import Studio
from kit.wire import Generation
from tests.explore.fake_service import archive_of, make, table_of

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RATES = {"EUR": [Rate(None, Decimal("0.012"))]}


def make_spending(days: int, until: datetime = NOW) -> list[Generation]:
    """Spend about a credit a day, ten on the second of November; a failure each week."""
    first = until - timedelta(days=days - 1)
    return [
        make(
            n,
            10 if (day.month, day.day) == (11, 2) else 1 + n % 3 / 10,
            1 + n % 3 / 10 if n % 7 == 0 else 0,
            model_id="<b>poster" if n % 2 else "drift",
            status="failed" if n % 7 == 0 else "completed",
            error="it <broke>" if n % 7 == 0 else None,
            created_at=day,
            tags={"campaign": "winter"} if n % 2 else None,
        )
        for n, day in enumerate(first + timedelta(days=n) for n in range(days))
    ]


def report(
    generations: list[Generation], month: str | None = "2026-11", budget: str | None = None
) -> costs.CostReport:
    archive = archive_of(table_of(generations))
    chosen = costs.Month.parse(month, NOW, UTC)
    now_or_end = min(NOW, chosen.end)
    return costs.report(
        chosen,
        costs.Spending(archive, HistoryFilter(*chosen), rates=RATES),
        costs.Spending(archive, HistoryFilter(*chosen.previous(NOW)), rates=RATES),
        costs.Spending(archive, HistoryFilter(until=now_or_end)).daily(),
        now=NOW,
        owner="Ada & Co",
        budget=None if budget is None else parse_credits(budget, "a budget"),
    )


def text_of(page: str) -> str:
    """Return the visible text of a page in one line."""
    body = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)
    return " ".join(body.split())


def test_a_report_has_total_days_models_tags_failures_and_forecast() -> None:
    generations = make_spending(60)
    page = report(generations, budget="25").html
    text = text_of(page)
    november = [each for each in generations if each.created_at and each.created_at.month == 11]
    net = sum((each.credits_charged or 0) - (each.credits_refunded or 0) for each in november)

    assert "Costs of November 2026" in text
    assert "Ada &amp; Co · days in UTC · as of 2026-11-20 12:00 UTC" in text
    assert f"Spent {net:.2f} {float(net) * 0.012:.2f} EUR ·" in text
    assert re.search(r"Expected by the end \d\d\.\d\d \d\d\.\d\d to \d\d\.\d\d in four of", text)
    assert f"{net:.2f} of 25.00 credits are spent" in text
    assert "By tag: campaign" in text
    assert text.count("winter") == 1
    assert re.search(r"02 Nov all models 10\.00", text)
    assert "it &lt;broke&gt; 3 " in text
    assert page.count("<rect") == 30
    assert page.count('<rect class="ahead"') == 10
    assert page.count('<rect class="hot"') == 1
    one_model = [each.model_copy(update={"model_id": "drift"}) for each in generations]
    assert report(one_model).html.count('<rect class="hot"') == 1


def test_a_running_generation_is_not_a_result_in_a_report() -> None:
    running = make(99, 0.5, status="processing", created_at=NOW)
    text = text_of(report([*make_spending(3), running]).html)

    assert "Spent 2.80 " in text
    assert "Results 2 1.40 credits each" in text
    assert "Everything" not in text_of(report([running]).html)


def test_a_result_with_an_unknown_charge_does_not_lower_the_mean_of_a_report() -> None:
    text = text_of(report([*make_spending(3), make(99, None, created_at=NOW)]).html)

    assert "Results 3 1.15 credits each" in text
    assert "1 unknown charges count as 0" in text


def test_a_report_loads_nothing_and_escapes_everything() -> None:
    page = report(make_spending(60)).html

    assert not re.search(r"<script|https?://|@import|url\(|<b>|<broke>", page)
    assert "&lt;b&gt;poster" in page
    assert "prefers-color-scheme:dark" in page


def test_a_running_month_is_compared_with_the_same_days_before() -> None:
    each_day = [make(n, 1, created_at=NOW - timedelta(n, 60)) for n in range(51)]

    assert "+0% on the same days of the month before" in text_of(report(each_day).html)


def test_failures_with_many_reasons_are_grouped() -> None:
    failed = [
        make(n, 1, 1, status="failed", error=f"reason {n}", created_at=NOW) for n in range(12)
    ]

    assert "the rest 5 5.00 5.00 0.00" in text_of(report(failed).html)


def test_any_spending_exceeds_a_budget_of_zero() -> None:
    page = report([make(1, 1, created_at=NOW)], budget="0").html

    assert "1.00 of 0.00 credits are spent, 100%." in text_of(page)
    assert '<section class="budget over">' in page


def test_a_budget_is_not_100_percent_spent_before_its_end() -> None:
    def describe(budget: str) -> str:
        return text_of(report([make(1, "9.96", created_at=NOW)], budget=budget).html)

    assert "9.96 of 10.00 credits are spent, 99%." in describe("10")
    assert "9.96 of 9.96 credits are spent, 100%." in describe("9.96")


def test_small_amounts_are_not_shown_as_zero() -> None:
    assert "Spent 0.0002 " in text_of(report([make(1, "0.0002", created_at=NOW)]).html)


def test_a_past_month_has_no_forecast() -> None:
    text = text_of(report(make_spending(60), "2026-10", budget="5").html)

    assert "Expected" not in text
    assert "of 5.00 credits are spent" in text
    assert "may be passed" not in text


@pytest.mark.parametrize("days", [0, 3])
def test_a_short_history_is_no_error(days: int) -> None:
    text = text_of(report(make_spending(days)).html)

    assert "too little history" in text
    assert ("Nothing was spent." in text) == (days == 0)


def test_a_month_begins_at_midnight_of_the_time_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    month = costs.Month.parse(None, datetime(2026, 11, 30, 23, 30, tzinfo=UTC), berlin)

    assert month == (datetime(2026, 12, 1, tzinfo=berlin), datetime(2027, 1, 1, tzinfo=berlin))
    assert month.previous(NOW).first == datetime(2026, 11, 1, tzinfo=berlin)


@pytest.mark.parametrize(
    ("month", "message"),
    [
        ("2026-13", "such as 2026-11"),
        ("November", "such as"),
        ("0001-01", "such as"),
        (date(2026, 11, 1), "such as 2026-11"),
        ("2026-12", "has not begun"),
    ],
)
def test_an_invalid_month_is_reported(month: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        costs.Month.parse(month, NOW, UTC)


def test_a_studio_saves_its_report(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio.generate("flat", "a", tags={"campaign": "winter"})
    found = studio.costs.report(budget=5)
    monkeypatch.chdir(tmp_path)

    assert found.save().read_text("utf-8") == found.html
    assert found.save() == Path(f"costs-{found.month}.html")
    assert found.save(tmp_path) == tmp_path / found.save()
    assert found.save(f"{tmp_path}/new/") == tmp_path / "new" / found.save()
    assert "Spent 0.60" in text_of(found.html)
    assert "<iframe sandbox srcdoc=" in found._repr_html_()
    assert '[data-jp-theme-light="false"] .kit-report iframe' in found._repr_html_()
    with pytest.raises(ConfigError, match="a budget is 0 credits or more"):
        studio.costs.report(budget="much")
