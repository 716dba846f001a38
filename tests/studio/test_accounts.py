from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from kit.client.calls import Reply
from kit.studio import Studio, accounts
from kit.widgets.account import Spent
from tests.client.fixtures import drive
from tests.waiting import until
from tests.widgets.writers import text

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)


def entry(at: str, credits: float, kind: str = "generation", of: str = "") -> dict[str, Any]:
    facts = {"kind": kind, "credits": credits, "balanceAfter": 0, "generationId": of or None}
    return {"id": at, "createdAt": at, **facts}


def page(*entries: dict[str, Any], following: int | bool = False) -> Reply:
    headers = {"link": f'</v1/usage?cursor={following:d}>; rel="next"'} if following else {}
    return Reply(200, headers, json.dumps(entries).encode())


def test_spending_is_charges_minus_refunds() -> None:
    steps, found = drive(
        accounts.spent_lately(NOW),
        page(
            entry("2026-03-15T11:00:00Z", -0.5),
            entry("2026-03-15T10:00:00Z", 0.2, "refund"),
            entry("2026-03-15T09:00:00Z", 1000, "grant"),
            entry("2026-03-15T00:00:00Z", -0.05, "title"),
            following=True,
        ),
        page(entry("2026-03-14T23:59:59Z", -1), entry("2026-02-28T23:59:59Z", -7), following=True),
    )

    assert found == Spent(Decimal("0.35"), Decimal("1.35"))
    assert len(steps) == 2


def test_a_refund_belongs_to_the_day_of_its_charge() -> None:
    entries = [
        entry("2026-03-15T11:00:00Z", 0.3, "refund", "yesterday's"),
        entry("2026-03-15T10:00:00Z", 0.2, "refund", "today's"),
        entry("2026-03-15T09:00:00Z", 7, "refund", "February's"),
        entry("2026-03-15T08:00:00Z", -0.2, of="today's"),
        entry("2026-03-14T08:00:00Z", -0.3, of="yesterday's"),
        entry("2026-02-28T08:00:00Z", -7, of="February's"),
    ]

    assert drive(accounts.spent_lately(NOW), page(*entries))[1] == Spent(Decimal(0), Decimal(0))


def test_spending_is_unknown_without_a_ledger() -> None:
    assert drive(accounts.spent_lately(NOW), Reply(404))[1] is None


def test_the_panel_of_a_third_party_service_has_no_keys_to_manage(studio: Studio) -> None:
    panel = studio.account_panel()
    until(lambda: text(panel), lambda shown: "Ada" in shown)

    assert "Create key" not in str([getattr(c, "description", "") for c in panel.children])


def test_spending_of_a_complete_ledger_has_no_doubts() -> None:
    found = drive(accounts.spent_lately(NOW), page(entry("2026-03-15T11:00:00Z", -0.5)))[1]

    assert found == Spent(Decimal("0.5"), Decimal("0.5"), ())


def test_a_ledger_not_read_to_the_start_of_the_month_is_reported() -> None:
    lines = [entry(f"2026-03-15T11:00:00.{n:03}Z", -0.5) for n in range(1000)]
    pages = [
        page(*({**line, "id": f"{n}-{line['id']}"} for line in lines), following=n)
        for n in range(1, 21)
    ]
    found = drive(accounts.spent_lately(NOW), *pages)[1]

    assert found is not None
    assert found.month == Decimal(10_000)
    assert "Only its newest 20,000 entries" in found.doubts[0]
