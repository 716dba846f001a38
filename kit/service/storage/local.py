"""Files in a folder, served by the service itself with signed URLs."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from kit.errors import NotFoundError
from kit.private import flush_path, make_folder
from kit.service.storage.output_folder import OutputFolder
from kit.service.storage.signing import Grant, Signer

_log = logging.getLogger("kit.service")

#: A whole block: an empty file can be created on a full disk, too.
_PROBE_BYTES = 4096


class LocalStorage:
    """A folder of files, created if it is missing; see `kit.service.storage`."""

    direct = False

    def __init__(
        self, folder: Path, signer: Signer, flush: Callable[[Path], None] = flush_path
    ) -> None:
        self.outputs = OutputFolder(folder, flush)
        self.signer = signer
        make_folder(folder)

    async def keep(self, files: Mapping[str, Path]) -> None:
        """Move finished files into the storage and flush them and their folders to disk."""
        await asyncio.to_thread(self.outputs.put, files)

    async def publish(self, keys: Sequence[str]) -> None:
        """Do nothing: render processes store their results here themselves."""

    async def fetch_local(self, key: str, folder: Path) -> Path:
        """Return the path of a file; other storages copy it into `folder`."""
        path = self.outputs.path(key)
        if not path.is_file():
            raise NotFoundError("the file is gone")
        return path

    async def fetch_received(self, upload_id: str, length: int, folder: Path) -> Path | None:
        """Return None: clients send their files to the service."""
        return None

    async def discard_received(self, upload_id: str) -> None:
        """Do nothing: there is no separate copy."""

    async def tidy(self) -> None:
        """Do nothing: files are moved atomically."""

    async def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder."""
        try:
            return sorted(await asyncio.to_thread(os.listdir, self.outputs.path(folder)))
        except FileNotFoundError:
            return []

    async def list_files(self, folder: str, count: int) -> AsyncIterator[list[str]]:
        """Yield the keys of a folder's files, so many at a time, in no particular order."""
        with suppress(FileNotFoundError), os.scandir(self.outputs.path(folder)) as files:
            while found := await asyncio.to_thread(list, islice(files, count)):
                yield [f"{folder}/{file.name}" for file in found]

    async def remove(self, prefix: str) -> None:
        """Remove a file, or a folder of files; a missing one is no error."""
        path = self.outputs.path(prefix)
        if path.is_dir():
            await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)
        else:
            await asyncio.to_thread(path.unlink, missing_ok=True)

    def read_address(self, method: str, key: str) -> None:
        """Return None: the service serves the files."""

    def upload_address(self, base: str, grant: Grant) -> str:
        """Return the URL at the service for one PUT."""
        return self.signer.address(base, grant)

    async def is_writable(self) -> bool:
        """Whether a file can be written and removed."""

        def write() -> None:
            with tempfile.TemporaryFile(dir=self.outputs.folder, prefix=".ready-") as file:
                file.write(bytes(_PROBE_BYTES))

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            _log.warning("the storage cannot be written: %s", error)
            return False
        return True
