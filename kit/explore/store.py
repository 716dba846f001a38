"""The local store of an account: Parquet parts in a folder, and a manifest that lists them.

It holds two lists of the service, the generations and the ledger.

Only files in the manifest count. A part is written under a temporary name, renamed and then listed,
so readers in other notebooks see the store either before or after a change, never in between.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.feather as pf
import pyarrow.parquet as pq

from kit.errors import ConfigError
from kit.explore.arrow import GENERATIONS, USAGE
from kit.explore.frames import SETTINGS
from kit.private import Lock, make_folder, replace_file

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_VERSION = 5
MANIFEST_FILE, HASHES_FILE = "manifest.json", "hashes.arrow"
#: Maximum difference between creation times from two responses, or two clocks.
_SLACK = timedelta(days=1)
#: Parts with fewer rows than this are merged once there are this many of them.
_SMALL_ROWS, _MAX_SMALL = 100_000, 40
#: Number of rows of a merged part; it limits the memory used by merging.
_MERGED_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of a list that is not in the store yet."""

    since: str | None = None  # its end, as an ISO 8601 time; None for the beginning of the list
    path: str | None = None  # the next page to fetch; None for the newest


@dataclass(frozen=True, slots=True)
class Listing:
    """The stored part of one list."""

    #: Parts, whose rows never change, with their numbers of rows.
    parts: Mapping[str, int] = field(default_factory=dict)
    top: str | None = None  # creation time of the newest known row, as an ISO 8601 time
    gaps: tuple[Gap, ...] = ()  # the remaining work of an interrupted sync

    @property
    def rows(self) -> int:
        """The number of rows in its parts."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a store."""

    generations: Listing = field(default_factory=Listing)  # finished ones
    usage: Listing = field(default_factory=Listing)
    running: str | None = None  # the file of generations that were running at the last sync
    journaled: str | None = None  # the last start of the journal that was checked
    #: Number of generations known only from the journal: services may list only the newest.
    unlisted: int = 0
    version: int = _VERSION

    def names(self, table: str) -> list[str]:
        """Return the file names of ``generations`` or ``usage``, finished ones first."""
        if table == "usage":
            return list(self.usage.parts)
        return [*self.generations.parts, *([self.running] if self.running else [])]

    @property
    def files(self) -> set[str]:
        """The names of all files."""
        return {name for table in SCHEMAS for name in self.names(table)}


#: Name of a list -> the columns of its files.
SCHEMAS = {"generations": GENERATIONS.append(pa.field(SETTINGS, pa.string())), "usage": USAGE}
#: Hashes of pictures by generation; see `kit.explore.search.hash_picture`.
HASHES = pa.schema([("id", pa.string()), ("hash", pa.binary())])
#: Columns with rising, mostly distinct values -> their Parquet encoding.
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
        """Return the lock that writers must hold; creates the folder."""
        make_folder(self.folder)
        return Lock(self.folder / "lock")

    def manifest(self) -> Manifest:
        """Return the manifest; see `parse_manifest`."""
        try:
            return parse_manifest(self._manifest.read_bytes(), self.folder)
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
        with _open_draft(self.folder / name) as draft:
            repetitive = [column for column in table.column_names if column not in _RISING]
            pq.write_table(
                table, draft, compression="zstd", use_dictionary=repetitive, column_encoding=_RISING
            )
        return {name: table.num_rows}

    def commit(self, manifest: Manifest) -> None:
        """Replace the store's manifest."""
        with _open_draft(self._manifest) as draft:
            draft.write_bytes(msgspec.json.encode(manifest))

    def running(self, manifest: Manifest) -> pa.Table:
        """Return the generations that were running at the last sync."""
        if manifest.running is None:
            return GENERATIONS.empty_table()
        return pq.read_table(self.folder / manifest.running, schema=GENERATIONS)

    def filter_new(self, table: pa.Table, parts: Mapping[str, int]) -> pa.Table:
        """Return the rows that are in no part, without duplicates."""
        if pc.count_distinct(table["id"]).as_py() < table.num_rows:
            last = {name: index for index, name in enumerate(table["id"].to_pylist())}
            table = table.take(pa.array(sorted(last.values()), pa.int64()))
        ends = pc.min_max(table["created_at"])
        oldest, newest = ends["min"].as_py(), ends["max"].as_py()
        if newest is not None:
            oldest, newest = oldest - _SLACK, newest + _SLACK
        files = [str(self.folder / name) for name in parts]
        if not files or not table.num_rows:
            return table
        created_at = pc.field("created_at")
        nearby = created_at.is_null()
        if newest is not None:
            nearby = nearby | ((created_at >= oldest) & (created_at <= newest))
        known = ds.dataset(files, schema=table.schema).to_table(columns=["id"], filter=nearby)["id"]
        return table.filter(pc.invert(pc.is_in(table["id"], value_set=known.combine_chunks())))

    def find_missing(self, ids: Sequence[str], manifest: Manifest) -> list[str]:
        """Return the ids that are in no part of the generations."""
        files = [str(self.folder / name) for name in manifest.generations.parts]
        if not files or not ids:
            return list(ids)
        matches = pc.field("id").isin(pa.array(ids, pa.string()))
        found = ds.dataset(files, schema=GENERATIONS).to_table(columns=["id"], filter=matches)["id"]
        known = set(found.to_pylist())
        return [generation_id for generation_id in ids if generation_id not in known]

    def merge_small(
        self,
        listing: Listing,
        schema: pa.Schema,
        *,
        small: int = _SMALL_ROWS,
        many: int = _MAX_SMALL,
        merged: int = _MERGED_ROWS,
    ) -> Listing:
        """Return a list after merging its small parts, if there are too many."""
        names = [name for name, rows in listing.parts.items() if rows < small]
        if len(names) <= many:
            return listing
        parts = {name: rows for name, rows in listing.parts.items() if name not in names}
        for group in _groups(names, listing.parts, merged):
            tables = [pq.read_table(self.folder / name, schema=schema) for name in group]
            parts |= self.write(pa.concat_tables(tables).sort_by([("created_at", "descending")]))
        return replace(listing, parts=parts)

    def hashes(self) -> pa.Table:
        """Return the hashes of pictures by generation, with the columns of `HASHES`."""
        if not self._hashes.exists():
            return HASHES.empty_table()
        return pf.read_table(self._hashes, memory_map=False)

    def find_hash(self, generation_id: str) -> bytes | None:
        """Return the hash of a generation's picture, if there is one."""
        hashes = self.hashes()
        index = pc.index(hashes["id"], generation_id).as_py()
        return None if index < 0 else hashes["hash"][index].as_py()

    def add_hashes(self, found: Mapping[str, bytes | None]) -> None:
        """Save hashes of pictures; without a lock, as a lost one is computed again."""
        added = pa.table([list(found), list(found.values())], schema=HASHES)
        with _open_draft(self._hashes) as draft:
            pf.write_feather(pa.concat_tables([self.hashes(), added]), draft)

    def delete_unused(self) -> None:
        """Delete files that are not in the manifest: leftovers of crashes and merged parts."""
        used = self.manifest().files
        for path in self.folder.glob("*.parquet*"):
            if path.name not in used:
                _delete(path)


def parse_manifest(content: bytes, place: object) -> Manifest:
    """Parse the file of a manifest; return an empty one if it is damaged or its version is older.

    Raises `ConfigError` if its version is newer: a sync would delete what only that one can read.
    """
    with contextlib.suppress(msgspec.MsgspecError, KeyError, TypeError):
        version = msgspec.json.decode(content, type=dict[str, Any])["version"]
        if version > _VERSION:
            sentence = "was made by a newer version of the kit: upgrade this one"
            raise ConfigError(f"the history in {place} {sentence}")
        if version == _VERSION:
            return msgspec.json.decode(content, type=Manifest)
    return Manifest()


def _without_seed(parameters: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return JSON objects without the seed, if it is an integer after plain values.

    Examples
    --------
    >>> texts = ['{"seed":7,"size":2}', '{"size":2,"seed":7}', '{"seed":7}', '{"a":{"seed":7}}']
    >>> _without_seed(pa.chunked_array([texts])).to_pylist()
    ['{"size":2}', '{"size":2}', '{}', '{"a":{"seed":7}}']
    """
    after, last = r'^(\{|\{[^{]*, *)"seed": *-?[0-9]+, *', r'^(\{[^{]*?),? *"seed": *-?[0-9]+\}'
    cut = pc.replace_substring_regex(parameters, after, r"\1")
    return pc.replace_substring_regex(cut, last, r"\1}")


def _groups(names: Sequence[str], rows: Mapping[str, int], most: int) -> Iterator[list[str]]:
    group: list[str] = []
    for name in names:
        if group and sum(rows[n] for n in group) + rows[name] > most:
            yield group
            group = []
        group.append(name)
    yield group


@contextlib.contextmanager
def _open_draft(path: Path) -> Iterator[Path]:
    """Yield a draft that replaces a file once it is completely on disk."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        with contextlib.suppress(PermissionError):  # a file system without permissions
            draft.chmod(0o600)
        replace_file(draft, path)
    except BaseException:
        _delete(draft)
        raise


def _delete(path: Path) -> None:
    # some systems cannot delete a file that another process has open: a later sync deletes it
    with contextlib.suppress(PermissionError):
        path.unlink(missing_ok=True)
