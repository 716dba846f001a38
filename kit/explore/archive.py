"""The archive: a synced history and its ledger as frames, as SQL and as files.

DuckDB reads the Parquet parts where they lie, in memory of its own: any number of notebooks can ask
the same store at once. Nothing here talks to the service.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from kit.errors import BadRequestError, KitError
from kit.explore import arrow
from kit.explore.arrow import Columns
from kit.explore.filters import ALL, HistoryFilter
from kit.explore.frames import SETTINGS, grouped, pointer, split_key, write_excel
from kit.explore.search import SearchQuery, hash_picture, likeness
from kit.explore.store import SCHEMAS, Store
from kit.parameters import suggest

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

#: Instants in a CSV are all of one form: a column of two is read as texts.
_FORMATS = {
    ".parquet": "(format parquet, compression zstd)",
    ".csv": "(format csv, header, timestampformat '%Y-%m-%dT%H:%M:%S.%fZ')",
}
_NEWEST_FIRST = "order by created_at desc nulls last, id desc"
_KEY = re.compile(r'"((?:parameters|media|tag)\.[^"]+)"')
#: Table -> what of its files is of no use to who asks.
_HIDDEN = {"generations": f"exclude ({SETTINGS})", "usage": ""}
#: Different texts of objects that are few.
_FEW = 10_000
_WHOLE = frozenset({"UBIGINT", "BIGINT"})
#: How often a reader looks again when another notebook has just merged what it was to read.
_ATTEMPTS = 5


class Archive:
    """What the store of one account holds, as of its last sync."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __repr__(self) -> str:
        return f"<Archive of {self.store.manifest().generations.rows:,} generations>"

    def frame(
        self,
        choice: HistoryFilter = ALL,
        columns: Sequence[str] | None = None,
        *,
        parameters: bool = False,
        media: bool = False,
    ) -> pd.DataFrame:
        """Return generations as a frame, newest first; see `kit.explore.frames.GENERATIONS`.

        Columns that are not asked for are not read; see `kit.explore.arrow.Columns`.
        """
        wanted = Columns(columns, parameters, media)
        query = f"select {wanted.text} from generations {choice.where} {_NEWEST_FIRST}"  # noqa: S608
        return wanted.frame(self.ask(query, choice.values))

    def search(self, text: str, choice: HistoryFilter = ALL) -> pd.DataFrame:
        """Return the generations in which all words of a text occur, the best first.

        ``score`` is its first column; see `kit.explore.search.SearchQuery`.
        """
        query = SearchQuery(text)
        source = query.select("generations", choice.where)
        return self._ranked("score", source, query.values(choice.values))

    def similar(
        self, wanted: bytes, limit: int | None = None, choice: HistoryFilter = ALL
    ) -> pd.DataFrame:
        """Return the generations that look most like a picture, by its hash.

        ``likeness`` is its first column, 1 for the same; what has no hash is not among them.
        """
        known = self.store.hashes().drop_null()
        alike = pa.array(likeness(known["hash"].to_pylist(), wanted))
        source = f"select * from generations join alike using (id) {choice.where}"  # noqa: S608
        table = pa.table({"id": known["id"], "likeness": alike})
        return self._ranked("likeness", source, choice.values, limit, alike=table)

    def without_hash(self, choice: HistoryFilter = ALL) -> list[str]:
        """Return the ids of completed generations that were not looked at yet, newest first."""
        missing = "status = 'completed' and id not in (select id from known)"
        source = f"(select * from generations {choice.where}) where {missing}"  # noqa: S608
        query = f"select id from {source} {_NEWEST_FIRST}"  # noqa: S608
        found = self.ask(query, choice.values, known=self.store.hashes())
        return list(found["id"].to_pylist())

    def add_hashes(self, pictures: Mapping[str, Path | None]) -> None:
        """Keep the hashes of picture files by generation; one without a picture has none."""
        found = {name: _try_hash(path) if path else None for name, path in pictures.items()}
        self.store.add_hashes(found)

    def _ranked(
        self,
        column: str,
        source: str,
        values: Sequence[Any],
        limit: int | None = None,
        **tables: pa.Table,
    ) -> pd.DataFrame:
        """Return generations by a column that a query adds to them, the highest first."""
        wanted = Columns()
        order = _NEWEST_FIRST.replace("order by", f"order by {column} desc,")
        query = f"select {wanted.text}, {column} from ({source}) {order} limit ?"  # noqa: S608
        found = self.ask(query, [*values, limit], **tables)
        frame = wanted.frame(found.drop_columns(column))
        frame.insert(0, column, found[column].cast(pa.float64()).to_numpy())
        return frame

    def usage(self, limit: int | None = None) -> pd.DataFrame:
        """Return the ledger as a frame, newest first; see `kit.explore.frames.LEDGER`."""
        query = f"select * from usage {_NEWEST_FIRST} limit ?"  # noqa: S608
        return arrow.frame(self.ask(query, [limit]))

    def words(self, column: str) -> list[str]:
        """Return the different words of a column of the history."""
        found = self.ask(f"select distinct {column} as word from generations")  # noqa: S608
        return [str(word) for word in found["word"].to_pylist() if word is not None]

    def ask(self, query: str, values: Sequence[Any] = (), **tables: pa.Table) -> pa.Table:
        """Return what a query finds in these and other tables; `values` fill its question marks."""

        def find(base: duckdb.DuckDBPyConnection) -> pa.Table:
            for name, table in tables.items():
                base.register(name, table)
            return base.sql(query, params=list(values)).to_arrow_table()

        return self._ask(find, query)

    def sql(self, query: str, **tables: Any) -> pd.DataFrame:
        """Return what a query of DuckDB's SQL finds in ``generations`` and in ``usage``.

        A parameter is ``"parameters.resolution"``, as in a frame, and a tag ``"tag.campaign"`` (in
        the ledger, too, where a query is of that alone); the other columns are those of
        `kit.explore.frames.GENERATIONS`, of `kit.explore.frames.LEDGER`, and ``id``. `tables`, of
        pandas or Arrow, are there by name, to join.

        Raises
        ------
        BadRequestError
            The query is wrong; the message is DuckDB's.
        """

        def find(base: duckdb.DuckDBPyConnection) -> pa.Table:
            _expand(base, query)
            for name, table in tables.items():
                base.register(name, table)
            found = base.sql(query)
            return pa.table({}) if found is None else found.to_arrow_table()

        return arrow.frame(self._ask(find, query), index=None)

    def export(
        self, path: Path | str, choice: HistoryFilter = ALL, columns: Sequence[str] | None = None
    ) -> Path:
        """Write generations to a ``.parquet``, ``.csv`` or ``.xlsx`` file and return its path.

        Raises
        ------
        BadRequestError
            The file is to be of another kind or in no folder, or there is no such column.
        """
        target = Path(path).expanduser()
        kind = target.suffix.lower()
        if kind not in (*_FORMATS, ".xlsx"):
            raise BadRequestError(f"export to a .parquet, .csv or .xlsx file, not {target.name!r}")
        if not target.parent.is_dir():
            raise BadRequestError(f"there is no folder {str(target.parent)!r} to export to")
        if kind == ".xlsx":
            write_excel(self.frame(choice, columns), target)
            return target
        names = ", ".join(f'"{name}"' for name in Columns(columns).names)
        query = f"select id, {names} from generations {choice.where} {_NEWEST_FIRST}"  # noqa: S608
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        copy = f"copy ({query}) to '{_quote(draft)}' {_FORMATS[kind]}"

        def write(base: duckdb.DuckDBPyConnection) -> None:
            _expand(base, query)
            base.execute(copy, choice.values)

        try:
            self._ask(write, query)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        return target

    def paid(self, model_id: str, count: int) -> list[dict[str, Any]]:
        """Return what the newest generations of a model were charged, the oldest of them first.

        Only charges that the service or a receipt named, each as ``id``, ``credits`` (float),
        ``parameters`` and ``media`` (JSON texts or None); estimates are none.
        """
        known = "model_id = ? and credits_source in ('service', 'receipt')"
        query = (
            f"select id, credits, parameters, media from generations where {known} "  # noqa: S608
            f"{_NEWEST_FIRST} limit ?"
        )
        return list(reversed(self.ask(query, [model_id, count]).to_pylist()))

    def files(self, table: str = "generations") -> list[str]:
        """Return the Parquet files of ``generations`` or ``usage``, for Dask or Polars.

        Raises
        ------
        BadRequestError
            There is no such table.

        Source: `kit.explore.frames` for the columns; generations have ``settings`` beside them, the
        parameters without their seed. ``dask.dataframe.read_parquet(files)`` reads them on a
        cluster that sees the same disk.
        """
        if table not in SCHEMAS:
            raise BadRequestError(f"there is no table {table!r}{suggest(table, SCHEMAS)}")
        return [str(path) for path in self.store.files(table)]

    def _ask(self, find: Callable[[duckdb.DuckDBPyConnection], T], query: str) -> T:
        """Run a query on the files of the moment; start over where they were merged meanwhile."""
        booked = "usage" in query.lower()
        # what does not fit in memory lies beside the parts
        spill = str(self.store.folder / f"spill-{secrets.token_hex(4)}")
        config = {"autoinstall_known_extensions": "false", "temp_directory": spill}

        def read(base: duckdb.DuckDBPyConnection) -> T:
            base.execute("set timezone = 'UTC'")
            self._attach(base, "generations")
            if booked:  # else nothing is opened for it
                self._attach(base, "usage")
            return find(base)

        for _ in range(_ATTEMPTS):
            try:
                with duckdb.connect(config=config) as base:
                    return _find(base, read)
            except duckdb.IOException as error:
                problem = error
            except duckdb.Error as error:
                raise BadRequestError(f"the query cannot be answered: {error}") from None
        raise KitError(f"the local history cannot be read: {problem}")

    def _attach(self, base: duckdb.DuckDBPyConnection, table: str) -> None:
        files, filesystem = self.files(table), self.store.filesystem
        if not files:
            base.register(f"all_{table}", SCHEMAS[table].empty_table())
        elif filesystem:  # Arrow reads from it; DuckDB would need an extension
            found = ds.dataset(files, SCHEMAS[table], "parquet", filesystem=filesystem)
            base.register(f"all_{table}", found)
        else:
            names = ", ".join(f"'{_quote(name)}'" for name in files)
            source = f"read_parquet([{names}])"
            base.execute(f"create temp view all_{table} as select * from {source}")  # noqa: S608
        shown = f"select * {_HIDDEN[table]} from all_{table}"  # noqa: S608
        base.execute(f"create temp view {table} as {shown}")


def search_rows(frame: pd.DataFrame, text: str) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the positions of the rows of a history frame in which all words of a text occur.

    The best first; see `kit.explore.search.SearchQuery`.
    """
    query, rows = SearchQuery(text), frame.index.to_series(name="id").to_frame()
    rows = rows.assign(**{n: frame.get(n) for n in ("prompt", "model_id", "tags")}).astype("string")
    table = pa.Table.from_pandas(rows, preserve_index=False)
    table = table.append_column("place", pa.array(np.arange(len(frame))))
    with duckdb.connect() as base:
        base.register("shown", table)
        found = base.sql(
            f"select place from ({query.select('shown')}) order by score desc, place",  # noqa: S608
            params=query.values(),
        )
        return np.asarray(found.fetchnumpy()["place"], np.intp)


def _try_hash(path: Path) -> bytes | None:
    """Return the hash of a picture file; None where it is none, or broken in any way."""
    try:
        return hash_picture(path)
    except Exception:  # noqa: BLE001 - see above
        return None


def _find(base: duckdb.DuckDBPyConnection, find: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
    """Run a query on another thread: what is interrupted waits, and DuckDB would not hear of it."""
    with ThreadPoolExecutor(1, thread_name_prefix="kit-query") as pool:
        work = pool.submit(find, base)
        try:
            return work.result()
        except KeyboardInterrupt:
            base.interrupt()
            raise


def _expand(base: duckdb.DuckDBPyConnection, query: str) -> None:
    """Give a table a column for each parameter or tag that a query names in quotes.

    It is ``generations``, and ``usage`` in a query of that alone.
    """
    names, words = dict.fromkeys(_KEY.findall(query)), query.lower()
    if names:
        table = "usage" if "usage" in words and "generations" not in words else "generations"
        columns = [f'{_value(base, table, *split_key(name))} as "{name}"' for name in names]
        source = f"select *, {', '.join(columns)} from all_{table}"  # noqa: S608
        shown = f"select * {_HIDDEN[table]} from ({source})"  # noqa: S608
        base.execute(f"create or replace temp view {table} as {shown}")


def _value(base: duckdb.DuckDBPyConnection, table: str, column: str, key: str) -> str:
    """Return the expression of a key, with the type that all of its values have.

    Where there are few different texts, each is read once, and a row finds the value of its own.
    """
    path, column = f"'{_quote(pointer(key))}'", grouped(column, key)
    source, texts, few = f"all_{table}", f"{column}_of_{table}", False
    if column != "parameters":  # of which hardly two are equal
        known = f"select distinct {column} from {source} where {column} is not null"  # noqa: S608
        base.execute(f"create or replace temp table {texts} as {known} limit {_FEW + 1}")
        few = base.sql(f"from {texts}").to_arrow_table().num_rows <= _FEW
    found = f"select distinct json_type({column}, {path}) from {texts if few else source}"  # noqa: S608
    kinds = {kind for (kind,) in base.sql(found).fetchall()} - {None, "NULL"}
    kind = "boolean" if kinds == {"BOOLEAN"} else "varchar"
    if kinds and kinds <= {*_WHOLE, "DOUBLE"}:
        kind = "bigint" if kinds <= _WHOLE else "double"
    value = f"json_extract_string({column}, {path})::{kind}"
    if not few:
        return value
    base.execute(f"create or replace type {texts}_text as enum (from {texts} order by all)")
    values = f"select list({value} order by {column}) from {texts}"  # noqa: S608
    return f"({values})[enum_code({column}::{texts}_text) + 1]"


def _quote(path: Path | str) -> str:
    return str(path).replace("'", "''")
