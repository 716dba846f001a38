"""Cost analysis and forecasts; the functions take a `Spending`.

Amounts are added up as integers, in parts of a credit, so they agree exactly with the ledger.
"""

from __future__ import annotations

from kit.explore.charts import CostFrame
from kit.explore.costs.focus import FocusFrame, focus
from kit.explore.costs.forecasts import Band, Forecast, forecast
from kit.explore.costs.prices import explain, reprice, sensitivity
from kit.explore.costs.reconciliation import reconcile
from kit.explore.costs.report import CostReport, Month, report
from kit.explore.costs.spending import Spending, groups
from kit.explore.costs.totals import (
    by,
    charges,
    failed,
    list_doubts,
    summary,
    top,
    total,
    trend,
    unusual,
    warn_of_unknown,
)

__all__ = [
    "Band",
    "CostFrame",
    "CostReport",
    "FocusFrame",
    "Forecast",
    "Month",
    "Spending",
    "by",
    "charges",
    "explain",
    "failed",
    "focus",
    "forecast",
    "groups",
    "list_doubts",
    "reconcile",
    "report",
    "reprice",
    "sensitivity",
    "summary",
    "top",
    "total",
    "trend",
    "unusual",
    "warn_of_unknown",
]
