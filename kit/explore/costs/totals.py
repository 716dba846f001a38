"""Costs by group: sums, shares, trends, the most expensive, and what failed.

In all of these ``charged`` is what was taken, ``refunded`` what was given back and ``net`` the
difference, in credits. A generation whose charge nobody knows counts in ``unknown``, not as 0.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from kit.errors import ConfigError
from kit.explore.charts.spec import Chart
from kit.explore.costs.frame import CostFrame, with_chart
from kit.explore.costs.spending import add_groups, credits

_PERIODS = {"hour": "h", "day": "D", "week": "W-MON", "month": "MS"}


def by(frame: pd.DataFrame, *columns: str) -> CostFrame:
    """Return the costs of each group, the most expensive first; groups of time in their order.

    Parameters
    ----------
    frame : DataFrame
        Of `spending`.
    *columns : str
        ``model``, ``kind``, ``asset_type``, ``status``, ``source``, ``error``, ``hour``, ``day``,
        ``week``, ``month``, ``weekday``, or ``parameters.NAME``. None means ``model``.

    Returns
    -------
    CostFrame
        The columns asked for, then ``count``, ``unknown``, ``charged``, ``refunded``, ``net``,
        ``mean`` (charged for each known one) and ``share`` (of net, 0 to 1).
    """
    prepared, names = add_groups(frame, columns or ("model",))
    sums = _sums(prepared.groupby(names, dropna=False, observed=True, sort=True))
    timed = [name for name in names if name in _PERIODS]
    if not timed:
        sums = sums.sort_values("net", ascending=False, kind="stable")
    elif timed[0] == names[0]:
        sums = sums.sort_values(names[0], kind="stable")
    title = f"Credits by {' and '.join(names)}"
    color = names[1] if len(names) > 1 else None
    kind = "columns" if timed and timed[0] == names[0] else "bars"
    chart = Chart(kind=kind, x=names[0], y="net", color=color, title=title, unit="credits")
    return with_chart(sums.reset_index(drop=True), chart)


def summary(frame: pd.DataFrame) -> CostFrame:
    """Return the costs of each kind and status, with a row for all of them.

    Returns
    -------
    CostFrame
        The columns of `by`, after ``kind`` and ``status``.
    """
    parts = by(frame, "kind", "status")
    prepared, _ = add_groups(frame, ())
    whole = _sums(prepared.assign(kind="all", status="all").groupby(["kind", "status"]))
    joined = pd.concat([pd.DataFrame(parts), whole], ignore_index=True) if len(parts) else whole
    chart = Chart(
        kind="bars",
        x="kind",
        y="charged",
        color="status",
        title="Credits charged",
        unit="credits",
        leave_out=("kind", "all"),
    )
    return with_chart(joined, chart)


def trend(frame: pd.DataFrame, every: str = "day") -> CostFrame:
    """Return the costs of each period, with those without any, and their running sum.

    Parameters
    ----------
    every : str
        ``hour``, ``day``, ``week`` or ``month``, UTC.

    Returns
    -------
    CostFrame
        ``period``, the sums of `by`, and ``running``, the net so far.
    """
    if every not in _PERIODS:
        raise ConfigError(f"a trend is by {', '.join(_PERIODS)}, not by {every!r}")
    prepared, _ = add_groups(frame, (every,))
    sums = _sums(prepared.groupby(every), names=[every]).rename(columns={every: "period"})
    if len(sums):
        first, last = sums["period"].min(), sums["period"].max()
        periods = pd.date_range(first, last, freq=_PERIODS[every], name="period")
        sums = sums.set_index("period").reindex(periods).reset_index()
        filled = ["count", "unknown", "charged", "refunded", "net", "share"]
        sums[filled] = sums[filled].fillna(0)
        sums = sums.astype({"count": "int64", "unknown": "int64"})
    sums["running"] = sums["net"].cumsum().round(3)
    title = f"Credits each {every}"
    return with_chart(sums, Chart(kind="columns", x="period", y="net", title=title, unit="credits"))


def top(frame: pd.DataFrame, count: int = 10) -> CostFrame:
    """Return what cost most, the most expensive first.

    Returns
    -------
    CostFrame
        Indexed by id: ``what``, ``model_id``, ``status``, ``created_at``, ``charged``,
        ``refunded``, ``net``, ``prompt``.
    """
    found = frame.sort_values(["net", "created_at"], ascending=[False, False]).head(count)
    rows = _amounts(found)[["model_id", "status", "created_at", *_AMOUNTS, "prompt"]]
    text = [str(p) if isinstance(p, str) else str(i) for i, p in found["prompt"].items()]
    rows.insert(0, "what", pd.Series(text, index=rows.index, dtype="string"))
    title = f"The {len(rows)} most expensive"
    chart = Chart(kind="bars", x="what", y="net", title=title, unit="credits", ranked=True)
    return with_chart(rows, chart)


def failed(frame: pd.DataFrame) -> CostFrame:
    """Return what ended without a result: charged, refunded, and what was lost by it.

    Returns
    -------
    CostFrame
        Indexed by id, newest first: ``model_id``, ``status``, ``created_at``, ``charged``,
        ``refunded``, ``net`` (what was not given back), ``error``.
    """
    lost = frame[frame["status"].isin(("failed", "canceled"))][::-1]
    rows = _amounts(lost)[["model_id", "status", "created_at", *_AMOUNTS, "error"]]
    chart = Chart(
        kind="bars",
        x="model_id",
        y="charged",
        color="status",
        title="Charged for what failed or was canceled",
        unit="credits",
    )
    return with_chart(rows, chart)


_AMOUNTS = ("charged", "refunded", "net")


def _amounts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(**{name: credits(frame[name]) for name in _AMOUNTS})


def _sums(groups: Any, names: list[str] | None = None) -> pd.DataFrame:
    """Add up whole millicredits and write them as credits."""
    sums = groups.agg(
        count=("kind", "size"),
        known=("charged", "count"),
        charged=("charged", "sum"),
        refunded=("refunded", "sum"),
        net=("net", "sum"),
    ).reset_index()
    whole = int(sums["net"].sum() or 0)
    known = sums["known"].astype("float64")
    # half a millicredit more or less does not matter in a mean
    mean = (sums["charged"].astype("float64") / known.where(known > 0) / 1000).round(4)
    share = (sums["net"].astype("float64") / whole).round(4) if whole else 0.0
    sums.insert(sums.columns.get_loc("count") + 1, "unknown", sums["count"] - sums["known"])
    return _amounts(sums.drop(columns="known")).assign(mean=mean, share=share)
