"""Frames: the models of a service as tables, ready for pandas, and any table as a sheet of Excel.

`kit.explore.schema` says what each column means. An empty answer has the same columns and dtypes as
a full one. Pandas is enough for it; what needs Arrow, which comes with an extra, is in `arrow`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from kit import wire
from kit.errors import BadRequestError, require_extra
from kit.explore import schema

#: Rows of a sheet below its head. Source: Microsoft, "Excel specifications and limits".
_ROWS = 1_048_575
#: A prompt that begins with an equals sign is no formula.
_TEXTS = {"options": {"strings_to_formulas": False, "strings_to_urls": False}}


def models(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate models, one row each, in the order given.

    Returns
    -------
    DataFrame
        Indexed by id, with the columns of `schema.MODELS`.
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


def write_excel(frame: pd.DataFrame, path: Path | str, **options: Any) -> None:
    """Write a frame to an ``.xlsx`` file.

    `**options`: those of ``DataFrame.to_excel``.

    Raises
    ------
    BadRequestError
        There are more rows than a sheet has.
    ConfigError
        The package that writes it is not installed; the message says how to get it.
    """
    if len(frame) > _ROWS:
        raise BadRequestError(
            f"a sheet of Excel has at most {_ROWS:,} rows, and these are {len(frame):,}: "
            "choose fewer, or export to .parquet"
        )
    plain = pd.DataFrame(frame)
    for name in plain.select_dtypes("datetimetz").columns:  # Excel knows no time zones
        plain[name] = plain[name].dt.tz_localize(None)
    if isinstance(plain.index, pd.DatetimeIndex):
        plain.index = plain.index.tz_localize(None)
    with require_extra("excel", "a file of Excel"):
        writer = pd.ExcelWriter(path, engine="xlsxwriter", engine_kwargs=_TEXTS)
    with writer:
        plain.to_excel(writer, **{"freeze_panes": (1, 0), **options})


def _table(
    rows: list[dict[str, Any]], table: schema.Table, *, index: str | None = "id"
) -> pd.DataFrame:
    kinds = {"id": "string", **table} if index else dict(table)
    frame = pd.DataFrame(rows, columns=list(kinds), dtype="object").astype(kinds)
    return frame.set_index(index) if index else frame


def _prompt(model: wire.Model) -> str:
    if not model.supports_prompt:
        return "no"
    return "required" if model.prompt_required else "optional"


def _names(parameters: Iterable[wire.Parameter]) -> str:
    return ", ".join(f"{p.name}*" if p.required else p.name for p in parameters)
