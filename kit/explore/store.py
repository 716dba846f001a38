"""The local store of an account: Parquet parts in a folder, and a manifest that names them.

It holds two lists of the service, the generations and the ledger.

Only what the manifest names exists. A part is written under another name, moved into place and then
named, so readers in other notebooks see the store before a change or after it and never between.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.feather as pf
import pyarrow.parquet as pq

from kit.explore.arrow import GENERATIONS, USAGE
from kit.explore.frames import SETTINGS
from kit.private import Lock, make_folder, replace_file

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_VERSION = 5
MANIFEST_FILE, HASHES_FILE = "manifest.json", "hashes.arrow"
#: How far two answers, or this computer and a service, may differ on when something was made.
_SLACK = timedelta(days=1)
#: Parts with fewer rows are merged once there are this many of them.
_SMALL, _MANY = 100_000, 40
#: Rows of a merged part; what merging needs of memory follows from it.
_MERGED = 200_000


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of a list that is not in the store yet."""

    since: str | None = None  # where it ends, as an ISO 8601 time; None for the beginning of all
    path: str | None = None  # the page to go on with; None to begin with the newest


@dataclass(frozen=True, slots=True)
class Listing:
    """What a store holds of one list."""

    #: Files of what never changes again, and how many rows each has.
    parts: Mapping[str, int] = field(default_factory=dict)
    top: str | None = None  # when the newest known row was made, as an ISO 8601 time
    gaps: tuple[Gap, ...] = ()  # what an interrupted sync has left to do

    @property
    def rows(self) -> int:
        """How many rows its parts have."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a store holds."""

    generations: Listing = field(default_factory=Listing)  # finished ones
    usage: Listing = field(default_factory=Listing)
    running: str | None = None  # the file of what was not finished at the last sync
    journaled: str | None = None  # the last start of the journal that was looked for here
    #: Generations known from the journal alone: the service lists no more than its newest ones.
    unlisted: int = 0
    version: int = _VERSION

    def names(self, table: str) -> list[str]:
        """Return the names of the files of ``generations`` or ``usage``, finished ones first."""
        if table == "usage":
            return list(self.usage.parts)
        return [*self.generations.parts, *([self.running] if self.running else [])]

    @property
    def files(self) -> set[str]:
        """The names of all its files."""
        return {name for table in SCHEMAS for name in self.names(table)}


#: List -> the columns of its files.
SCHEMAS = {"generations": GENERATIONS.append(pa.field(SETTINGS, pa.string())), "usage": USAGE}
#: How pictures look, by generation; see `kit.explore.search.hash_picture`.
HASHES = pa.schema([("id", pa.string()), ("hash", pa.binary())])
#: Columns whose values follow each other and hardly repeat -> how Parquet writes these.
_RISING = {
    "id": "DELTA_BYTE_ARRAY",
    "created_at": "DELTA_BINARY_PACKED",
    "completed_at": "DELTA_BINARY_PACKED",
}


class Store:
    """Generations and ledger on disk."""

    #: Where the files are, if not on this computer's disk.
    filesystem: FileSystem | None = None

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._manifest = folder / MANIFEST_FILE
        self._hashes = folder / HASHES_FILE

    def __repr__(self) -> str:
        return f"<Store {self.folder.name}>"

    def lock(self) -> Lock:
        """Return a lock that whoever writes must hold; the folder is made for it."""
        make_folder(self.folder)
        return Lock(self.folder / "lock")

    def manifest(self) -> Manifest:
        """Return what is in the store; one of another version counts as empty."""
        try:
            return parse_manifest(self._manifest.read_bytes())
        except FileNotFoundError:
            return Manifest()

    def files(self, table: str = "generations") -> Sequence[PurePath]:
        """Return the Parquet files of ``generations``, finished ones first, or of ``usage``."""
        return [self.folder / name for name in self.manifest().names(table)]

    def write(self, table: pa.Table) -> dict[str, int]:
        """Write a part and return its name and rows; it is not in the store until committed."""
        make_folder(self.folder)
        if "parameters" in table.column_names:
            table = table.append_column(SETTINGS, _without_seed(table["parameters"]))
        name = f"{secrets.token_hex(8)}.parquet"
        with _replacing(self.folder / name) as draft:
            few = [column for column in table.column_names if column not in _RISING]
            pq.write_table(
                table, draft, compression="zstd", use_dictionary=few, column_encoding=_RISING
            )
        return {name: table.num_rows}

    def commit(self, manifest: Manifest) -> None:
        """Make a manifest the store's."""
        with _replacing(self._manifest) as draft:
            draft.write_bytes(msgspec.json.encode(manifest))

    def running(self, manifest: Manifest) -> pa.Table:
        """Return the generations that were not finished at the last sync."""
        if manifest.running is None:
            return GENERATIONS.empty_table()
        return pq.read_table(self.folder / manifest.running, schema=GENERATIONS)

    def unknown(self, table: pa.Table, parts: Mapping[str, int]) -> pa.Table:
        """Return those of some rows that no part has, each once."""
        if pc.count_distinct(table["id"]).as_py() < table.num_rows:
            last = {name: place for place, name in enumerate(table["id"].to_pylist())}
            table = table.take(pa.array(sorted(last.values()), pa.int64()))
        ends = pc.min_max(table["created_at"])
        oldest, newest = ends["min"].as_py(), ends["max"].as_py()
        if newest is not None:
            oldest, newest = oldest - _SLACK, newest + _SLACK
        files = [str(self.folder / name) for name in parts]
        files = [
            file
            for file in files
            if any(not s or (newest and s[0] <= newest and oldest <= s[1]) for s in _spans(file))
        ]
        if not files or not table.num_rows:
            return table
        made = pc.field("created_at")
        near = made.is_null()
        if newest is not None:
            near = near | ((made >= oldest) & (made <= newest))
        known = ds.dataset(files, schema=table.schema).to_table(columns=["id"], filter=near)["id"]
        return table.filter(pc.invert(pc.is_in(table["id"], value_set=known.combine_chunks())))

    def missing(self, ids: Sequence[str], manifest: Manifest) -> list[str]:
        """Return those of some ids that no part of the generations has."""
        files = [str(self.folder / name) for name in manifest.generations.parts]
        if not files or not ids:
            return list(ids)
        among = pc.field("id").isin(pa.array(ids, pa.string()))
        found = ds.dataset(files, schema=GENERATIONS).to_table(columns=["id"], filter=among)["id"]
        known = set(found.to_pylist())
        return [generation_id for generation_id in ids if generation_id not in known]

    def merge_small(
        self,
        listing: Listing,
        schema: pa.Schema,
        *,
        small: int = _SMALL,
        many: int = _MANY,
        merged: int = _MERGED,
    ) -> Listing:
        """Return a list after merging its small parts, where there are too many of them."""
        few = [name for name, rows in listing.parts.items() if rows < small]
        if len(few) <= many:
            return listing
        parts = {name: rows for name, rows in listing.parts.items() if name not in few}
        for group in _groups(few, listing.parts, merged):
            tables = [pq.read_table(self.folder / name, schema=schema) for name in group]
            whole = pa.concat_tables(tables).sort_by([("created_at", "descending")])
            parts |= self.write(whole)
        return replace(listing, parts=parts)

    def hashes(self) -> pa.Table:
        """Return the hashes of pictures by generation, with the columns of `HASHES`."""
        if not self._hashes.exists():
            return HASHES.empty_table()
        return pf.read_table(self._hashes, memory_map=False)

    def hash_of(self, generation_id: str) -> bytes | None:
        """Return the hash of a generation's picture, where one is kept."""
        known = self.hashes()
        place = pc.index(known["id"], generation_id).as_py()
        return None if place < 0 else known["hash"][place].as_py()

    def add_hashes(self, found: Mapping[str, bytes | None]) -> None:
        """Keep hashes of pictures; without a lock, for one that is lost is made again."""
        added = pa.table([list(found), list(found.values())], schema=HASHES)
        with _replacing(self._hashes) as draft:
            pf.write_feather(pa.concat_tables([self.hashes(), added]), draft)

    def sweep(self) -> None:
        """Delete what the manifest does not name: what a crash left, and what was merged."""
        named = self.manifest().files
        for path in self.folder.glob("*.parquet*"):
            if path.name not in named:
                _delete(path)


def parse_manifest(content: bytes) -> Manifest:
    """Return what the file of a manifest says; one of another version counts as empty."""
    with contextlib.suppress(msgspec.MsgspecError):
        found = msgspec.json.decode(content, type=Manifest)
        if found.version == _VERSION:
            return found
    return Manifest()


def _without_seed(parameters: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return JSON objects without their seed, where it is a whole number after plain values.

    Examples
    --------
    >>> texts = ['{"seed":7,"size":2}', '{"size":2,"seed":7}', '{"seed":7}', '{"a":{"seed":7}}']
    >>> _without_seed(pa.chunked_array([texts])).to_pylist()
    ['{"size":2}', '{"size":2}', '{}', '{"a":{"seed":7}}']
    """
    after, last = r'^(\{|\{[^{]*, *)"seed": *-?[0-9]+, *', r'^(\{[^{]*?),? *"seed": *-?[0-9]+\}'
    cut = pc.replace_substring_regex(parameters, after, r"\1")
    return pc.replace_substring_regex(cut, last, r"\1}")


@functools.lru_cache(maxsize=1024)
def _spans(file: str) -> Sequence[tuple[datetime, datetime] | None]:
    """Return when rows of a part, which never changes, were made; None where it does not say."""
    metadata = pq.read_metadata(file)
    place = metadata.schema.names.index("created_at")
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    facts = [group.column(place).statistics for group in groups]
    return [None if f.null_count or not f.has_min_max else (f.min, f.max) for f in facts]


def _groups(names: Sequence[str], rows: Mapping[str, int], most: int) -> Iterator[list[str]]:
    group: list[str] = []
    for name in names:
        if group and sum(rows[n] for n in group) + rows[name] > most:
            yield group
            group = []
        group.append(name)
    yield group


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Make a draft that takes the place of a file once it is on disk as a whole."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        with contextlib.suppress(PermissionError):  # a file system without rights
            draft.chmod(0o600)
        replace_file(draft, path)
    except BaseException:
        _delete(draft)
        raise


def _delete(path: Path) -> None:
    # somebody may read it, and not every system deletes open files: a later sync will
    with contextlib.suppress(PermissionError):
        path.unlink(missing_ok=True)
