"""The settings of generations as columns: one of its own for each parameter, with its own dtype."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

#: Columns of a table of generations that hold a JSON object -> what the names of theirs begin with.
OBJECTS = {"parameters": "parameters.", "media": "media."}


def expanded(table: pa.Table, column: str, names: Sequence[str] | None = None) -> pa.Table:
    """Return a table with a column for each key of a column of JSON objects, after the others.

    Parameters
    ----------
    column : str
        ``parameters`` or ``media``.
    names : sequence of str, optional
        Keys that are wanted; all of them when left out. One that no row has is a column of
        missing values.

    Returns
    -------
    pyarrow.Table
        Whole numbers stay whole; a key whose values have several types is text.

    Examples
    --------
    >>> table = pa.table({"parameters": ['{"seed": 7}', None, '{"seed": 8, "style": "ink"}']})
    >>> expanded(table, "parameters")["parameters.seed"].to_pylist()
    [7, None, 8]
    """
    texts = pc.fill_null(table[column].combine_chunks(), "{}")
    found = _columns(texts)
    if names is not None:
        found = {name: found.get(name, pa.nulls(len(table))) for name in names}
    for name, values in found.items():
        table = table.append_column(f"{OBJECTS[column]}{name}", values)
    return table


def _columns(texts: pa.Array) -> dict[str, Any]:
    if len(texts) == 0 or set(pc.unique(texts).slice(0, 2).to_pylist()) == {"{}"}:
        return {}
    lines = "\n".join(texts.to_pylist()).encode()
    # one block: a column has one type in all of it, or there is an error to fall back from
    read = pa.json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    try:
        known = pa.json.read_json(io.BytesIO(lines), read_options=read)
        if known.num_rows == len(texts) and not any(map(_guessed, known.schema.types)):
            return {name: known[name] for name in known.column_names}
    except pa.ArrowInvalid:
        pass
    return _one_by_one(texts)


def _guessed(kind: pa.DataType) -> bool:
    """Whether a text was taken for a time."""
    return bool(pa.types.is_temporal(kind))


def _one_by_one(texts: pa.Array) -> dict[str, Any]:
    rows = [_object(json.loads(text)) for text in texts.to_pylist()]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _array([row.get(name) for row in rows]) for name in names}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _array(values: list[Any]) -> Any:
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) <= 1 or kinds == {int, float}:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values])
