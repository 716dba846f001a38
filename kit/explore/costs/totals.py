"""Costs by group: sums, shares, trends, the most expensive, failures and unusual days.

``net`` is ``charged`` minus ``refunded``, in credits. A generation with an unknown charge counts in
``unknown``, not as 0.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kit.errors import ConfigError
from kit.explore.charts import Chart, CostFrame, with_chart
from kit.explore.costs.spending import Spending, credits, groups, instants
from kit.explore.frames import OBJECTS, PARTS, split_key
from kit.parameters import check_count, suggest

_PERIODS = {"hour": "30min", "day": "D", "week": "W-MON", "month": "MS"}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: Minimum of days with spending to know what is usual, and of each weekday for its own median.
_MIN_DAYS, _MIN_WEEKS = 7, 8
#: How many robust standard deviations (of logarithms) a day must be above the median.
_MIN_DEVIATIONS = 3.5
#: The minimum of that deviation: daily differences below a seventh count as steady.
_MIN_SPREAD = 0.14
#: Excess below this share of a usual day's spending of all models does not matter.
_MIN_EXCESS = 0.05
#: The scale of a median absolute deviation for a normal distribution.
_NORMAL_SCALE = 1.4826
#: The model id in rows for all models together.
ALL_MODELS = "all models"
#: The source of an amount -> the doubt it causes.
_DOUBTS = {
    "receipt": "Receipts are from the start of a generation; later refunds may be missing.",
    "estimate": "Estimates are at today's prices.",
    "none": "Unknown amounts count as 0.",
}
_UNCOUNTED_TEXTS = "Titles and scripts are not counted: "


def by(
    spent: Spending, *columns: str | Sequence[str], kept: Iterable[str] | None = None
) -> CostFrame:
    """Return the costs of each group, most expensive first; groups of time in order.

    Groups are ``model`` (or ``model_id``), the default, ``kind``, ``asset_type``, ``status``,
    ``source``, ``error``, ``hour``, ``day``, ``week``, ``month``, ``weekday``, ``parameters.NAME``
    or ``tag.KEY``. `kept` are ids of the results that you keep, to compute the cost of each.

    Columns: those given, then ``count``, ``unknown``, ``charged``, ``refunded``, ``net``, ``mean``
    (of the known charges) and ``share`` (of net, 0 to 1), and the net in each currency that has
    rates, missing if a charge is older than all rates; with `kept` also ``kept`` (how many) and
    ``per_kept`` (net of the group per kept result).
    """
    names = groups(columns) or ["model"]
    found = spent.sums(names, kept)
    mixed = {name: _name_mixed(found[name]) for name in names if any(split_key(name))}
    sums = _in_credits(found.assign(**mixed), names, spent.currencies)
    for name in names:
        column, _ = split_key(name)
        if column and len(sums) and sums[name].isna().all():
            known = [OBJECTS[column] + key for key in spent.keys(column)]
            sentence = f"no paid generation has {name!r}{suggest(name, known)}"
            warnings.warn_explicit(sentence, UserWarning, "studio.costs.by", 1)
    y, what = "net", "Credits"
    if kept is not None:
        y, what = "per_kept", "Credits per kept result"
        counts = sums.pop("kept").astype("int64")
        sums = sums.assign(kept=counts, per_kept=(sums["net"] / counts.where(counts > 0)).round(6))
    periods = [name for name in names if name in _PERIODS]
    if not periods:
        sums = sums.sort_values("net", ascending=False, kind="stable")
    elif periods[0] == names[0]:
        sums = sums.sort_values(names[0], kind="stable")
    if names[0] == "weekday":
        order = {name: index for index, name in enumerate(_WEEKDAYS)}
        sums = sums.sort_values("weekday", key=lambda days: days.map(order), kind="stable")
    title = f"{what} by {' and '.join(names)}"
    color = names[1] if len(names) > 1 else None
    kind = "columns" if periods and periods[0] == names[0] else "bars"
    chart = Chart(kind=kind, x=names[0], y=y, color=color, title=title)
    return with_chart(sums.reset_index(drop=True), chart)


def total(spent: Spending) -> float:
    """Return the total net in credits, computed exactly; it warns of unknown charges."""
    sums = spent.sums(())
    warn_of_unknown(sums, "total")
    return int(sums["net"].iloc[0]) / PARTS


def list_doubts(sources: Iterable[str], *, ledger: bool | None, undated: int = 0) -> list[str]:
    """Return the reasons why sums of amounts from these sources may be wrong, as sentences.

    `ledger` is whether there is one; None if it was never synced. `undated` are charges left out.
    """
    found = set(sources)
    doubts = [words for name, words in _DOUBTS.items() if name in found]
    doubts += [f"Charges without a time are in no day or month: {undated:,}."] if undated else []
    why = "the ledger was never synced." if ledger is None else "this service keeps no ledger."
    return doubts if ledger else [*doubts, _UNCOUNTED_TEXTS + why]


def warn_of_unknown(sums: pd.DataFrame, method: str) -> None:
    """Warn if charges are unknown, which count as 0 in sums of `Spending`."""
    warn(method, "unknown charges, which count as 0", (sums["count"] - sums["known"]).sum())


def warn(method: str, what: str, count: float) -> None:
    """Warn of charges that a method does not show, unless their number is 0."""
    if count:
        warnings.warn_explicit(f"{what}: {count:,.0f}", UserWarning, f"studio.costs.{method}", 1)


def charges(spent: Spending) -> CostFrame:
    """Return one row per charge, newest first, indexed by id.

    Columns: ``kind``, ``model_id``, ``asset_type``, ``status``, ``created_at``, ``charged``,
    ``refunded``, ``net``, ``source``, ``prompt``, ``error``, ``parameters``, ``tags``, and the net
    in each currency that has rates.
    """
    found = _rows(spent, "* exclude (settings)", "order by created_at desc nulls last, id desc")
    return CostFrame(found.assign(**{name: _worth(found[name]) for name in spent.currencies}))


def summary(spent: Spending) -> CostFrame:
    """Return the costs of each kind and status as `by` does, with a row of totals."""
    parts = by(spent, "kind", "status")
    totals = _in_credits(
        spent.sums(()).assign(kind="all", status="all"), ["kind", "status"], spent.currencies
    )
    joined = pd.concat([pd.DataFrame(parts), totals.iloc[: len(parts)]], ignore_index=True)
    chart = Chart(
        kind="bars",
        x="kind",
        y="charged",
        color="status",
        title="Credits charged",
        leave_out=("kind", "all"),
    )
    return with_chart(joined, chart)


def trend(spent: Spending, every: str = "day") -> CostFrame:
    """Return the costs of each ``hour``, ``day``, ``week`` or ``month``, also of empty ones.

    Columns: the period, the sums of `by`, and ``running``, the net so far.
    """
    if every not in _PERIODS:
        raise ConfigError(f"a trend must be by {', '.join(_PERIODS)}, not by {every!r}")
    found = spent.sums((every,))
    sums = _in_credits(found.dropna(subset=every), [every], spent.currencies)
    undated = found.loc[found[every].isna(), "count"].sum()
    warn("trend", f"charges without a time, not in any {every}", undated)
    if len(sums):
        first, last = sums[every].min(), sums[every].max()
        if every != "hour":
            # a day without midnight, because of daylight saving time, must not shift the others
            first, last = (edge.tz_localize(None).floor("D") for edge in (first, last))
        periods = pd.Series(pd.date_range(first, last, freq=_PERIODS[every], unit="us", name=every))
        if every == "hour":  # where clocks change by half an hour, hours begin later or earlier
            periods = periods[(periods.dt.minute == 0) | periods.isin(sums[every])]
        else:
            periods = instants(periods, spent.timezone).drop_duplicates()
        sums = sums.set_index(every).reindex(pd.Index(periods)).reset_index()
        filled = ["count", "unknown", "charged", "refunded", "net", "share", *spent.currencies]
        sums.loc[sums["count"].isna(), filled] = 0
        sums = sums.astype({"count": "int64", "unknown": "int64"})
    sums["running"] = sums["net"].cumsum().round(6)
    title = f"Credits each {every}"
    return with_chart(sums, Chart(kind="columns", x=every, y="net", title=title))


def top(spent: Spending, count: int = 10) -> CostFrame:
    """Return the most expensive charges, highest first, indexed by id.

    Columns: ``what``, ``model_id``, ``status``, ``created_at``, ``charged``, ``refunded``, ``net``,
    ``prompt``.
    """
    order = "order by net desc nulls last, created_at desc, id limit ?"
    rows = _rows(spent, f"{_FACTS}, prompt", order, [check_count("count", count)])
    text = [str(p) if isinstance(p, str) else str(i) for i, p in rows["prompt"].items()]
    rows.insert(0, "what", pd.Series(text, index=rows.index, dtype="string"))
    title = f"The {len(rows)} most expensive"
    return with_chart(rows, Chart(kind="bars", x="what", y="net", title=title, ranked=True))


def failed(spent: Spending) -> CostFrame:
    """Return the failed and canceled generations: charged, refunded, and the net loss.

    Columns: ``model_id``, ``status``, ``created_at``, ``charged``, ``refunded``, ``net`` (not
    refunded), ``error``; indexed by id, newest first.
    """
    order = "where status in ('failed', 'canceled') order by created_at desc nulls first, id desc"
    rows = _rows(spent, f"{_FACTS}, error", order)
    chart = Chart(
        kind="bars",
        x="model_id",
        y="charged",
        color="status",
        title="Charged for failed or canceled generations",
    )
    return with_chart(rows, chart)


def unusual(frame: pd.DataFrame) -> CostFrame:
    """Return the days of `Spending.daily` that cost far more than usual, largest excess first.

    A day of a model is compared with the other days on which the model was used, a day of all
    models with the other days with spending; at least seven such days are needed. With eight or
    more of each weekday that has any, only those of the same weekday are compared. An excess below
    5 % of the spending of a usual day is left out.

    Columns: ``day``, ``model_id`` (``all models`` for their sum), ``net``, ``usual`` (their
    median), ``excess`` (net - usual), in credits, and ``times`` (net / usual).
    """
    rows = frame.assign(model_id=frame["model_id"].astype("string").fillna("none"))
    by_model = rows.groupby(["model_id", "day"], observed=True)["net"].sum().reset_index()
    totals = rows.groupby("day")["net"].sum().reset_index().assign(model_id=ALL_MODELS)
    # With one model, the sum is the same. pandas 2 warns about empty parts.
    many = by_model["model_id"].nunique() > 1
    series = pd.concat([totals, by_model], ignore_index=True) if many else by_model
    parts = [_outliers(part) for _, part in series.groupby("model_id", sort=False)]
    found = pd.concat([part for part in parts if len(part)] or [_outliers(series[:0])])
    least = _MIN_EXCESS * credits(totals["net"][totals["net"] > 0]).median()
    found = found[found["excess"] >= least]
    found = found.sort_values("excess", ascending=False, kind="stable", ignore_index=True)
    chart = Chart(
        kind="columns",
        x="day",
        y="excess",
        color="model_id",
        title="Unusually high spending",
        leave_out=("model_id", ALL_MODELS),
    )
    return with_chart(found, chart)


_AMOUNTS = ("charged", "refunded", "net")
_FACTS = "id, model_id, status, created_at, charged, refunded, net"


def _amounts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(**{name: credits(frame[name]) for name in _AMOUNTS})


def _rows(spent: Spending, columns: str, rest: str, values: Sequence[Any] = ()) -> pd.DataFrame:
    rows = spent.ask(f"select {columns} from spending {rest}", values)  # noqa: S608
    rows["created_at"] = rows["created_at"].dt.tz_convert(spent.timezone)
    return _amounts(rows.set_index("id"))


def _in_credits(sums: pd.DataFrame, names: list[str], currencies: Sequence[str]) -> pd.DataFrame:
    """Sort groups, merge those with equal values (1 and 1.0), and convert to credits and money."""
    groups = sums.groupby(names, dropna=False, observed=True, sort=True)
    sums = groups.sum().reset_index()
    for name in currencies:  # the sum is missing if a part is
        sums[name] = sums[name].where(groups[name].count().to_numpy() == groups.size().to_numpy())
    worth = {name: sums.pop(name) for name in currencies}
    net = sums["net"].astype("float64")
    total = net.sum()
    known = sums["known"].astype("float64")
    mean = credits(sums["charged"].astype("float64") / known.where(known > 0))
    share = (net / total).round(4) if total else 0.0
    sums.insert(list(sums).index("count") + 1, "unknown", sums["count"] - sums["known"])
    sums = sums.astype({"count": "int64", "unknown": "int64"})
    found = _amounts(sums.drop(columns="known")).assign(mean=mean, share=share)
    return found.assign(**{name: _worth(amounts) for name, amounts in worth.items()})


def _name_mixed(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return values of several types as texts, as dataframes of the history do."""
    kinds = set(map(type, values.dropna()))
    if len(kinds) <= 1 or kinds == {int, float}:
        return values
    return values.map(lambda v: v if isinstance(v, str) else json.dumps(v), na_action="ignore")


def _worth(amounts: pd.Series[Any]) -> pd.Series[Any]:
    return amounts.astype("float64").round(6)


def _outliers(days: pd.DataFrame) -> pd.DataFrame:
    """Return the unusual days of one model, compared with its other days."""
    spent_days = days[days["net"] > 0]
    net = credits(spent_days["net"])
    weekday = spent_days["day"].dt.day_of_week
    if not weekday.value_counts().min() >= _MIN_WEEKS:
        weekday = weekday * 0
    usual = net.groupby(weekday).transform("median")
    deviation = np.log(net / usual)
    spread = max(_MIN_SPREAD, _NORMAL_SCALE * float(deviation.abs().median()))
    is_far = (deviation > _MIN_DEVIATIONS * spread) & (len(net) >= _MIN_DAYS)
    facts = {"net": net, "usual": usual, "excess": (net - usual).round(6)}
    found = spent_days[["day", "model_id"]].assign(**facts, times=(net / usual).round(1))
    return pd.DataFrame(found[is_far])
