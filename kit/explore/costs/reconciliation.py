"""Reconciling: ledger, balance, receipts and generations held against each other.

All amounts are compared as whole millicredits; a difference of one is a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import pandas as pd

from kit import wire
from kit.explore.charts.spec import Chart
from kit.explore.costs.frame import CostFrame, with_chart
from kit.pricing import MILLI

_COLUMNS = {
    "check": "string",
    "subject": "string",
    "expected": "float64",
    "found": "float64",
    "difference": "float64",
    "agrees": "bool",
}
_ALL = "all"


def reconcile(
    entries: Iterable[wire.Entry],
    *,
    balance: Decimal | None = None,
    receipts: Mapping[str, Decimal] | None = None,
    generations: Iterable[wire.Generation] = (),
) -> CostFrame:
    """Return every check with its figures, those that do not agree first.

    Parameters
    ----------
    entries : iterable of Entry
        The whole ledger, newest first.
    balance : Decimal or None
        What the service says can be spent.
    receipts : mapping of str to Decimal, optional
        What this computer's starts were charged, by generation id.
    generations : iterable of Generation
        As the service reports them.

    Returns
    -------
    CostFrame
        ``check`` (``balance``: the ledger adds up to it; ``chain``: each entry follows from the
        one before; ``receipt``, ``charge``, ``refund``: of one generation, against the ledger),
        ``subject``, ``expected``, ``found``, ``difference`` (credits), ``agrees``. Checks of
        generations that agree are one row each, counted under the subject ``all``. The ``attrs``
        hold ``agrees`` and ``problems``.
    """
    lines = list(entries)
    rows = list(_totals(lines, balance))
    charged, refunded = _paid(lines)
    rows += _compared("receipt", receipts or {}, charged)
    found = list(generations)
    rows += _compared("charge", _said(found, "credits_charged"), charged)
    rows += _compared("refund", _said(found, "credits_refunded"), refunded)
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    table = table.sort_values("agrees", kind="stable").reset_index(drop=True)
    title = "Differences between ledger, receipts and generations"
    result = with_chart(
        table, Chart(kind="bars", x="check", y="difference", title=title, unit="credits")
    )
    problems = int((~table["agrees"]).sum())
    result.attrs.update(agrees=problems == 0, problems=problems)
    return result


Row = tuple[str, str, float, float, float, bool]


def _totals(lines: list[wire.Entry], balance: Decimal | None) -> Iterable[Row]:
    total = sum(_units(line.credits) for line in lines)
    if balance is not None:
        yield _row("balance", _ALL, _units(balance), total)
    after = 0
    wrong = []
    for line in reversed(lines):
        after += _units(line.credits)
        stated = _units(line.balance_after)
        if stated != after:
            wrong.append(_row("chain", line.id, after, stated))
            after = stated
    yield from wrong or [_row("chain", _ALL, after, after)] if lines else ()


def _paid(lines: list[wire.Entry]) -> tuple[dict[str, int], dict[str, int]]:
    """Return what the ledger says was charged and refunded, by generation id."""
    charged: dict[str, int] = {}
    refunded: dict[str, int] = {}
    for line in lines:
        if line.generation_id:
            into = refunded if line.kind == "refund" else charged
            sign = 1 if line.kind == "refund" else -1
            amount = sign * _units(line.credits)
            into[line.generation_id] = into.get(line.generation_id, 0) + amount
    return charged, refunded


def _said(generations: Iterable[wire.Generation], field: str) -> dict[str, Decimal]:
    found = {g.id: getattr(g, field) for g in generations}
    return {name: amount for name, amount in found.items() if amount is not None}


def _compared(check: str, said: Mapping[str, Decimal], ledger: Mapping[str, int]) -> Iterable[Row]:
    """Compare amounts with the ledger: a row for each difference, one for all that agree."""
    amounts = {name: _units(amount) for name, amount in said.items()}
    wrong = {n: a for n, a in amounts.items() if ledger.get(n, 0) != a}
    for name, amount in wrong.items():
        yield _row(check, name, ledger.get(name, 0), amount)
    agreeing = sum(amount for name, amount in amounts.items() if name not in wrong)
    if len(amounts) > len(wrong):
        yield _row(check, _ALL, agreeing, agreeing)


def _row(check: str, subject: str, expected: int, found: int) -> Row:
    figures: Any = (expected / 1000, found / 1000, (found - expected) / 1000)
    return (check, subject, *figures, expected == found)


def _units(credits: Decimal) -> int:
    """Return whole millicredits; another service may charge in finer steps."""
    return int((credits * MILLI).to_integral_value())
