"""The costs of a studio as the panel shows them: cost frames in, HTML out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kit.explore.costs import CostFrame

#: Days and models that are shown.
DAYS, MODELS = 30, 12


def report(
    summary: CostFrame,
    trend: CostFrame,
    models: CostFrame,
    balance: Decimal | None,
    *,
    today: date | None = None,
) -> str:
    """Return the page about costs.

    Parameters
    ----------
    summary, trend, models : CostFrame
        Of ``studio.costs``: ``summary()``, ``trend()`` by day, and ``by("model")``.
    balance : Decimal or None
        What is left; None where the service does not tell.
    today : date, optional
        In UTC, as the service counts days; default: now.
    """
    from kit.widgets.panel import report as draw

    last = today or datetime.now(UTC).date()
    net = dict.fromkeys(_days(last), Decimal(0))
    for day, amount in zip(trend["period"].dt.date, trend["net"], strict=True):
        if day in net:
            net[day] = _credits(amount)
    whole = summary[summary["kind"] == "all"]
    totals = [
        ("left", balance),
        ("spent today", net[last]),
        (f"in {DAYS} days", sum(net.values(), Decimal(0))),
        ("in all", _credits(whole["net"].sum())),
        ("came back", _credits(whole["refunded"].sum())),
    ]
    days = [(day.isoformat(), amount) for day, amount in net.items()]
    parts = [draw.figures(totals), draw.columns("Day by day", days)]
    return "".join([*parts, draw.bars("By model", _dearest(models))] if len(models) else parts[:1])


def _dearest(models: CostFrame) -> list[tuple[str, Decimal, str]]:
    found = models.head(MODELS)
    rows = zip(found["model"], found["net"], found["count"], strict=True)
    return [(str(name), _credits(amount), f"× {count}") for name, amount, count in rows]


def _days(last: date) -> list[date]:
    return [last - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]


def _credits(amount: Any) -> Decimal:
    """Return an amount out of a frame to the millicredit."""
    return round(Decimal(float(amount)), 3)
