"""The page of costs: what each figure counts."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from kit.explore.arrow import GENERATIONS
from kit.explore.costs import Spending
from kit.studio import panel
from tests.explore.fake_service import archive_of

TODAY = date(2026, 3, 10)


def spend(*rows: dict[str, Any]) -> Spending:
    """Return a spending of these rows; amounts are in millicredits."""
    usual = {"model_id": "poster", "status": "completed", "refunded": 0, "source": "service"}
    filled = [{**usual, **row, "id": f"g{n}"} for n, row in enumerate(rows)]
    table = [
        {
            **row,
            "credits": None if row["charged"] is None else row["charged"] / 1000,
            "credits_refunded": row["refunded"] / 1000,
            "credits_source": row["source"],
        }
        for row in filled
    ]
    return Spending(archive_of(pa.Table.from_pylist(table, GENERATIONS)))


def render(
    frame: Spending, balance: Decimal | None, *, ledger: bool = True, today: date | None = None
) -> str:
    return panel.cost_page(frame, balance, ledger=ledger, today=today)


def figures(html: str) -> dict[str, str]:
    """Return the figures of the tiles by name."""
    return dict(re.findall(r"<div[^>]*><span[^>]*>([^<]*)</span><b>([^<]*)</b>", html))


def test_each_figure_counts_the_days_of_its_period() -> None:
    frame = spend(
        {"created_at": datetime(2025, 12, 1, tzinfo=UTC), "charged": 4000},
        {"created_at": datetime(2026, 2, 20, tzinfo=UTC), "charged": 250, "model_id": "drift"},
        {"created_at": datetime(2026, 3, 10, 1, tzinfo=UTC), "charged": 100},
        {"created_at": datetime(2026, 3, 10, 2, tzinfo=UTC), "charged": 70, "refunded": 70},
    )

    html = render(frame, Decimal("9.5"), today=TODAY)

    assert figures(html) == {
        "left": "9.5",
        "spent today": "0.1",
        "spent in 30 days": "0.35",
        "spent in all": "4.35",
        "refunded": "0.07",
    }
    assert "drift" in html
    assert "2026-02-20: 0.25 credits" in html


def test_small_charges_are_shown_exactly_and_omitted_models_reported() -> None:
    today = datetime(2026, 3, 10, tzinfo=UTC)
    rows = [{"created_at": today, "charged": 0.02, "model_id": f"m{n}"} for n in range(13)]

    assert "the 12 most expensive" in render(spend(*rows), None, today=TODAY)
    assert figures(render(spend(rows[0]), None, today=TODAY))["spent in all"] == "0.00002"


def test_the_chart_shows_the_thirty_days_until_today() -> None:
    html = render(spend({"created_at": datetime(2025, 1, 1, tzinfo=UTC), "charged": 1}), None)
    days = render(
        spend({"created_at": datetime(2026, 3, 9, tzinfo=UTC), "charged": 1}), None, today=TODAY
    )

    assert html.count("<span title=") == days.count("<span title=") == 30
    assert "2026-02-09: 0 credits" in days
    assert "2026-03-10: 0 credits" in days


def test_a_generation_without_a_model_is_counted_as_none() -> None:
    html = render(spend({"charged": 100, "model_id": None}), None)

    assert "<span>none</span>" in html


def test_the_page_is_shown_without_any_spending() -> None:
    html = render(spend(), Decimal(10), today=TODAY)

    assert figures(html)["spent in all"] == "0"
    assert "By model" not in html


def test_amounts_reported_by_the_service_are_shown_as_exact() -> None:
    html = render(spend({"created_at": datetime(2026, 3, 10, tzinfo=UTC), "charged": 100}), None)

    assert "about" not in html
    assert "Amounts: 1 reported by the service. Days are in UTC.</div>" in html


def test_estimated_amounts_are_marked_and_their_sources_listed() -> None:
    day = datetime(2026, 3, 10, tzinfo=UTC)
    frame = spend(
        {"created_at": day, "charged": 100},
        {"created_at": day, "charged": 70, "source": "estimate"},
        {"created_at": day, "charged": 50, "source": "receipt"},
    )

    html = render(frame, Decimal(9), today=TODAY)

    assert figures(html)["left"] == "9"
    assert figures(html)["spent today"] == figures(html)["spent in all"] == "about 0.22"
    assert "2026-03-10: about 0.22 credits" in html
    assert "<span>about 0.22 " in html
    assert (
        "1 reported by the service, 1 from receipts on this computer, 1 estimated at today&#x27;s"
        in html
    )
    assert "Estimates are at today&#x27;s prices" in html
    assert 'title="Receipts are from the start' in html


def test_without_a_ledger_titles_and_scripts_are_not_counted() -> None:
    frame = spend({"created_at": datetime(2026, 3, 10, tzinfo=UTC), "charged": 100})
    html = render(frame, None, ledger=False, today=TODAY)

    assert figures(html)["spent today"] == "about 0.1"
    assert "Titles and scripts are not counted" in html
