"""The archive: a synced history as a frame, as SQL and as files.

DuckDB reads the Parquet parts where they lie, in memory of its own: any number of notebooks can ask
the same store at once. Nothing here talks to the service.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import pyarrow as pa

from kit.errors import BadRequestError, KitError
from kit.explore import arrow
from kit.explore.columns import Columns
from kit.explore.filters import HistoryFilter
from kit.explore.store import Store

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

ALL = HistoryFilter()
_FORMATS = {
    ".parquet": "(format parquet, compression zstd)",
    ".csv": "(format csv, header)",
}
_NEWEST_FIRST = "order by created_at desc nulls last, id desc"
#: How often a reader looks again when another notebook has just merged what it was to read.
_ATTEMPTS = 5


class Archive:
    """What the store of one account holds, as of its last sync.

    Examples
    --------
    >>> import tempfile
    >>> archive = Archive(Store(Path(tempfile.mkdtemp())))
    >>> archive.sql("select count(*) as n from generations")["n"].tolist()
    [0]
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def __repr__(self) -> str:
        return f"<Archive of {sum(self.store.manifest().parts.values()):,} generations>"

    def frame(
        self,
        choice: HistoryFilter = ALL,
        columns: Sequence[str] | None = None,
        *,
        parameters: bool = False,
        media: bool = False,
    ) -> pd.DataFrame:
        """Return generations as a frame, newest first; see `kit.explore.schema.GENERATIONS`.

        Parameters
        ----------
        columns : sequence of str, optional
            Only these, which reads no others; ``parameters.NAME`` and ``media.NAME`` as well.
        parameters, media : bool
            Whether each parameter, each input file becomes a column too.

        Raises
        ------
        BadRequestError
            There is no such column.
        """
        wanted = Columns(columns, parameters, media)
        query = f"select {wanted.text} from generations {choice.where} {_NEWEST_FIRST}"  # noqa: S608

        def find(base: duckdb.DuckDBPyConnection) -> pa.Table:
            return base.sql(query, params=choice.values).to_arrow_table()

        return wanted.frame(self._ask(find))

    def sql(self, query: str, **tables: Any) -> pd.DataFrame:
        """Return what a query of DuckDB's SQL finds; the table is called ``generations``.

        A parameter is ``parameters->>'resolution'``; the columns are those of
        `kit.explore.schema.GENERATIONS` and ``id``.

        Parameters
        ----------
        **tables : DataFrame or pyarrow.Table
            More tables, by name, to join.

        Raises
        ------
        BadRequestError
            The query is wrong; the message is DuckDB's.
        """

        def find(base: duckdb.DuckDBPyConnection) -> pa.Table:
            for name, table in tables.items():
                base.register(name, table)
            found = base.sql(query)
            return pa.table({}) if found is None else found.to_arrow_table()

        return arrow.frame(self._ask(find), index=None)

    def export(
        self, path: Path | str, choice: HistoryFilter = ALL, columns: Sequence[str] | None = None
    ) -> Path:
        """Write generations to a ``.parquet`` or ``.csv`` file and return its path.

        Raises
        ------
        BadRequestError
            The file is to be of another kind or in no folder, or there is no such column.
        """
        target = Path(path).expanduser()
        how = _FORMATS.get(target.suffix.lower())
        if how is None:
            raise BadRequestError(f"export to a .parquet or a .csv file, not {target.name!r}")
        if not target.parent.is_dir():
            raise BadRequestError(f"there is no folder {str(target.parent)!r} to export to")
        names = ", ".join(Columns(columns).stored)
        query = f"select id, {names} from generations {choice.where} {_NEWEST_FIRST}"  # noqa: S608
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        copy = f"copy ({query}) to '{_quoted(draft)}' {how}"
        try:
            self._ask(lambda base: base.execute(copy, choice.values))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        return target

    def paid(self, model_id: str, count: int) -> list[dict[str, Any]]:
        """Return what the newest generations of a model were charged, the oldest of them first.

        Only charges that the service or a receipt named; estimates are none.

        Returns
        -------
        list of dict
            ``id``, ``credits`` (float), ``parameters`` and ``media`` (JSON texts or None).
        """
        known = "model_id = ? and credits_source in ('service', 'receipt')"
        query = (
            f"select id, credits, parameters, media from generations where {known} "  # noqa: S608
            f"{_NEWEST_FIRST} limit ?"
        )

        def find(base: duckdb.DuckDBPyConnection) -> pa.Table:
            return base.sql(query, params=[model_id, count]).to_arrow_table()

        found: list[dict[str, Any]] = self._ask(find).to_pylist()
        return found[::-1]

    def files(self) -> list[str]:
        """Return the Parquet files, for Dask, Polars or a DuckDB of one's own.

        Source: `kit.explore.schema` for the columns; ``dask.dataframe.read_parquet(files)`` reads
        them on a cluster that sees the same disk.
        """
        return [str(path) for path in self.store.files()]

    def _ask(self, find: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run a query on the files of the moment; start over where they were merged meanwhile."""
        for attempt in range(_ATTEMPTS):
            try:
                with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as base:
                    base.execute("set timezone = 'UTC'")
                    _attach(base, self.files())
                    return find(base)
            except duckdb.IOException as error:
                if attempt == _ATTEMPTS - 1:
                    raise KitError(f"the local history cannot be read: {error}") from None
            except duckdb.Error as error:
                raise BadRequestError(f"the query cannot be answered: {error}") from None
        raise AssertionError  # pragma: no cover


def _attach(base: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    if not files:
        base.register("generations", arrow.GENERATIONS.empty_table())
        return
    names = ", ".join(f"'{_quoted(name)}'" for name in files)
    source = f"read_parquet([{names}], union_by_name = true)"
    base.execute(f"create view generations as select * from {source}")  # noqa: S608


def _quoted(path: Path | str) -> str:
    return str(path).replace("'", "''")
