"""The settings of generations as columns: one of its own for each parameter, with its own dtype."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

#: Columns of a table of generations that hold a JSON object -> what the names of theirs begin with.
OBJECTS = {"parameters": "parameters.", "media": "media."}
#: Rows that are read at a time: their objects are gone before the garbage collector has looked at
#: them twice, which halves the time.
_SLICE = 500

_decoder = msgspec.json.Decoder(list[dict[str, Any]])


def expand_json(table: pa.Table, column: str, names: Sequence[str] | None = None) -> pa.Table:
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
    >>> expand_json(table, "parameters")["parameters.seed"].to_pylist()
    [7, None, 8]
    """
    found = {name: _array(values) for name, values in _values(table[column], names).items()}
    for name, values in found.items():
        table = table.append_column(f"{OBJECTS[column]}{name}", values)
    return table


def _values(column: Any, names: Sequence[str] | None) -> dict[str, list[Any]]:
    """Return the values of each key, a slice of the rows after the other."""
    found: dict[str, list[Any]] = {name: [] for name in names or ()}
    for start in range(0, len(column), _SLICE):
        rows = _objects(pc.fill_null(column.slice(start, _SLICE), "{}").to_pylist())
        for name in dict.fromkeys(chain.from_iterable(rows)) if names is None else names:
            values = found.setdefault(name, [])
            values += [None] * (start - len(values))
            values += [row.get(name) for row in rows]
    for values in found.values():
        values += [None] * (len(column) - len(values))
    return found


def _objects(texts: list[str]) -> list[dict[str, Any]]:
    try:
        return _decoder.decode(f"[{','.join(texts)}]")
    except msgspec.MsgspecError:  # what is no object has no keys
        return [_object(json.loads(text)) for text in texts]


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
