"""The archive: a synced history and its ledger as dataframes, SQL tables and files.

DuckDB reads the Parquet parts in place, into its own memory, so many notebooks can query the same
store at once. Nothing here sends requests to the service.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
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
from kit.explore.frames import SETTINGS, grouping_column, pointer, split_key, write_excel
from kit.explore.search import SearchQuery, hash_picture, likeness
from kit.explore.store import SCHEMAS, Store
from kit.parameters import check_limit, suggest
from kit.private import replace_file, user_path

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

#: All times in a CSV have one format: a column with two would be read as texts.
_FORMATS = {
    ".parquet": "(format parquet, compression zstd)",
    ".csv": "(format csv, header, timestampformat '%Y-%m-%dT%H:%M:%S.%fZ')",
}
_NEWEST_FIRST = "order by created_at desc nulls last, id desc"
_QUOTED_NAME = re.compile(r'"((?:parameters|media|tag)\.[^"]+)"')
#: Table -> internal columns of its files that users do not see.
_HIDDEN = {"generations": f"exclude ({SETTINGS})", "usage": ""}
#: Maximum of distinct texts of objects that are parsed once each.
_MAX_DISTINCT = 10_000
_INTEGER_TYPES = frozenset({"UBIGINT", "BIGINT"})
#: Number of attempts if another notebook merges the files while they are read.
_ATTEMPTS = 5
_POLL_SECONDS = 0.1


class Archive:
    """The history and ledger of one account, as of the last sync."""

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
        """Return generations as a dataframe, newest first; see `kit.explore.frames.GENERATIONS`.

        Only the requested columns are read; see `kit.explore.arrow.Columns`.
        """
        selected = Columns(columns, parameters, media)
        query = f"select {selected.text} from generations {choice.where} {_NEWEST_FIRST}"  # noqa: S608
        return selected.frame(self.ask(query, choice.values))

    def search(self, text: str, choice: HistoryFilter = ALL) -> pd.DataFrame:
        """Return the generations that contain all words of a text, best match first.

        The first column is ``score``; see `kit.explore.search.SearchQuery`.
        """
        query = SearchQuery(text)
        source = query.select("generations", choice.where)
        return self._ranked("score", source, query.values(choice.values))

    def similar(
        self, target: bytes, limit: int | None = None, choice: HistoryFilter = ALL
    ) -> pd.DataFrame:
        """Return the generations that look most like a picture, by its hash.

        The first column is ``likeness``, 1 for identical; generations without a hash are left out.
        """
        hashes = self.store.hashes().drop_null()
        alike = pa.array(likeness(hashes["hash"].to_pylist(), target))
        source = f"select * from generations join alike using (id) {choice.where}"  # noqa: S608
        table = pa.table({"id": hashes["id"], "likeness": alike})
        return self._ranked("likeness", source, choice.values, limit, alike=table)

    def without_hash(self, choice: HistoryFilter = ALL) -> list[str]:
        """Return the ids of completed generations not hashed yet, newest first."""
        missing = "status = 'completed' and id not in (select id from known)"
        source = f"(select * from generations {choice.where}) where {missing}"  # noqa: S608
        query = f"select id from {source} {_NEWEST_FIRST}"  # noqa: S608
        return list(self.ask(query, choice.values, known=self.store.hashes())["id"].to_pylist())

    def add_hashes(self, pictures: Mapping[str, Path | None]) -> None:
        """Save the hashes of picture files by generation; None marks one without a picture."""
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
        """Return generations sorted by a column that a query adds, highest first."""
        selected = Columns()
        order = _NEWEST_FIRST.replace("order by", f"order by {column} desc,")
        query = f"select {selected.text}, {column} from ({source}) {order} limit ?"  # noqa: S608
        found = self.ask(query, [*values, limit], **tables)
        frame = selected.frame(found.drop_columns(column))
        frame.insert(0, column, found[column].cast(pa.float64()).to_numpy())
        return frame

    def usage(self, limit: int | None = None) -> pd.DataFrame:
        """Return the ledger as a dataframe, newest first; see `kit.explore.frames.LEDGER`."""
        query = f"select * from usage {_NEWEST_FIRST} limit ?"  # noqa: S608
        return arrow.frame(self.ask(query, [check_limit(limit)]))

    def words(self, column: str) -> list[str]:
        """Return the distinct values of a text column of the history."""
        found = self.ask(f"select distinct {column} as word from generations")  # noqa: S608
        return [str(word) for word in found["word"].to_pylist() if word is not None]

    def ask(self, query: str, values: Sequence[Any] = (), **tables: pa.Table) -> pa.Table:
        """Run a query on these and other tables; `values` replace its question marks."""
        return self._run(lambda base: _answer(base, query, list(values), tables), query)

    def sql(self, query: str, **tables: Any) -> pd.DataFrame:
        """Run a query in DuckDB's SQL on the tables ``generations`` and ``usage``.

        Write parameters as ``"parameters.resolution"``, as in dataframes, and tags as
        ``"tag.campaign"`` (also of the ledger, in a query without ``generations``); other columns
        are ``id`` and those of `kit.explore.frames.GENERATIONS` and `kit.explore.frames.LEDGER`.
        `tables` are pandas or Arrow tables to join, by name. An invalid query raises
        `BadRequestError` with DuckDB's message.
        """

        def find(base: duckdb.DuckDBPyConnection) -> pa.Table:
            return _with_keys(base, query, lambda: _answer(base, query, None, tables))

        return arrow.frame(self._run(find, query), index=None)

    def export(
        self, path: Path | str, choice: HistoryFilter = ALL, columns: Sequence[str] | None = None
    ) -> Path:
        """Write generations to a ``.parquet``, ``.csv`` or ``.xlsx`` file and return its path."""
        target = user_path(path)
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
            _with_keys(base, query, lambda: base.execute(copy, choice.values))

        try:
            self._run(write, query)
            replace_file(draft, target)
        finally:
            draft.unlink(missing_ok=True)
        return target

    def charges(self, model_id: str, count: int) -> list[dict[str, Any]]:
        """Return the charges of a model's newest generations, oldest first.

        They are reported by the service or a receipt, not estimated; each has ``id``, ``credits``
        (float), ``parameters`` and ``media`` (JSON texts or None).
        """
        condition = "model_id = ? and credits_source in ('service', 'receipt')"
        query = (
            f"select id, credits, parameters, media from generations where {condition} "  # noqa: S608
            f"{_NEWEST_FIRST} limit ?"
        )
        return list(reversed(self.ask(query, [model_id, count]).to_pylist()))

    def files(self, table: str = "generations") -> list[str]:
        """Return the Parquet files of ``generations`` or ``usage``, for Dask or Polars.

        Their columns are those of `kit.explore.frames`; generations also have ``settings``, the
        parameters without the seed.
        """
        if table not in SCHEMAS:
            raise BadRequestError(f"there is no table {table!r}{suggest(table, SCHEMAS)}")
        return [str(path) for path in self.store.files(table)]

    def _run(self, find: Callable[[duckdb.DuckDBPyConnection], T], query: str) -> T:
        """Run a query on the current files; start over if they were merged meanwhile."""
        needs_usage = "usage" in query.lower()
        # data that does not fit in memory is spilled next to the parts
        spill = str(self.store.folder / f"spill-{secrets.token_hex(4)}")
        config = {"autoinstall_known_extensions": "false", "temp_directory": spill}

        def read(base: duckdb.DuckDBPyConnection) -> T:
            base.execute("set timezone = 'UTC'")
            self._attach(base, "generations")
            if needs_usage:  # otherwise its files are not opened
                self._attach(base, "usage")
            return find(base)

        for _ in range(_ATTEMPTS):
            try:
                with duckdb.connect(config=config) as base:
                    return _execute(base, read)
            except duckdb.IOException as error:
                problem = error
            except duckdb.Error as error:
                raise BadRequestError(f"the query cannot be answered: {error}") from None
        raise KitError(f"the local history cannot be read: {problem}")

    def _attach(self, base: duckdb.DuckDBPyConnection, table: str) -> None:
        files, filesystem = self.files(table), self.store.filesystem
        if not files:
            base.register(f"all_{table}", SCHEMAS[table].empty_table())
        elif filesystem:  # read by Arrow, as DuckDB would need an extension
            found = ds.dataset(files, SCHEMAS[table], "parquet", filesystem=filesystem)
            base.register(f"all_{table}", found)
        else:
            names = ", ".join(f"'{_quote(name)}'" for name in files)
            source = f"read_parquet([{names}])"
            base.execute(f"create temp view all_{table} as select * from {source}")  # noqa: S608
        shown = f"select * {_HIDDEN[table]} from all_{table}"  # noqa: S608
        base.execute(f"create temp view {table} as {shown}")


def search_rows(frame: pd.DataFrame, text: str) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the positions of the rows of a history frame that contain all words of a text.

    The best match comes first; see `kit.explore.search.SearchQuery`.
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
    """Return the hash of a picture file; None if it is none, or is damaged in any way."""
    try:
        return hash_picture(path)
    except Exception:  # noqa: BLE001 - see above
        return None


def _answer(
    base: duckdb.DuckDBPyConnection, query: str, values: list[Any] | None, tables: dict[str, Any]
) -> pa.Table:
    for name, table in tables.items():
        base.register(name, table)
    found = base.sql(query, params=values)
    return pa.table({}) if found is None else found.to_arrow_table()


def _execute(base: duckdb.DuckDBPyConnection, find: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
    """Run a query on another thread: the caller can be interrupted, which DuckDB would ignore."""
    work = Future[T]()

    def run() -> None:
        if work.set_running_or_notify_cancel():
            try:
                work.set_result(find(base))
            except BaseException as error:  # noqa: BLE001 - raised by the caller
                work.set_exception(error)

    try:
        threading.Thread(target=run, name="kit-query").start()
        return work.result()
    except KeyboardInterrupt:  # maybe before the thread runs
        while not (work.cancel() or work.done()):
            base.interrupt()  # again: a statement that begins after an interrupt does not see it
            wait([work], _POLL_SECONDS)
        raise


def _with_keys(base: duckdb.DuckDBPyConnection, query: str, answer: Callable[[], T]) -> T:
    """Answer a query; only after an error, look for integers that 64 bits cannot hold."""
    try:
        _add_key_columns(base, query)
        return answer()
    except duckdb.ConversionException:
        _add_key_columns(base, query, large=True)
        return answer()


def _add_key_columns(base: duckdb.DuckDBPyConnection, query: str, *, large: bool = False) -> None:
    """Add a column to a table for each parameter or tag that a query names in quotes.

    The table is ``generations``, or ``usage`` in a query of that alone.
    """
    names, words = dict.fromkeys(_QUOTED_NAME.findall(query)), query.lower()
    if len({name.lower() for name in names}) < len(names):  # SQL takes them for the same
        sentence = "names that differ only in case need a query or file each"
        raise BadRequestError(f"{sentence}: {list(names)}")
    if names:
        table = "usage" if "usage" in words and "generations" not in words else "generations"
        columns = [f'{_sql_value(base, table, *split_key(n), large)} as "{n}"' for n in names]
        source = f"select *, {', '.join(columns)} from all_{table}"  # noqa: S608
        shown = f"select * {_HIDDEN[table]} from ({source})"  # noqa: S608
        base.execute(f"create or replace temp view {table} as {shown}")


def _sql_value(
    base: duckdb.DuckDBPyConnection, table: str, column: str, key: str, large: bool
) -> str:
    """Return the SQL expression of a key, with the common type of all its values.

    With `large`, those with integers that 64 bits cannot hold are texts, as in dataframes.

    If there are few distinct texts, each is parsed once, and rows look up their value.
    """
    path, column = f"'{_quote(pointer(key))}'", grouping_column(column, key)
    source, texts, is_enum = f"all_{table}", f"{column}_of_{table}", False
    if column != "parameters":  # hardly any two are equal
        known = f"select distinct {column} from {source} where {column} is not null"  # noqa: S608
        base.execute(f"create or replace temp table {texts} as {known} limit {_MAX_DISTINCT + 1}")
        is_enum = base.sql(f"from {texts}").to_arrow_table().num_rows <= _MAX_DISTINCT
    value, type_ = f"json_extract_string({column}, {path})", f"json_type({column}, {path})"
    if large:
        type_ = f"if(try_cast({value} as bigint) is null, replace({type_}, 'UBIGINT', ''), {type_})"
    found = f"select distinct {type_} from {texts if is_enum else source}"  # noqa: S608
    kinds = {kind for (kind,) in base.sql(found).fetchall()} - {None, "NULL"}
    kind = "boolean" if kinds == {"BOOLEAN"} else "varchar"
    if kinds and kinds <= {*_INTEGER_TYPES, "DOUBLE"}:
        kind = "bigint" if kinds <= _INTEGER_TYPES else "double"
    value += f"::{kind}"
    if not is_enum:
        return value
    base.execute(f"create or replace type {texts}_text as enum (from {texts} order by all)")
    values = f"select list({value} order by {column}) from {texts}"  # noqa: S608
    return f"({values})[enum_code({column}::{texts}_text) + 1]"


def _quote(path: Path | str) -> str:
    return str(path).replace("'", "''")
