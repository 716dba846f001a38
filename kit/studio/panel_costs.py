"""The costs of a studio as the panel shows them: what was paid for in, HTML out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.costs import CostFrame

#: Where an amount comes from -> what is said of those, and what is doubtful about them.
_SOURCES = {
    "service": "reported by the service",
    "receipt": "from receipts on this computer",
    "estimate": "guessed from today's prices",
    "none": "unknown",
}
_DOUBTS = {
    "receipt": "A receipt is of the start: later refunds may be missing.",
    "estimate": "A guess is what it would cost today.",
    "none": "What is unknown counts as nothing.",
}
_WRITTEN = "Titles and scripts are not counted: this service keeps no ledger."
#: Days and models that are shown.
DAYS, MODELS = 30, 12


def cost_page(
    spent: pd.DataFrame,
    balance: Decimal | None,
    *,
    ledger: bool = True,
    today: date | None = None,
) -> str:
    """Return the page about costs; where an amount is a guess, all that it is a part of say so.

    Parameters
    ----------
    spent : DataFrame
        Of `kit.explore.costs.spending`: one look at it, so that all figures are of one moment.
    ledger : bool
        Whether the service has one; else it does not tell what titles and scripts were.
    balance : Decimal or None
        What is left; None where the service does not tell.
    today : date, optional
        In UTC, as the service counts days; default: now.
    """
    from kit.explore import costs
    from kit.widgets.panel import report as draw

    summary, trend = costs.summary(spent), costs.trend(spent)
    models, sources = costs.by(spent, "model"), costs.by(spent, "source")
    last = today or datetime.now(UTC).date()
    net = dict.fromkeys(_days(last), Decimal(0))
    for day, amount in zip(trend["period"].dt.date, trend["net"], strict=True):
        if day in net:
            net[day] = _credits(amount)
    whole = summary[summary["kind"] == "all"]
    totals = [
        ("left", balance),
        ("spent today", net[last]),
        (f"spent in {DAYS} days", sum(net.values(), Decimal(0))),
        ("spent in all", _credits(whole["net"].sum())),
        ("refunded", _credits(whole["refunded"].sum())),
    ]
    days = [(day.isoformat(), amount) for day, amount in net.items()]
    doubts = _doubts(sources, ledger)
    parts = [
        draw.figures(totals, _basis(sources), doubts),
        draw.columns("Day by day", days, doubts),
    ]
    bars = draw.bars("By model", _most_expensive(models), doubts)
    return "".join([*parts, bars] if len(models) else parts[:1])


def _basis(sources: CostFrame) -> str:
    """Return where the amounts come from, in a sentence."""
    counts = {
        str(name): int(n) for name, n in zip(sources["source"], sources["count"], strict=True)
    }
    told = [f"{counts[name]:,} {words}" for name, words in _SOURCES.items() if counts.get(name)]
    return f"Amounts: {', '.join(told)}. Days are of UTC." if told else ""


def _doubts(sources: CostFrame, ledger: bool) -> list[str]:
    """Return why the sums may be wrong, each in a sentence."""
    found = set(sources["source"].astype(str))
    doubts = [words for name, words in _DOUBTS.items() if name in found]
    return doubts if ledger else [*doubts, _WRITTEN]


def _most_expensive(models: CostFrame) -> list[tuple[str, Decimal, str]]:
    found = models.head(MODELS)
    rows = zip(found["model"], found["net"], found["count"], strict=True)
    return [(str(name), _credits(amount), f"× {count}") for name, amount, count in rows]


def _days(last: date) -> list[date]:
    return [last - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]


def _credits(amount: Any) -> Decimal:
    """Return an amount out of a frame to the millicredit."""
    return round(Decimal(float(amount)), 3)
