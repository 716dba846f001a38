"""Arrow tables and their conversion to dataframes.

The columns are those of `kit.explore.frames`; the store keeps the same ones on disk. Text is not
copied cell by cell: a text column of a frame is the Arrow column itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kit.errors import BadRequestError
from kit.explore import frames
from kit.explore.frames import OBJECTS, split_key
from kit.parameters import suggest

if TYPE_CHECKING:
    import pandas as pd

TIME = pa.timestamp("us", tz="UTC")
#: Rows parsed at a time: their objects are freed before the garbage collector has scanned them
#: twice, which halves the time.
_ROWS_PER_SLICE = 500

_decoder = msgspec.json.Decoder(list[dict[str, Any]])

#: dtype of a frame -> type in a table.
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "float64": pa.float64(),
    "Int64": pa.int64(),
    "bool": pa.bool_(),
    frames.TIME: TIME,
}
GENERATIONS, USAGE = (
    pa.schema([("id", pa.string()), *((name, _TYPES[kind]) for name, kind in table.items())])
    for table in (frames.GENERATIONS, frames.LEDGER)
)


def frame(table: pa.Table, *, index: str | None = "id") -> pd.DataFrame:
    """Convert a table to a frame: text stays in Arrow, integers may be missing.

    `index`: the column that becomes the index, if there is one.
    """
    import pandas as pd

    text = pd.StringDtype("pyarrow")
    kinds: dict[pa.DataType, Any] = {
        pa.string(): text,
        pa.large_string(): text,
        pa.int64(): pd.Int64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    found: pd.DataFrame = _convert_types(table).to_pandas(
        types_mapper=kinds.get, split_blocks=True, ignore_metadata=True
    )
    return found.set_index(index) if index in found.columns else found


def _convert_types(table: pa.Table) -> pa.Table:
    """Convert a table to types that frames have: sums of a database are decimals."""
    for index, field in enumerate(table.schema):
        kind = pa.string() if pa.types.is_null(field.type) else None
        if pa.types.is_decimal(field.type):
            kind = pa.float64()
            if field.type.scale == 0 and (pc.max(pc.abs(table.column(index))).as_py() or 0) < 2**63:
                kind = pa.int64()
        if kind is not None:
            table = table.set_column(index, field.name, table.column(index).cast(kind))
    return table


class Columns:
    """Columns of generations.

    Raises `BadRequestError` if a column is unknown.

    `names`: columns of the frame, in order; by default all.
    `parameters`, `media`: whether to add a column for each parameter, each input file.
    """

    def __init__(
        self, names: Sequence[str] | None = None, parameters: bool = False, media: bool = False
    ) -> None:
        self.names = [*dict.fromkeys(() if names is None else names)] or [*frames.GENERATIONS]
        self._expanded = {"parameters": parameters, "media": media, "tags": False}
        self._keys: dict[str, list[str]] = {column: [] for column in OBJECTS}
        chosen = dict.fromkeys(map(self._column, self.names))
        self.stored = [*chosen, *(c for c, w in self._expanded.items() if w and c not in chosen)]

    @property
    def text(self) -> str:
        """The columns of a ``select``, including those of the sort order."""
        return ", ".join(dict.fromkeys(["id", *self.stored, "created_at"]))

    def frame(self, table: pa.Table) -> pd.DataFrame:
        """Convert a table of these columns to a frame."""
        table = table.cast(pa.schema([GENERATIONS.field(n) for n in table.column_names]))
        added: list[str] = []
        for column, keys in self._keys.items():
            if keys or self._expanded[column]:
                before = len(table.column_names)
                table = expand_json(table, column, None if self._expanded[column] else keys)
                added += table.column_names[before:]
        return frame(table.select([*dict.fromkeys(["id", *self.names, *added])]))

    def _column(self, name: str) -> str:
        """Return the column of the store that contains a column of the frame."""
        if name in frames.GENERATIONS:
            return name
        column, key = split_key(name)
        if not column:
            known = [*frames.GENERATIONS, *(f"{prefix}NAME" for prefix in OBJECTS.values())]
            raise BadRequestError(f"there is no column {name!r}{suggest(name, known)}")
        self._keys[column].append(key)
        return column


def expand_json(table: pa.Table, column: str, names: Sequence[str] | None = None) -> pa.Table:
    """Return a table with a column for each key of a column of JSON objects, after the others.

    `column`: one of `OBJECTS`.
    `names`: the keys to add, by default all. A key that no row has becomes a column of missing
    values.

    Integers stay integers; a key whose values have several types is text.
    """
    for name, values in _values(table[column], names).items():
        array = pa.array(values, pa.int64()) if column == "media" else _array(values)
        table = table.append_column(f"{OBJECTS[column]}{name}", array)
    return table


def _values(column: Any, names: Sequence[str] | None) -> dict[str, list[Any]]:
    """Return the values of each key, parsed in slices of the rows."""
    found: dict[str, list[Any]] = {name: [] for name in names or ()}
    for start in range(0, len(column), _ROWS_PER_SLICE):
        rows = _objects(pc.fill_null(column.slice(start, _ROWS_PER_SLICE), "{}").to_pylist())
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
    except msgspec.MsgspecError:  # other values than objects have no keys
        return [found if isinstance(found := json.loads(text), dict) else {} for text in texts]


def _array(values: list[Any]) -> Any:
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) <= 1 or kinds == {int, float}:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values])
