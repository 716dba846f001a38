"""Frames: the models of a service as tables, ready for pandas.

`kit.explore.schema` says what each column means. An empty answer has the same columns and dtypes as
a full one.
"""

from __future__ import annotations

from collections.abc import Iterable
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
            **{name: getattr(model, name, None) for name in ("id", *schema.MODELS)},
            "prompt": _prompt(model),
            "media": _names(model.media_parameters),
            "settings": _names(model.setting_parameters),
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
            **{name: getattr(parameter, name, None) for name in schema.PARAMETERS},
            "model_id": model.id,
            "choices": ", ".join(map(str, parameter.enum)) if parameter.enum else None,
        }
        for model in items
        for parameter in model.parameters
    ]
    return _table(rows, schema.PARAMETERS, index=None)


def _table(
    rows: list[dict[str, Any]], table: schema.Table, *, index: str | None = "id"
) -> pd.DataFrame:
    kinds = {"id": "string", **table} if index else dict(table)
    values = {name: pd.Series([row[name] for row in rows], dtype="object") for name in kinds}
    frame = pd.DataFrame(values, columns=list(kinds)).astype(kinds)
    return frame.set_index(index) if index else frame


def _prompt(model: wire.Model) -> str:
    if not model.supports_prompt:
        return "no"
    return "required" if model.prompt_required else "optional"


def _names(parameters: Iterable[wire.Parameter]) -> str:
    return ", ".join(f"{p.name}*" if p.required else p.name for p in parameters)
