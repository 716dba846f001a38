"""Repricing: what the past would have cost with another model, or with other settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from kit.explore.charts.spec import Chart
from kit.explore.costs.frame import CostFrame, with_chart
from kit.explore.costs.spending import Spending, credits

_COLUMNS = {
    "model_id": "string",
    "count": "int64",
    "unknown": "int64",
    "charged": "float64",
    "repriced": "float64",
    "difference": "float64",
}
_PREFIX = "parameters."


def reprice(
    spent: Spending,
    names: Iterable[str],
    price: Callable[[str, Mapping[str, Any]], int | None],
) -> CostFrame:
    """Return what completed generations were charged, beside another price.

    Parameters
    ----------
    names : iterable of str
        The settings that a price depends on; generations that agree in them are priced at once.
    price : callable
        Takes the model and these settings; returns millicredits, or None where there is no price.

    Returns
    -------
    CostFrame
        By ``model_id`` with which they were made: ``count``; ``unknown``, how many of them have no
        such price and are left out of the rest; ``charged``, ``repriced`` and ``difference``.
    """
    columns = ["model_id", "kind", "status", *(_PREFIX + name for name in dict.fromkeys(names))]
    groups = spent.sums(columns)
    made = (groups["kind"] == "generation") & (groups["status"] == "completed")
    groups = groups[made & (groups["known"] == groups["count"])]
    amounts = [_price(row, price) for row in groups.to_dict("records")]
    each = pd.Series(amounts, index=groups.index, dtype="Int64")
    priced = each.notna()
    table = pd.DataFrame(
        {
            "model_id": groups["model_id"],
            "count": groups["count"],
            "unknown": groups["count"].where(~priced, 0),
            "charged": groups["charged"].where(priced, 0),
            "repriced": (each * groups["count"]).fillna(0),
        }
    )
    sums = table.groupby("model_id").sum().reset_index()
    sums["difference"] = sums["repriced"] - sums["charged"]
    for name in ("charged", "repriced", "difference"):
        sums[name] = credits(sums[name])
    sums = sums.sort_values("difference", kind="stable", ignore_index=True).astype(_COLUMNS)
    title = "Credits more, or less, at the other price"
    return with_chart(
        sums, Chart(kind="bars", x="model_id", y="difference", title=title, unit="credits")
    )


def _price(
    row: Mapping[Any, Any], price: Callable[[str, Mapping[str, Any]], int | None]
) -> int | None:
    given = {
        str(name).removeprefix(_PREFIX): value
        for name, value in row.items()
        if str(name).startswith(_PREFIX) and not pd.isna(value)
    }
    return price(str(row["model_id"]), given)
