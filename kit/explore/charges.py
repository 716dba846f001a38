"""What generations cost where the service does not say: from receipts, else from the price rule.

The column ``credits_source`` tells which. Only completed generations are estimated: whether a
failed one was given back is for the service to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kit import pricing, wire

Receipts = Mapping[str, Decimal]


def complete(table: pa.Table) -> bool:
    """Return whether the service said of every generation what it was charged."""
    return int(table["credits"].null_count) == 0


def fill_credits(table: pa.Table, receipts: Receipts, models: Mapping[str, wire.Model]) -> pa.Table:
    """Return generations with credits where receipts or, for estimates, models say them by id."""
    if complete(table) or not (receipts or models):
        return table
    cells = zip(*(table[name].to_pylist() for name in _NEEDED), strict=True)
    memory: dict[tuple[str, str], float | None] = {}
    found = [_charge(receipts, models, memory, *cell) for cell in cells]
    credits = pa.array([amount for amount, _ in found], pa.float64())
    values = {
        "credits": credits,
        "net": pc.subtract(credits, pc.fill_null(table["credits_refunded"], 0.0)),
        "credits_source": pa.array([source for _, source in found], pa.string()),
    }
    for name, column in values.items():
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def fill_tags(
    table: pa.Table, known: Mapping[str, Mapping[str, str]], column: str = "id"
) -> pa.Table:
    """Return rows with the tags of their starts, where the service keeps none.

    `column` is where the id of the generation stands.
    """
    if not known:
        return table
    rows = zip(table[column].to_pylist(), table["tags"].to_pylist(), strict=True)
    found = [
        text or (json.dumps(known[each], ensure_ascii=False) if each in known else None)
        for each, text in rows
    ]
    place = table.schema.get_field_index("tags")
    return table.set_column(place, "tags", pa.array(found, pa.string()))


_NEEDED = ("id", "credits", "status", "model_id", "parameters")


def _charge(
    receipts: Receipts,
    models: Mapping[str, wire.Model],
    memory: dict[tuple[str, str], float | None],
    generation_id: str,
    credits: float | None,
    status: str,
    model_id: str | None,
    parameters: str | None,
) -> tuple[float | None, str]:
    if credits is not None:
        return credits, "service"
    if generation_id in receipts:
        return float(receipts[generation_id]), "receipt"
    model = models.get(model_id or "")
    if model is None or status != "completed":
        return None, "none"
    key = (model.id, parameters or "{}")
    if key not in memory:
        memory[key] = _estimate(model, key[1])
    return memory[key], "none" if memory[key] is None else "estimate"


def _estimate(model: wire.Model, text: str) -> float | None:
    """Return the price of a request without its files.

    None where it depends on their length, or where the settings are none that the rule knows.
    """
    rule = model.pricing
    if rule is None:
        return None if model.credits_at_defaults is None else float(model.credits_at_defaults)
    if any(unit.medium for unit in rule.units):
        return None
    given: Any = json.loads(text)
    values = {p.name: p.default for p in model.setting_parameters}
    values |= {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else {}
    try:
        return float(pricing.price(rule, values).total)
    except ValueError:  # a text where a number was
        return None
