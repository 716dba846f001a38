"""Arrow tables: what a frame is before it is one, and how it becomes one.

The columns are those of `kit.explore.schema`; the store keeps the same ones on disk. Nothing is
copied cell by cell: a column of texts in a frame is the Arrow column itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kit.explore import schema

if TYPE_CHECKING:
    import pandas as pd

TIME = pa.timestamp("us", tz="UTC")

#: dtype of a frame -> type in a table.
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "float64": pa.float64(),
    "Int64": pa.int64(),
    "bool": pa.bool_(),
    schema.TIME: TIME,
}


def frame_schema(table: schema.Table) -> pa.Schema:
    """Return the Arrow schema of a frame, its id first.

    Examples
    --------
    >>> frame_schema(schema.LEDGER).field("credits").type
    DataType(double)
    """
    fields = [("id", pa.string()), *((name, _TYPES[dtype]) for name, dtype in table.items())]
    return pa.schema(fields)


GENERATIONS = frame_schema(schema.GENERATIONS)
USAGE = frame_schema(schema.LEDGER)


def frame(table: pa.Table, *, index: str | None = "id") -> pd.DataFrame:
    """Return a table as a frame: texts stay in Arrow, whole numbers may be missing.

    Parameters
    ----------
    index : str or None
        The column that becomes the index, where there is one.
    """
    import pandas as pd

    text = pd.StringDtype("pyarrow")
    kinds: dict[pa.DataType, Any] = {
        pa.string(): text,
        pa.large_string(): text,
        pa.int64(): pd.Int64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    found: pd.DataFrame = _plain(table).to_pandas(
        types_mapper=kinds.get, split_blocks=True, ignore_metadata=True
    )
    return found.set_index(index) if index in found.columns else found


def _plain(table: pa.Table) -> pa.Table:
    """Return a table of types that a frame has: a database adds up to decimals."""
    for place, field in enumerate(table.schema):
        kind = pa.string() if pa.types.is_null(field.type) else None
        if pa.types.is_decimal(field.type):
            kind = pa.int64() if field.type.scale == 0 else pa.float64()
        if kind is not None:
            table = table.set_column(place, field.name, table.column(place).cast(kind))
    return table
