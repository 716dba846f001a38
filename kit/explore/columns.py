"""Columns that are asked for, in the terms of the store and of the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kit.errors import BadRequestError
from kit.explore import arrow, schema
from kit.explore.settings import OBJECTS, expand_json
from kit.parameters import suggest

if TYPE_CHECKING:
    import pandas as pd


class Columns:
    """Columns of generations.

    Parameters
    ----------
    names : sequence of str, optional
        Those of the frame, in its order; all when left out.
    parameters, media : bool
        Whether each parameter, each input file becomes a column after them.

    Raises
    ------
    BadRequestError
        There is no such column.

    Examples
    --------
    >>> Columns(["net", "parameters.size"]).stored
    ['net', 'parameters']
    """

    def __init__(
        self, names: Sequence[str] | None = None, parameters: bool = False, media: bool = False
    ) -> None:
        self._asked = names
        self._whole = {"parameters": parameters, "media": media}
        self._keys: dict[str, list[str]] = {column: [] for column in OBJECTS}
        chosen = dict.fromkeys(map(self._column, names or schema.GENERATIONS))
        self.stored = [*chosen, *(c for c, w in self._whole.items() if w and c not in chosen)]

    @property
    def text(self) -> str:
        """The columns for a ``select``, which needs the order's as well."""
        return ", ".join(dict.fromkeys(["id", *self.stored, "created_at"]))

    def frame(self, table: pa.Table) -> pd.DataFrame:
        """Return a table of these columns as a frame."""
        table = table.cast(pa.schema([arrow.GENERATIONS.field(n) for n in table.column_names]))
        added: list[str] = []
        for column, keys in self._keys.items():
            if keys or self._whole[column]:
                before = len(table.column_names)
                table = expand_json(table, column, None if self._whole[column] else keys)
                added += table.column_names[before:]
        names = [*(self._asked or schema.GENERATIONS)]
        return arrow.frame(table.select([*dict.fromkeys(["id", *names, *added])]))

    def _column(self, name: str) -> str:
        """Return the column of the store that a column of the frame comes from."""
        if name in schema.GENERATIONS:
            return name
        column, _, key = name.partition(".")
        if column not in OBJECTS or not key:
            known = [*schema.GENERATIONS, "parameters.NAME", "media.NAME"]
            raise BadRequestError(f"there is no column {name!r}{suggest(name, known)}")
        self._keys[column].append(key)
        return column
