"""Archives in an S3 bucket: copied there from the computer that syncs, and read in place.

Parts never change, so only new ones are copied; the manifest comes last. Readers need neither the
service nor its key, and read only the columns of a part that a query uses.
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
_REPLACED = (HASHES_FILE, MANIFEST_FILE)
#: Names of parts: only these files may be removed.
_PART_NAME = re.compile(r"[0-9a-f]{16}\.parquet")
_LOCK_SECONDS = 0.1


class BucketStore(Store):
    """A read-only store in a bucket; see `open_archive` for its address."""

    filesystem: fs.FileSystem

    def __init__(self, url: str) -> None:
        super().__init__(Path(tempfile.gettempdir()))  # for data that does not fit in memory
        parts = urlsplit(str(url))
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if parts.scheme != "s3" or not parts.hostname or parts.netloc != parts.hostname:
            raise ConfigError("the archive must be s3://BUCKET/PREFIX, with a bucket in lower case")
        if unknown := options.keys() - {"endpoint", "region"}:
            raise ConfigError(f"an archive's address takes endpoint and region, not {min(unknown)}")
        self.path = PurePosixPath(parts.hostname) / parts.path.strip("/")
        self.options: Any = options
        self.filesystem = fs.S3FileSystem(
            endpoint_override=options.get("endpoint"), region=options.get("region")
        )

    def __repr__(self) -> str:
        return f"<BucketStore s3://{self.path}>"

    def manifest(self) -> Manifest:
        """Return the manifest of the store."""
        return parse_manifest(self._read(MANIFEST_FILE), f"s3://{self.path}")

    def files(self, table: str = "generations") -> list[PurePosixPath]:
        """Return the Parquet files of ``generations`` or ``usage``, as paths of `filesystem`."""
        return [self.path / name for name in self.manifest().names(table)]

    def hashes(self) -> pa.Table:
        """Return the picture hashes by generation, with the columns of `HASHES`."""
        if HASHES_FILE not in self.list_names():
            return HASHES.empty_table()
        return pf.read_table(pa.BufferReader(self._read(HASHES_FILE)))

    def list_names(self) -> set[str]:
        """Return the names of all files in the bucket."""
        with self.wrap_errors():
            selector = fs.FileSelector(str(self.path), allow_not_found=True)
            return {info.base_name for info in self.filesystem.get_file_info(selector)}

    @contextmanager
    def wrap_errors(self, failure: type[Exception] = OSError) -> Iterator[None]:
        """Turn failures into errors that name the archive."""
        try:
            yield
        except (OSError, failure) as error:
            raise ConfigError(f"the archive s3://{self.path} cannot be reached: {error}") from None

    def _read(self, name: str) -> bytes:
        with self.wrap_errors(), self.filesystem.open_input_stream(str(self.path / name)) as file:
            return bytes(file.read())


def open_archive(url: str) -> Archive:
    """Open an archive that `publish` has copied to a bucket; it is read in place.

    The address is ``s3://BUCKET/PREFIX?endpoint=URL&region=NAME``; the last two are optional for
    Amazon S3. Keys come from the environment, ``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``,
    or from the configuration of Amazon's tools. Raises `ConfigError` if the archive does not exist
    or cannot be reached.

    Examples
    --------
    ``archive = open_archive("s3://team/history")``, then ``archive.sql("select ...")``,
    ``archive.frame()`` and ``costs.by(costs.Spending(archive), "model")``
    """
    store = BucketStore(url)
    if MANIFEST_FILE not in store.list_names():
        raise ConfigError(f"there is no archive at s3://{store.path}; history.publish() makes one")
    return Archive(store)


def publish(store: Store, url: str) -> None:
    """Copy a store to a bucket, for `open_archive`, or update the copy there.

    Files of the previous copy stay until the next one, for current readers.
    """
    with require_extra("s3", "an archive in a bucket"):
        import obstore
        from obstore.exceptions import BaseError
        from obstore.store import S3Store

    bucket, lock = BucketStore(url), store.lock()
    target = S3Store(
        bucket.path.parts[0],
        prefix="/".join(bucket.path.parts[1:]) or None,
        config=bucket.options,
        client_options={"allow_http": bucket.options.get("endpoint", "").startswith("http:")},
    )
    found = bucket.list_names()
    published = bucket.manifest().files if MANIFEST_FILE in found else set()
    while not lock.acquire():  # another notebook may be merging parts
        time.sleep(_LOCK_SECONDS)
    try:
        names = store.manifest().files
        new = [*(names - found), *filter(lambda name: (store.folder / name).exists(), _REPLACED)]
        with bucket.wrap_errors(BaseError):
            for name in new:
                obstore.put(target, name, store.folder / name)
            for name in filter(_PART_NAME.fullmatch, found - published - names):
                obstore.delete(target, name)
    finally:
        lock.release()
