"""An archive in a bucket of S3: copied there from where it is synced, and read where it lies.

Parts never change, so a copy brings only new ones; the manifest comes last. A reader needs neither
the service nor its key, and reads of a part only the columns that a question is about.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.feather as pf
from pyarrow import fs

from kit.errors import ConfigError, require_extra
from kit.explore.archive import Archive
from kit.explore.store import HASHES, HASHES_FILE, MANIFEST_FILE, Manifest, Store, parse_manifest

#: Files that are replaced, the manifest last.
_CHANGING = (HASHES_FILE, MANIFEST_FILE)
#: What may be removed: a name that only a part has.
_PART = re.compile(r"[0-9a-f]{16}\.parquet")
_PATIENCE = 0.1


class BucketStore(Store):
    """A store in a bucket, to be read; see `open_archive` on its address."""

    filesystem: fs.FileSystem

    def __init__(self, url: str) -> None:
        super().__init__(Path(tempfile.gettempdir()))  # for what does not fit in memory
        parts = urlsplit(url)
        given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if parts.scheme != "s3" or not parts.hostname or parts.netloc != parts.hostname:
            raise ConfigError("the archive must be s3://BUCKET/PREFIX, with a bucket in lower case")
        if unknown := given.keys() - {"endpoint", "region"}:
            raise ConfigError(f"an archive's address takes endpoint and region, not {min(unknown)}")
        self.place = PurePosixPath(parts.hostname) / parts.path.strip("/")
        self.options: Any = given
        self.filesystem = fs.S3FileSystem(
            endpoint_override=given.get("endpoint"), region=given.get("region")
        )

    def __repr__(self) -> str:
        return f"<BucketStore s3://{self.place}>"

    def manifest(self) -> Manifest:
        """Return what is in the store."""
        return parse_manifest(self._read(MANIFEST_FILE))

    def files(self, table: str = "generations") -> list[PurePosixPath]:
        """Return the Parquet files of ``generations`` or ``usage``, as `filesystem` names them."""
        return [self.place / name for name in self.manifest().names(table)]

    def hashes(self) -> pa.Table:
        """Return the hashes of pictures by generation, with the columns of `HASHES`."""
        if HASHES_FILE not in self.listed():
            return HASHES.empty_table()
        return pf.read_table(pa.BufferReader(self._read(HASHES_FILE)))

    def listed(self) -> set[str]:
        """Return the names of all files that there are."""
        with self.reaching():
            selector = fs.FileSelector(str(self.place), allow_not_found=True)
            return {info.base_name for info in self.filesystem.get_file_info(selector)}

    @contextmanager
    def reaching(self, failure: type[Exception] = OSError) -> Iterator[None]:
        """Say which archive it was that could not be read or written."""
        try:
            yield
        except (OSError, failure) as error:
            raise ConfigError(f"the archive s3://{self.place} cannot be reached: {error}") from None

    def _read(self, name: str) -> bytes:
        with self.reaching(), self.filesystem.open_input_stream(str(self.place / name)) as file:
            return bytes(file.read())


def open_archive(url: str) -> Archive:
    """Return the archive that `publish` has copied to a bucket; nothing is copied from there.

    Parameters
    ----------
    url : str
        ``s3://BUCKET/PREFIX?endpoint=URL&region=NAME``; the last two may be left out for Amazon's.
        Keys are those of the environment, ``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``, or
        what else the machine has for Amazon's tools.

    Raises
    ------
    ConfigError
        There is no archive, or it cannot be reached.

    Examples
    --------
    ``archive = open_archive("s3://team/history")``, then ``archive.sql("select ...")``,
    ``archive.frame()`` and ``costs.by(costs.Spending(archive), "model")``
    """
    store = BucketStore(url)
    if MANIFEST_FILE not in store.listed():
        raise ConfigError(f"there is no archive at s3://{store.place}; history.publish() makes one")
    return Archive(store)


def publish(store: Store, url: str) -> None:
    """Copy a store to a bucket, for `open_archive`, or bring the copy that is there up to date.

    Files that the copy before named stay until the next one, for who is reading them.
    """
    with require_extra("s3", "an archive in a bucket"):
        import obstore
        from obstore.exceptions import BaseError
        from obstore.store import S3Store

    there, lock = BucketStore(url), store.lock()
    target = S3Store(
        there.place.parts[0],
        prefix="/".join(there.place.parts[1:]) or None,
        config=there.options,
        client_options={"allow_http": there.options.get("endpoint", "").startswith("http:")},
    )
    found = there.listed()
    before = there.manifest().files if MANIFEST_FILE in found else set()
    while not lock.acquire():  # another notebook may be merging parts
        time.sleep(_PATIENCE)
    try:
        now = store.manifest().files
        new = [*(now - found), *filter(lambda name: (store.folder / name).exists(), _CHANGING)]
        with there.reaching(BaseError):
            for name in new:
                obstore.put(target, name, store.folder / name)
            for name in filter(_PART.fullmatch, found - before - now):
                obstore.delete(target, name)
    finally:
        lock.release()
