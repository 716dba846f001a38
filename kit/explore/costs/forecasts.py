"""The forecast: what the next days will cost at the present rate, and how long credits last."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kit.errors import ConfigError
from kit.explore.charts.spec import Chart
from kit.explore.costs.frame import CostFrame, with_chart
from kit.explore.costs.spending import credits

_DRAWS = 2000


def forecast(
    frame: pd.DataFrame,
    balance: Decimal | None = None,
    *,
    now: datetime,
    days: int = 30,
    window: int = 28,
    level: float = 0.8,
) -> CostFrame:
    """Return what the coming days will cost if they are like the past ones.

    Whole days of the window are drawn anew, those without spending included, so the interval
    follows from how much days differ; it knows nothing of weekdays, trends or plans.

    Parameters
    ----------
    frame : DataFrame
        Of `spending`.
    balance : Decimal or None
        What is left to spend, in credits; None where the service does not tell.
    now : datetime
        Aware; the window ends with the last whole day (UTC) before it.
    days, window : int
        How far to look ahead, and back; a shorter history is its own window.
    level : float
        Share of outcomes that the interval holds, 0 to 1.

    Returns
    -------
    CostFrame
        One row a coming day: ``day``, ``expected``, ``low`` and ``high`` (running sums, credits),
        ``left`` (of the balance, as expected). Its ``attrs`` hold ``rate``, ``rate_low``,
        ``rate_high`` (credits a day), ``days_left``, ``days_left_low``, ``days_left_high`` (None
        where the balance is unknown or nothing is spent), ``window`` (days) and ``level``.

    Raises
    ------
    ConfigError
        There is no whole day to learn from.
    """
    if not 0 < level < 1 or days < 1 or window < 1:
        raise ConfigError("a forecast needs a level between 0 and 1, and at least one day")
    daily = _daily(frame, now, window)
    draws = np.random.default_rng(0)
    picked = draws.integers(0, len(daily), (_DRAWS, len(daily)))
    rates = daily[picked].mean(axis=1)  # what the rate might be, given these days
    around = daily[draws.integers(0, len(daily), (_DRAWS, days))] - daily.mean()
    sums = np.maximum(np.cumsum(around + rates[:, None], axis=1), 0.0)
    edges = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(sums, edges, axis=0)
    rate_low, rate_high = np.quantile(rates, edges)
    rate = float(daily.mean())
    expected = rate * np.arange(1, days + 1)
    first = pd.Timestamp(now).tz_convert("UTC").tz_localize(None).normalize()
    table = pd.DataFrame(
        {
            "day": pd.date_range(first + pd.Timedelta(days=1), periods=days, freq="D"),
            "expected": expected.round(3),
            "low": low.round(3),
            "high": high.round(3),
            "left": np.nan
            if balance is None
            else np.maximum(0, float(balance) - expected).round(3),
        }
    )
    title = f"Expected spending, with {level:.0%} of outcomes"
    chart = Chart(
        kind="band",
        x="day",
        y="expected",
        low="low",
        high="high",
        title=title,
        unit="credits",
        line=None if balance is None else (float(balance), "balance"),
    )
    result = with_chart(table, chart)
    result.attrs.update(
        rate=round(rate, 4),
        rate_low=round(float(rate_low), 4),
        rate_high=round(float(rate_high), 4),
        days_left=_lasts(balance, rate),
        days_left_low=_lasts(balance, float(rate_high)),
        days_left_high=_lasts(balance, float(rate_low)),
        window=len(daily),
        level=level,
    )
    return result


def _daily(frame: pd.DataFrame, now: datetime, window: int) -> NDArray[np.float64]:
    """Return the net of each whole day of the window, in credits."""
    today = pd.Timestamp(now).tz_convert("UTC").normalize()
    past = frame[frame["created_at"] < today]
    if past.empty:
        raise ConfigError("a forecast needs at least one whole day of history; there is none yet")
    first = max(past["created_at"].min().normalize(), today - pd.Timedelta(days=window))
    days = past["created_at"].dt.normalize()
    sums = past.groupby(days)["net"].sum()
    whole = pd.date_range(first, today - pd.Timedelta(days=1), freq="D")
    return np.asarray(credits(sums.reindex(whole).fillna(0)), dtype=np.float64)


def _lasts(balance: Decimal | None, rate: float) -> float | None:
    return None if balance is None or rate <= 0 else round(float(balance) / rate, 1)
