"""Frames: the models of a service as tables, ready for pandas.

`kit.explore.schema` says what each column means. An empty answer has the same columns and dtypes as
a full one.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pandas as pd

from kit import wire
from kit.explore import schema


def models(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate models, one row each, in the order given.

    Returns
    -------
    DataFrame
        Indexed by id, with the columns of `schema.MODELS`.

    Examples
    --------
    >>> models([wire.Model(id="poster", prompt_required=True)]).loc["poster", "prompt"]
    'required'
    """
    rows = [
        {
            "id": model.id,
            "title": model.title,
            "asset_type": model.asset_type,
            "category": model.category,
            "credits_from": _float(model.credits_from),
            "credits_at_defaults": _float(model.credits_at_defaults),
            "estimated_credits": _float(model.estimated_credits),
            "prompt": _prompt(model),
            "media": _names(model.media_parameters),
            "settings": _names(model.setting_parameters),
            "description": model.description,
        }
        for model in items
    ]
    return _table(rows, schema.MODELS)


def parameters(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate the parameters of models, one row each, media first.

    Returns
    -------
    DataFrame
        With the columns of `schema.PARAMETERS`.
    """
    rows = [
        {
            "model_id": model.id,
            "name": parameter.name,
            "type": parameter.type,
            "required": parameter.required,
            "default": parameter.default,
            "choices": ", ".join(map(str, parameter.enum)) if parameter.enum else None,
            "minimum": parameter.minimum,
            "maximum": parameter.maximum,
            "max_items": parameter.max_items,
            "media": parameter.media,
            "description": parameter.description,
        }
        for model in items
        for parameter in model.parameters
    ]
    return _table(rows, schema.PARAMETERS, index=None)


def _table(
    rows: list[dict[str, Any]], table: schema.Table, *, index: str | None = "id"
) -> pd.DataFrame:
    columns = schema.dtypes(table)
    names = [*([index] if index else []), *columns]
    values = {name: pd.Series([row.get(name) for row in rows], dtype="object") for name in names}
    frame = pd.DataFrame(values, columns=names).astype(
        {"id": "string", **columns} if index else columns
    )
    return frame.set_index(index) if index else frame


def _float(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _prompt(model: wire.Model) -> str:
    if not model.supports_prompt:
        return "no"
    return "required" if model.prompt_required else "optional"


def _names(parameters: Iterable[wire.Parameter]) -> str:
    return ", ".join(f"{p.name}*" if p.required else p.name for p in parameters)
