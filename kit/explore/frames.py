"""Frames: answers of the service as tables, ready for pandas.

`kit.explore.schema` says what each column means. An empty answer has the same columns and dtypes as
a full one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd

from kit import wire
from kit.explore import schema

if TYPE_CHECKING:
    import pyarrow as pa

_NO_RECEIPTS: Mapping[str, Decimal] = {}
_NO_MODELS: Mapping[str, wire.Model] = {}


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


def generations(
    items: Iterable[wire.Generation],
    receipts: Mapping[str, Decimal] = _NO_RECEIPTS,
    models: Mapping[str, wire.Model] = _NO_MODELS,
    *,
    parameters: bool = False,
    media: bool = False,
) -> pd.DataFrame:
    """Tabulate generations, one row each, in the order given.

    Parameters
    ----------
    receipts : mapping of str to Decimal
        What starts were charged, by id, for services whose generations do not say.
    models : mapping of str to Model
        For an estimate where there is no receipt either.
    parameters, media : bool
        Whether each parameter, each input file becomes a column too.

    Returns
    -------
    DataFrame
        Indexed by id, with the columns of `schema.GENERATIONS`. Addresses of inputs and outputs are
        left out: they are signed, and a saved notebook is no place for them.

    Examples
    --------
    >>> generations([wire.Generation(id="a", parameters={"seed": 7})], parameters=True)[
    ...     "parameters.seed"
    ... ].tolist()
    [7]
    """
    from kit.explore.charges import fill_credits
    from kit.explore.pages import make_table

    return _frame(fill_credits(make_table(items), receipts, models), parameters, media)


def pages(
    contents: Iterable[bytes],
    receipts: Mapping[str, Decimal] = _NO_RECEIPTS,
    models: Mapping[str, wire.Model] = _NO_MODELS,
    *,
    parameters: bool = False,
    media: bool = False,
) -> pd.DataFrame:
    """Tabulate generations straight from the bodies of answers, which is the fastest way.

    Parameters
    ----------
    contents : iterable of bytes
        Each a JSON array of generations.

    Raises
    ------
    ApiError
        A body is not what the API document describes.

    Examples
    --------
    >>> pages([b'[{"id": "a", "status": "completed", "creditsCharged": 0.05}]'])["net"].tolist()
    [0.05]
    """
    from kit.explore.charges import fill_credits
    from kit.explore.pages import read_table

    return _frame(fill_credits(read_table(contents), receipts, models), parameters, media)


def ledger(items: Iterable[wire.Entry]) -> pd.DataFrame:
    """Tabulate ledger entries, one row each, in the order given.

    Returns
    -------
    DataFrame
        Indexed by id, with the columns of `schema.LEDGER`; ``credits`` is signed.
    """
    rows = [
        {
            "id": item.id,
            "created_at": item.created_at,
            "kind": item.kind,
            "credits": _float(item.credits),
            "balance_after": _float(item.balance_after),
            "model_id": item.model_id,
            "generation_id": item.generation_id,
            "key_prefix": item.key_prefix,
            "note": _note(item.details or {}),
        }
        for item in items
    ]
    return _table(rows, schema.LEDGER)


def scripts(items: Iterable[wire.Script]) -> pd.DataFrame:
    """Tabulate scripts, one row each, in the order given.

    Returns
    -------
    DataFrame
        Indexed by id, with the columns of `schema.SCRIPTS`.

    Examples
    --------
    >>> scripts([wire.Script(id="s", content="Hello you")]).loc["s", "content"]
    'Hello you'
    """
    rows = [
        {
            "id": item.id,
            "batch_id": item.batch_id,
            "title": item.title,
            "content": item.content,
            "word_count": int(item.metrics.word_count) or len(item.content.split()),
            "duration_seconds": _seconds(item.metrics.duration),
            "created_at": item.created_at,
        }
        for item in items
    ]
    return _table(rows, schema.SCRIPTS)


def _frame(table: pa.Table, parameters: bool, media: bool) -> pd.DataFrame:
    from kit.explore import arrow
    from kit.explore.columns import expand_json

    for column, wanted in (("parameters", parameters), ("media", media)):
        table = expand_json(table, column) if wanted else table
    return arrow.frame(table)


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


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _note(details: Mapping[str, Any]) -> str | None:
    found = details.get("reason") or details.get("note")
    return None if found is None else str(found)


def _prompt(model: wire.Model) -> str:
    if not model.supports_prompt:
        return "no"
    return "required" if model.prompt_required else "optional"


def _names(parameters: Iterable[wire.Parameter]) -> str:
    return ", ".join(f"{p.name}*" if p.required else p.name for p in parameters)
