"""What stands out: days on which all models together, or one of them, cost far more than usual."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kit.explore.charts.spec import Chart
from kit.explore.costs.frame import CostFrame, with_chart
from kit.explore.costs.spending import credits

#: Days with spending without which nothing can be called usual.
_LEAST = 7
#: How many robust standard deviations (of logarithms) a day must be above the median.
_FAR = 3.5
#: The least such deviation: what differs by less than a seventh every day is steady.
_STEADY = 0.14
#: The scale of a median absolute deviation for a normal distribution.
_NORMAL = 1.4826
#: The model of a day of all of them together.
EVERYTHING = "all models"


def unusual(frame: pd.DataFrame) -> CostFrame:
    """Return the days that cost far more than usual, the largest excess first.

    A day of a model is compared with the other days on which it was used, a day of all models with
    the other days on which anything was spent; seven such days are needed.

    Parameters
    ----------
    frame : DataFrame
        Of `Spending.daily`.

    Returns
    -------
    CostFrame
        ``day``, ``model_id`` (``all models`` for their sum), ``net``, ``usual`` (the median),
        ``excess`` (net - usual), in credits, and ``times`` (net / usual).
    """
    known = frame.assign(model_id=frame["model_id"].astype("string"))
    each = known.groupby(["model_id", "day"], observed=True)["net"].sum().reset_index()
    whole = known.groupby("day")["net"].sum().reset_index().assign(model_id=EVERYTHING)
    if each["model_id"].nunique() < 2:  # the sum of one model says nothing more
        whole = whole.iloc[:0]
    series = pd.concat([whole, each], ignore_index=True)
    parts = [_outliers(part) for _, part in series.groupby("model_id", sort=False)]
    found = pd.concat([_outliers(series.iloc[:0]), *parts], ignore_index=True)
    found = found.sort_values("excess", ascending=False, kind="stable", ignore_index=True)
    chart = Chart(
        kind="columns",
        x="day",
        y="excess",
        color="model_id",
        title="Spent beyond the usual",
        leave_out=("model_id", EVERYTHING),
    )
    return with_chart(found, chart)


def _outliers(days: pd.DataFrame) -> pd.DataFrame:
    """Return the days of one model that stand out among those on which it was used."""
    used = days[days["net"] > 0]
    net = credits(used["net"])
    if len(used) >= _LEAST:
        logs = np.log(net)
        middle = float(logs.median())
        spread = max(_STEADY, _NORMAL * float((logs - middle).abs().median()))
        far = logs > middle + _FAR * spread
        usual = float(net.median())
    else:
        far, usual = net > np.inf, np.nan
    far_above: pd.Series[float] = net[far]
    return pd.DataFrame(
        {
            "day": used.loc[far, "day"],
            "model_id": used.loc[far, "model_id"],
            "net": far_above,
            "usual": usual,
            "excess": (far_above - usual).round(3),
            "times": (far_above / usual).round(1),
        }
    )
