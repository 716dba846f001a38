"""Frames: answers of the service as tables, ready for pandas.

Each table is a dictionary of columns and dtypes in the order in which one decides: what it is, what
it costs, how it went. An empty answer has the same columns and dtypes as a full one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import pandas as pd

from kit import wire

_TIME = "datetime64[us, UTC]"

#: Credits are exact on the wire and in the ledger; in a frame they are float64, for arithmetic.
MODELS = {
    "title": "string",
    "asset_type": "string",
    "category": "string",
    "credits_from": "float64",
    "credits_at_defaults": "float64",
    "estimated_credits": "float64",
    "prompt": "string",
    "media": "string",
    "settings": "string",
    "description": "string",
}
PARAMETERS = {
    "model_id": "string",
    "name": "string",
    "type": "string",
    "required": "bool",
    "default": "object",
    "choices": "string",
    "minimum": "float64",
    "maximum": "float64",
    "max_items": "Int64",
    "media": "bool",
    "description": "string",
}
GENERATIONS = {
    "status": "string",
    "model_id": "string",
    "asset_type": "string",
    "prompt": "string",
    "credits": "float64",
    "credits_refunded": "float64",
    "credits_source": "string",
    "seconds": "float64",
    "width": "Int64",
    "height": "Int64",
    "duration_seconds": "float64",
    "parameters": "object",
    "error": "string",
    "created_at": _TIME,
    "completed_at": _TIME,
}
LEDGER = {
    "created_at": _TIME,
    "kind": "string",
    "credits": "float64",
    "balance_after": "float64",
    "model_id": "string",
    "generation_id": "string",
    "key_prefix": "string",
}

_NONE: Mapping[str, Decimal] = {}


def models(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate models, one row each, in the order given.

    Returns
    -------
    DataFrame
        Indexed by id, with the dtypes of `MODELS`. ``prompt`` is ``required``, ``optional`` or
        ``no``; ``media`` and ``settings`` list parameter names, required ones with a star.
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
    return _table(rows, MODELS)


def parameters(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate the parameters of models, one row each, media first.

    Returns
    -------
    DataFrame
        With the dtypes of `PARAMETERS`; ``choices`` joins the allowed values by commas.
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
    return _table(rows, PARAMETERS, index=None)


def generations(
    items: Iterable[wire.Generation], receipts: Mapping[str, Decimal] = _NONE
) -> pd.DataFrame:
    """Tabulate generations, one row each, in the order given.

    Parameters
    ----------
    receipts : mapping of str to Decimal
        What starts were charged, by id, for services whose generations do not say.

    Returns
    -------
    DataFrame
        Indexed by id, with the dtypes of `GENERATIONS`. ``credits`` is what was charged less what
        came back, NaN where nobody knows; ``credits_source`` is ``service``, ``receipt`` or
        ``unknown``. ``seconds`` is the time from the order to its end. Addresses of outputs are
        left out: they are signed, and a saved notebook is no place for them.
    """
    return _table([_generation(item, receipts) for item in items], GENERATIONS)


def ledger(items: Iterable[wire.Entry]) -> pd.DataFrame:
    """Tabulate ledger entries, one row each, in the order given.

    Returns
    -------
    DataFrame
        Indexed by id, with the dtypes of `LEDGER`; ``credits`` is signed.
    """
    rows = [item.model_dump(include={"id", *LEDGER}) for item in items]
    for row in rows:
        row.update(credits=_float(row["credits"]), balance_after=_float(row["balance_after"]))
    return _table(rows, LEDGER)


def _generation(item: wire.Generation, receipts: Mapping[str, Decimal]) -> dict[str, Any]:
    charged, source = item.credits_charged, "service"
    if charged is None:
        charged = receipts.get(item.id)
        source = "unknown" if charged is None else "receipt"
    net = None if charged is None else charged - (item.credits_refunded or 0)
    facts = item.output or wire.Output()
    ended = item.completed_at or (item.updated_at if item.finished else None)
    return {
        "id": item.id,
        "status": item.state,
        "model_id": item.model_id,
        "asset_type": item.asset_type,
        "prompt": item.prompt,
        "credits": _float(net),
        "credits_refunded": _float(item.credits_refunded),
        "credits_source": source,
        "seconds": (ended - item.created_at).total_seconds() if ended and item.created_at else None,
        "width": facts.width,
        "height": facts.height,
        "duration_seconds": facts.duration_seconds,
        "parameters": item.parameters,
        "error": item.error,
        "created_at": item.created_at,
        "completed_at": ended,
    }


def _table(
    rows: list[dict[str, Any]], columns: Mapping[str, str], *, index: str | None = "id"
) -> pd.DataFrame:
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
