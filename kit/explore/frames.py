"""The columns of all dataframes, models as dataframes, and export to Excel.

Each column has a name, a dtype and a meaning. Empty frames have the same columns and dtypes as
others, under pandas 2 and 3. Credits are exact in the API and the ledger, and float64 in frames:
round sums to three decimals to compare them with the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kit import wire
from kit.errors import BadRequestError, require_extra

if TYPE_CHECKING:
    import pandas as pd

#: Times in all frames.
TIME = "datetime64[us, UTC]"
#: Integer parts of a credit used for sums; other services charge in finer steps than ours.
PARTS = 1_000_000


#: Column -> dtype, as named by pandas: texts are ``string``, integers with missing values
#: ``Int64``.
Table: TypeAlias = Mapping[str, str]

#: One row per model, indexed by id.
MODELS: Table = {
    "title": "string",  # display name
    "asset_type": "string",  # image or video
    "category": "string",  # category of the catalog
    "credits_from": "float64",  # the least that a valid request costs, in credits
    "credits_at_defaults": "float64",  # a request with every default, in credits
    "estimated_credits": "float64",  # the mean of recent charges, in credits
    "prompt": "string",  # required, optional or no
    "media": "string",  # names of media parameters, required ones with a star
    "settings": "string",  # names of settings, required ones with a star
    "description": "string",  # what it can and cannot do
}

#: One row per parameter, input files first; numbered.
PARAMETERS: Table = {
    "model_id": "string",  # model that takes it
    "name": "string",  # keyword in a request
    "type": "string",  # type of its value
    "required": "bool",  # whether a request must have it
    "default": "string",  # value when left out, as text
    "choices": "string",  # allowed values, joined by commas
    "minimum": "float64",  # lower bound
    "maximum": "float64",  # upper bound
    "max_items": "Int64",  # longest list; missing where it is no list
    "media": "bool",  # whether it takes a file
    "description": "string",  # what it does, with its unit
}

#: One row per generation, indexed by id. On request also ``parameters.NAME``, each with the dtype
#: of its values, ``media.NAME``, the number of files (Int64), and ``tag.KEY``, if named.
GENERATIONS: Table = {
    "status": "string",  # processing, completed, failed or canceled
    "model_id": "string",  # model that made it
    "asset_type": "string",  # image or video
    "generation_type": "string",  # text-to-image, image-to-video, ...
    "prompt": "string",  # the prompt
    "credits": "float64",  # charged at the start, in credits
    "credits_refunded": "float64",  # refunded, in credits; NaN if the service does not report it
    "net": "float64",  # charged minus refunded, in credits
    "credits_source": "string",  # service, receipt, estimate or none
    "seconds": "float64",  # from the start to the end
    "render_seconds": "float64",  # from its start by a worker to the end
    "width": "Int64",  # of the output, in pixels
    "height": "Int64",  # of the output, in pixels
    "duration_seconds": "float64",  # length of an output video
    "size_bytes": "Int64",  # of the output file
    "content_type": "string",  # of the output file
    "parameters": "string",  # settings as a JSON object
    "media": "string",  # JSON object: media parameter -> number of files
    "tags": "string",  # tags as a JSON object
    "error": "string",  # error message
    "error_code": "string",  # machine-readable error code
    "created_at": TIME,  # when it was started
    "completed_at": TIME,  # when it ended; missing while it runs
}

#: One row per entry of the ledger, indexed by id. The credits add up to the balance.
LEDGER: Table = {
    "created_at": TIME,  # when it was written
    "kind": "string",  # grant, generation, title, script or refund
    "credits": "float64",  # credits added; charges are negative
    "balance_after": "float64",  # balance after the entry, in credits
    "model_id": "string",  # model of the generation
    "generation_id": "string",  # generation that was paid or refunded
    "key_prefix": "string",  # beginning of the key that paid
    "tags": "string",  # tags of the generation as a JSON object
    "note": "string",  # reason of a refund, note of a grant
}

#: Columns of generations with a JSON object -> the prefix of the column names of its keys.
OBJECTS = {"parameters": "parameters.", "media": "media.", "tags": "tag."}
#: Parameters without the seed, an extra column in stores: it has few distinct texts, so that
#: grouping is fast.
SETTINGS = "settings"


def split_key(name: str) -> tuple[str, str]:
    """Return the column of JSON objects and the key that a name stands for; empty for others."""
    for column, prefix in OBJECTS.items():
        if name.startswith(prefix) and name != prefix:
            return column, name.removeprefix(prefix)
    return "", ""


def grouping_column(column: str, key: str) -> str:
    """Return the store's column with the fewest distinct texts that contains a key."""
    return SETTINGS if column == "parameters" and key != "seed" else column


def pointer(key: str) -> str:
    """Return the JSON pointer of a key."""
    return f"/{key.replace('~', '~0').replace('/', '~1')}"


def read_object(text: str | None) -> dict[str, Any]:
    """Return the values of a JSON object that are not null; nothing for other values."""
    found = json.loads(text or "{}")
    return {k: v for k, v in found.items() if v is not None} if isinstance(found, dict) else {}


#: Maximum of rows in a sheet without header. Source: Microsoft, "Excel specifications and limits".
_MAX_ROWS = 1_048_575
#: A prompt that begins with an equals sign must not become a formula.
_EXCEL_OPTIONS = {"options": {"strings_to_formulas": False, "strings_to_urls": False}}


def models(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate models, one row each, indexed by id, with the columns of `MODELS`."""
    rows = [
        {
            **{name: getattr(model, name, None) for name in ("id", *MODELS)},
            "prompt": ("optional", "required")[model.prompt_required]
            if model.supports_prompt
            else "no",
            "media": _names(model.media_parameters),
            "settings": _names(model.setting_parameters),
        }
        for model in items
    ]
    return _table(rows, MODELS)


def parameters(items: Iterable[wire.Model]) -> pd.DataFrame:
    """Tabulate parameters, one row each, media first, with the columns of `PARAMETERS`."""
    rows = [
        {
            **{name: getattr(parameter, name, None) for name in PARAMETERS},
            "model_id": model.id,
            "choices": ", ".join(map(str, parameter.enum)) if parameter.enum else None,
        }
        for model in items
        for parameter in model.parameters
    ]
    return _table(rows, PARAMETERS, index=None)


def write_excel(
    frame: pd.DataFrame, path: Path | str | pd.ExcelWriter[Any], **options: Any
) -> None:
    """Write a frame to an ``.xlsx`` file, or as a sheet of an open ``pandas.ExcelWriter``.

    `**options`: those of ``DataFrame.to_excel``.

    Raises `BadRequestError` for more rows than a sheet can have, and `ConfigError` without the
    package that writes it.
    """
    import pandas as pd

    if len(frame) > _MAX_ROWS:
        raise BadRequestError(
            f"a sheet of Excel has at most {_MAX_ROWS:,} rows, and these are {len(frame):,}: "
            "choose fewer, or export to .parquet"
        )
    plain = pd.DataFrame(frame)
    for name in plain.select_dtypes("datetimetz").columns:  # Excel has no time zones
        plain[name] = plain[name].dt.tz_localize(None)
    plain = plain.set_axis(_strip_zones(plain.index))
    plain = plain.set_axis(_strip_zones(plain.columns), axis="columns")
    options = {"freeze_panes": (1, 0), **options}
    if isinstance(path, pd.ExcelWriter):
        plain.to_excel(path, **options)
        return
    with require_extra("excel", "a file of Excel"):
        writer = pd.ExcelWriter(path, engine="xlsxwriter", engine_kwargs=_EXCEL_OPTIONS)
    with writer:
        plain.to_excel(writer, **options)


def _strip_zones(labels: pd.Index[Any]) -> pd.Index[Any]:
    import pandas as pd

    if isinstance(labels, pd.DatetimeIndex):  # `map` of pandas 2 would restore the zone
        return labels.tz_localize(None)
    return labels.map(_strip_zone)


def _strip_zone(label: Any) -> Any:
    """Return a label, or each part of one, without a time zone."""
    if isinstance(label, tuple):
        return tuple(map(_strip_zone, label))
    return label.replace(tzinfo=None) if isinstance(label, datetime) else label


def _table(rows: list[dict[str, Any]], table: Table, *, index: str | None = "id") -> pd.DataFrame:
    import pandas as pd

    kinds = {"id": "string", **table} if index else dict(table)
    frame = pd.DataFrame(rows, columns=list(kinds), dtype="object").astype(kinds)
    return frame.set_index(index) if index else frame


def _names(parameters: Iterable[wire.Parameter]) -> str:
    return ", ".join(f"{p.name}*" if p.required else p.name for p in parameters)
