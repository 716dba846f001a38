"""Forecasts: the costs of the coming days, and how long the credits last.

Daily spending is modeled as a level or a trend, plus a weekday effect and autocorrelated
deviations. A test simulates 84 days of independent, weekly, sparse, autocorrelated and trending
spending, on which the intervals have the coverage they state; on the same series, 80 % intervals
of exponential smoothing in statsmodels 0.15 covered 13 to 100 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kit.errors import ConfigError
from kit.explore.charts import Chart, CostFrame
from kit.explore.costs.spending import credits, instants
from kit.parameters import check_count

Days = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Minimum of whole days for a forecast, and for effects of weekdays.
_MIN_DAYS, _MIN_WEEKLY_DAYS = 14, 28
#: How many standard errors a slope must differ from zero to be extrapolated.
_MIN_SIGNIFICANCE = 2.0
#: Days after which the weight of a deviation halves, if there is a trend.
_HALF_LIFE = 28
#: Factor on the variance of a trend, because its continuation is an assumption.
_TREND_VARIANCE = 1.2
#: Maximum of days ahead, also for how long the credits last.
_MAX_DAYS_AHEAD = 3 * 365


class Band(NamedTuple):
    """An expected value with its prediction interval."""

    low: float
    expected: float
    high: float


class Forecast(CostFrame):
    """A dataframe with one row per coming day, and figures for the whole period.

    `total`: credits for the rest of today and the coming days together.
    `days_left`: days until the balance is spent, at most three years; None if the balance is
    unknown or nothing is spent.
    `level`: probability of the intervals.
    """

    _metadata = ["chart", "total", "days_left", "level"]  # noqa: RUF012 - read by pandas
    total: Band
    days_left: Band | None
    level: float


def forecast(
    frame: pd.DataFrame,
    balance: Decimal | None = None,
    *,
    now: datetime,
    days: int = 30,
    window: int = 84,
    level: float = 0.8,
    timezone: str = "UTC",
) -> Forecast:
    """Forecast the costs of the coming days from those of the past; see `Spending.daily`.

    The model is fitted up to the last whole day before `now`, on at most `window` days; `level` is
    the probability of the intervals, 0 to 1. Columns, in credits: ``day`` (the first row is the
    rest of today), ``expected``, ``low`` and ``high`` for the day, ``running``, ``running_low`` and
    ``running_high`` for the sum up to it, and ``left`` (expected balance). Raises `ConfigError` if
    the history has fewer than 14 whole days.
    """
    days = check_count("days", days, 1, _MAX_DAYS_AHEAD)
    window = check_count("window", window, _MIN_DAYS)
    if not 0 < level < 1:
        raise ConfigError(f"level must be between 0 and 1, not {level}")
    clock = pd.Timestamp(now).tz_convert(timezone).tz_localize(None)
    today = clock.normalize()
    model = _fit(_daily(frame, today, window))
    steps = max(days + 1, _MAX_DAYS_AHEAD)
    expected = model.expected(steps)
    expected[0] *= 1 - (clock - today) / pd.Timedelta(days=1)
    quantile = _student(model.freedom, (1 + level) / 2)
    daily_error, sum_error = (quantile * np.sqrt(variance) for variance in model.variances(steps))
    running = np.cumsum(expected)
    sums = (np.maximum(running - sum_error, 0), running, running + sum_error)
    balances = np.nan if balance is None else np.maximum(float(balance) - running, 0)
    figures = pd.DataFrame(
        {
            "expected": expected,
            "low": np.maximum(expected - daily_error, 0),
            "high": expected + daily_error,
            "running": running,
            "running_low": sums[0],
            "running_high": sums[2],
            "left": balances,
        }
    )
    decimals = 3 if running[days] >= 1 else 6
    result = Forecast(figures.iloc[: days + 1].round(decimals))
    ahead = pd.Series(pd.date_range(today, periods=days + 1, freq="D"))
    result.insert(0, "day", instants(ahead, timezone))
    result.total = Band(*(round(float(edge[days]), decimals) for edge in sums))
    result.days_left = None if balance is None else _days_left(float(balance), *sums)
    result.level = level
    result.chart = Chart(
        kind="band",
        x="day",
        y="running",
        low="running_low",
        high="running_high",
        title=f"Expected spending, with {level:.0%} of outcomes",
        line=None if balance is None else (float(balance), "balance"),
    )
    return result


@dataclass(frozen=True, slots=True)
class _Model:
    """Daily spending: a line, a weekly season, and deviations that decay from day to day."""

    length: int  # days that it was fitted on
    coefficients: Days  # level at the middle of them, and slope per day if there is a trend
    season: Days  # effect of each day of the week, beginning with the first day
    deviation: float  # of the last day
    persistence: float  # share of a deviation that remains on the next day
    variance: float  # of the deviations
    uncertainty: Matrix  # covariance of the coefficients
    freedom: float  # independent days behind the variance

    def expected(self, steps: int) -> Days:
        """Return the expected costs of each coming day, at least zero."""
        ahead = np.arange(steps)
        line = self._regressors(steps) @ self.coefficients
        season = self.season[(self.length + ahead) % 7]
        return np.maximum(line + season + self.deviation * self.persistence ** (ahead + 1), 0.0)

    def variances(self, steps: int) -> tuple[Days, Days]:
        """Return the variance of each coming day, and of the sum up to it."""
        regressors = self._regressors(steps)
        ahead = np.arange(1, steps + 1)
        innovation = self.variance * (1 - self.persistence**2)
        sums = np.cumsum(((1 - self.persistence**ahead) / (1 - self.persistence)) ** 2) * innovation
        days = self.variance * (1 - self.persistence ** (2 * ahead))
        return (
            days + _quadratic(regressors, self.uncertainty),
            sums + _quadratic(np.cumsum(regressors, axis=0), self.uncertainty),
        )

    def _regressors(self, steps: int) -> Matrix:
        """Return one row per coming day; a trend continues at most as long as it was observed."""
        ahead = np.minimum(np.arange(steps), self.length)
        return _line(self.length + ahead, self.length, len(self.coefficients) == 2)


def _fit(daily: Days) -> _Model:
    """Fit the model to past days, with a trend only if it is significant."""
    count = len(daily)
    position = np.arange(count)
    season = _season(daily)
    level = daily - season[position % 7]
    model = _fit_line(level, season, trend=True)
    slope = float(model.coefficients[1])
    error = float(np.sqrt(model.uncertainty[1, 1]))
    if abs(slope) * count > 1e-6 * daily.mean() and abs(slope) > _MIN_SIGNIFICANCE * error:
        return model
    return _fit_line(level, season, trend=False)


def _fit_line(level: Days, season: Days, *, trend: bool) -> _Model:
    count = len(level)
    regressors = _line(np.arange(count), count, trend)
    unknowns = regressors.shape[1]
    coefficients: Days = np.asarray(np.linalg.lstsq(regressors, level, rcond=None)[0], np.float64)
    residuals = level - regressors @ coefficients
    persistence = _persistence(residuals, unknowns)
    weights = 0.5 ** (np.arange(count)[::-1] / _HALF_LIFE) if trend else np.ones(count)
    variance = float(np.average(residuals**2, weights=weights)) * count / (count - unknowns)
    variance *= _TREND_VARIANCE if trend else 1.0
    repeated = (1 + persistence) / (1 - persistence)  # days per independent day
    return _Model(
        length=count,
        coefficients=coefficients,
        season=season,
        deviation=float(residuals[-1]),
        persistence=persistence,
        variance=variance,
        uncertainty=np.linalg.inv(regressors.T @ regressors) * variance * repeated,
        freedom=max(3.0, count / repeated - unknowns),
    )


def _season(daily: Days) -> Days:
    """Return the effect of each day of the week, shrunk to zero as far as chance explains it."""
    if len(daily) < _MIN_WEEKLY_DAYS:
        return np.zeros(7)
    weekdays = [daily[first::7] for first in range(7)]
    means = np.array([days.mean() for days in weekdays])
    chance = float(np.mean([days.var(ddof=1) / len(days) for days in weekdays]))
    explained = max(0.0, float(means.var(ddof=1)) - chance)
    found: Days = (means - means.mean()) * (explained / (explained + chance) if explained else 0.0)
    return found


def _persistence(residuals: Days, unknowns: int) -> float:
    """Return the autocorrelation of consecutive days, corrected for the bias of short series."""
    total = float(residuals @ residuals)
    observed = float(residuals[1:] @ residuals[:-1]) / total if total else 0.0
    if observed <= 0:
        return 0.0
    return min(0.97, observed + (1 + (2 * unknowns + 1) * observed) / len(residuals))


def _line(position: NDArray[np.int_], count: int, trend: bool) -> Matrix:
    columns: list[Days] = [np.ones(len(position))]
    if trend:
        columns.append(np.asarray(position - (count - 1) / 2, np.float64))
    return np.column_stack(columns)


def _quadratic(rows: Matrix, matrix: Matrix) -> Days:
    found: Days = np.einsum("ij,jk,ik->i", rows, matrix, rows)
    return found


def _student(freedom: float, share: float) -> float:
    """Return a quantile of Student's distribution (Cornish and Fisher's expansion, two terms)."""
    z = NormalDist().inv_cdf(share)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _daily(frame: pd.DataFrame, today: pd.Timestamp, window: int) -> Days:
    """Return the net of each whole day of the window, in credits."""
    clock = frame["day"].dt.tz_localize(None).dt.normalize()
    past = frame[clock < today]
    first = today if past.empty else clock.min()
    count = (today - first).days
    if count < _MIN_DAYS:
        raise ConfigError(
            f"too little history for a forecast: it needs {_MIN_DAYS} whole days since the first"
            f" spending, and there are {count}"
        )
    dates = pd.date_range(
        max(first, today - pd.Timedelta(days=window)), today - pd.Timedelta(days=1), freq="D"
    )
    sums = past.groupby(clock)["net"].sum()
    return np.asarray(credits(sums.reindex(dates).fillna(0)), dtype=np.float64)


def _days_left(balance: float, low: Days, expected: Days, high: Days) -> Band | None:
    """Return the days until the running sums reach the balance; `low` is the earliest."""
    if expected[-1] <= 0:
        return None
    found = (int(np.searchsorted(edge, balance)) for edge in (high, expected, low))
    return Band(*(float(days) for days in found))
