"""Analysis of prices: the effect of parameters, the terms of a charge, and alternative prices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pandas as pd

from kit import wire
from kit.errors import ConfigError
from kit.explore.charts import Chart, CostFrame, with_chart
from kit.explore.costs.spending import Spending, credits
from kit.explore.costs.totals import warn
from kit.explore.frames import OBJECTS, PARTS

_EXPLAINED = {
    **dict.fromkeys(("term", "parameter", "value"), "string"),
    **dict.fromkeys(("factor", "credits"), "float64"),
}
_SENSITIVITY = {
    **dict.fromkeys(("parameter", "value"), "string"),
    "default": "bool",
    **dict.fromkeys(("total", "added", "factor"), "float64"),
}
_REPRICED = {
    "model_id": "string",
    **dict.fromkeys(("count", "unknown"), "int64"),
    **dict.fromkeys(("charged", "repriced", "difference"), "float64"),
}
#: Returns the price for these parameters and seconds of input files, or None if it is unknown.
Price = Callable[[Mapping[str, Any], Mapping[str, float]], wire.Quote | None]


def sensitivity(model: wire.Model, price: Price) -> CostFrame:
    """Return the effect of each parameter value on the price, with all others at their defaults.

    `price` takes parameters and seconds of input files, by name. Columns: ``parameter``, ``value``,
    ``default`` (whether it is the default), ``total``, ``added`` (credits compared with all
    defaults) and ``factor``. Numbers are tried at their bounds, default and in between; files
    priced by length at 0, 10 and 60 seconds. Parameters without an effect are included, with 0
    added. Raises `ConfigError` if the service does not report the price of the model.
    """
    values = {p.name: _base_value(p) for p in model.setting_parameters}
    values = {name: value for name, value in values.items() if value is not None}
    if (base := price(values, {})) is None:
        raise ConfigError(
            f"the service does not say how the price of the model {model.id!r} is made"
        )
    rows = []
    for name, value, quote in _try_values(model, values, price):
        if quote is None:
            continue
        added = quote.total - base.total
        factor = float(quote.total / base.total) if base.total else float("nan")
        is_default = value == values.get(name, "0 s")
        rows.append((name, str(value), is_default, quote.total, added, round(factor, 4)))
    table = pd.DataFrame(rows, columns=list(_SENSITIVITY), dtype="object").astype(_SENSITIVITY)
    table.insert(2, "choice", (table["parameter"] + " = " + table["value"]).astype("string"))
    title = f"What the settings of {model.id} add to {base.total:f} credits"
    chart = Chart(kind="bars", x="choice", y="added", title=title, leave_out=("added", 0.0))
    result = with_chart(table, chart)
    result.attrs.update(base=float(base.total), source=base.source)
    return result


def explain(facts: wire.Generation, charged: Decimal | None, quote: wire.Quote | None) -> CostFrame:
    """Explain the cost of a generation: the terms of its price, then charge and refund.

    `charged` is reported by the service or a receipt, `quote` is today's price of the same
    parameters. Columns: ``term``, ``parameter``, ``value``, ``factor``, ``credits``. The terms add
    up to ``charged``; ``unexplained`` is the difference from today's price, because of an earlier
    price or the length of an input file.
    """
    rows: list[tuple[Any, ...]] = [
        (t.kind, t.parameter, None if t.value is None else str(t.value), t.factor, t.credits)
        for t in (quote.terms if quote else ())
    ]
    if quote is not None and charged is not None and quote.total != charged:
        rows.append(("unexplained", None, None, None, charged - quote.total))
    rows.append(("charged", None, None, None, charged))
    if facts.credits_refunded:
        rows.append(("refunded", None, facts.error, None, -facts.credits_refunded))
    table = pd.DataFrame(rows, columns=list(_EXPLAINED), dtype="object").astype(_EXPLAINED)
    named = table["parameter"].fillna("") + " " + table["value"].fillna("")
    table.insert(0, "part", (table["term"] + " " + named.str.strip()).str.strip().astype("string"))
    model = facts.model_id or "this generation"
    chart = Chart(kind="bars", x="part", y="credits", title=f"What {model} cost")
    result = with_chart(table, chart)
    result.attrs.update(charged=None if charged is None else float(charged))
    return result


def reprice(
    spent: Spending, names: Iterable[str], price: Callable[[str, Mapping[str, Any]], Decimal | None]
) -> CostFrame:
    """Compare the charges of completed generations with alternative prices.

    `price` takes a model id and values of `names`, the parameters that prices depend on. Columns,
    by original ``model_id``: ``count``; ``unknown``, how many have an unknown charge or no
    alternative price and are left out of the sums; ``charged``, ``repriced`` and ``difference``.
    """
    settings = {OBJECTS["parameters"] + name: name for name in names}
    groups = spent.sums(["model_id", "kind", "status", "source", *settings])
    groups = groups[(groups["kind"] == "generation") & (groups["status"] == "completed")]
    amounts = [
        price(row["model_id"], {s: row[n] for n, s in settings.items() if not pd.isna(row[n])})
        if row["known"]  # of a group all charges are known or none: it has one source
        else None
        for row in groups.to_dict("records")
    ]
    parts = [None if amount is None else round(amount * PARTS) for amount in amounts]
    unit_prices = pd.Series(parts, index=groups.index, dtype="Int64")
    priced = unit_prices.notna()
    table = pd.DataFrame(
        {
            "model_id": groups["model_id"],
            "count": groups["count"],
            "unknown": groups["count"].where(~priced, 0),
            "charged": groups["charged"].where(priced, 0),
            "repriced": (unit_prices * groups["count"]).fillna(0),
        }
    )
    sums = table.groupby("model_id", dropna=False).sum().reset_index()
    warn(
        "reprice",
        "left out, because the charge or the other price is unknown",
        sums["unknown"].sum(),
    )
    sums["difference"] = sums["repriced"] - sums["charged"]
    for name in ("charged", "repriced", "difference"):
        sums[name] = credits(sums[name])
    sums = sums.sort_values("difference", kind="stable", ignore_index=True).astype(_REPRICED)
    title = "Difference in credits at the other price"
    return with_chart(sums, Chart(kind="bars", x="model_id", y="difference", title=title))


def _base_value(parameter: wire.Parameter) -> Any:
    """Return the value for the base price: the default, else the first allowed value."""
    if parameter.default is not None or not parameter.required:
        return parameter.default
    return parameter.enum[0] if parameter.enum else parameter.minimum


def _try_values(
    model: wire.Model, values: Mapping[str, Any], price: Price
) -> Iterator[tuple[str, Any, wire.Quote | None]]:
    for parameter in model.setting_parameters:
        for value in _values(parameter):
            yield parameter.name, value, price({**values, parameter.name: value}, {})
    media = {unit.medium for unit in (model.pricing.units if model.pricing else ()) if unit.medium}
    for name in sorted(media):
        for seconds in (0, 10, 60):
            yield name, f"{seconds} s", price(values, {name: float(seconds)})


def _values(parameter: wire.Parameter) -> list[Any]:
    if parameter.name == "seed" or parameter.max_items is not None:
        return []
    if parameter.enum:
        return list(parameter.enum)
    if parameter.type == "boolean":
        return [False, True]
    if parameter.type not in ("integer", "number"):
        return []
    low, high, default = parameter.minimum, parameter.maximum, parameter.default
    middle = (low + high) / 2 if low is not None and high is not None else None
    if middle is not None and parameter.type == "integer":
        middle = round(middle)
    return sorted({v for v in (low, middle, default, high) if isinstance(v, int | float)})
