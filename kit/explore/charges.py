"""Charges and tags that the service does not report, filled in from this computer's records.

Charges come from receipts, else from the price rule; the column ``credits_source`` says which. Only
completed generations are estimated, because only the service knows the refunds of failed ones.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kit import pricing, wire
from kit.explore.frames import read_object

Receipts = Mapping[str, Decimal]


def is_complete(table: pa.Table) -> bool:
    """Return whether the service reported the charge of every generation."""
    return int(table["credits"].null_count) == 0


def subtract_refunds(credits: pa.Array, refunded: pa.Array) -> pa.Array:
    """Return charges minus known refunds, without the rounding errors of the subtraction."""
    return pc.round(pc.subtract(credits, pc.fill_null(refunded, 0.0)), 6)


def fill_credits(table: pa.Table, receipts: Receipts, models: Mapping[str, wire.Model]) -> pa.Table:
    """Fill in missing credits by id from receipts, else with estimates from models."""
    if is_complete(table) or not (receipts or models):
        return table

    estimate = functools.cache(lambda model, parameters: _estimate(models[model], parameters))

    def charge(row: Mapping[str, Any]) -> tuple[float | None, str]:
        if row["credits"] is not None:
            return row["credits"], "service"
        if row["id"] in receipts:
            return float(receipts[row["id"]]), "receipt"
        if row["model_id"] not in models or row["status"] != "completed":
            return None, "none"
        guess = estimate(row["model_id"], row["parameters"])
        return guess, "none" if guess is None else "estimate"

    rows = table.select(["id", "credits", "status", "model_id", "parameters"])
    found = list(map(charge, rows.to_pylist()))
    credits = pa.array([amount for amount, _ in found], pa.float64())
    values = {
        "credits": credits,
        "net": subtract_refunds(credits, table["credits_refunded"]),
        "credits_source": pa.array([source for _, source in found], pa.string()),
    }
    for name, column in values.items():
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def fill_tags(
    table: pa.Table, tags: Mapping[str, Mapping[str, str]], column: str = "id"
) -> pa.Table:
    """Fill in the tags of starts if the service keeps none.

    `column` has the ids of the generations.
    """
    if not tags:
        return table
    rows = zip(table[column].to_pylist(), table["tags"].to_pylist(), strict=True)
    found = [
        text or (json.dumps(tags[each], ensure_ascii=False) if each in tags else None)
        for each, text in rows
    ]
    index = table.schema.get_field_index("tags")
    return table.set_column(index, "tags", pa.array(found, pa.string()))


def _estimate(model: wire.Model, parameters: str | None) -> float | None:
    """Return the price of a request without its files.

    None if it depends on their length, or if the rule does not cover the settings.
    """
    if (rule := model.pricing) is None:
        return None if model.credits_at_defaults is None else float(model.credits_at_defaults)
    if any(unit.medium for unit in rule.units):
        return None
    values = {p.name: p.default for p in model.setting_parameters}
    try:
        return float(pricing.price(rule, {**values, **read_object(parameters)}).total)
    except ValueError:  # a text instead of a number
        return None
