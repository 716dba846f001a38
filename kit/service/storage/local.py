"""Files in a folder, served by the service itself under signed addresses."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from kit.errors import NotFoundError
from kit.service.storage.signing import Grant, Signer
from kit.wire import Ticket

UPLOADS = "uploads/"


class LocalStorage:
    """A folder of files.

    Parameters
    ----------
    folder : Path
        Where they lie; made when it is missing.
    signer : Signer
        Signs the addresses.
    flush : callable
        Puts a file, or the names in a folder, on disk.
    """

    def __init__(
        self, folder: Path, signer: Signer, flush: Callable[[Path], None] | None = None
    ) -> None:
        self._folder = folder
        self._flush = flush or _flush
        self.signer = signer
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def keep(self, files: Mapping[str, Path]) -> None:
        """Move finished files in and flush them, and the folders that lead to them, to disk."""
        moves = {self.path(key): path for key, path in files.items()}
        await asyncio.to_thread(self._keep, moves)

    async def local(self, key: str, folder: Path) -> Path:
        """Return where a file lies."""
        path = self.path(key)
        if not path.is_file():
            raise NotFoundError("the file is gone")
        return path

    async def remove(self, prefix: str) -> None:
        """Remove a folder of files."""
        await asyncio.to_thread(shutil.rmtree, self.path(prefix), ignore_errors=True)

    def read_address(self, base: str, key: str, *, expires: int) -> str:
        """Return a signed address on the service."""
        return self.signer.address(base, Grant("GET", key, expires))

    def ticket(
        self, base: str, upload_id: str, content_type: str, length: int, *, expires: int
    ) -> Ticket:
        """Return the ticket for one PUT to the service."""
        grant = Grant("PUT", UPLOADS + upload_id, expires, content_type, length)
        return Ticket(
            upload_id=upload_id,
            upload_url=self.signer.address(base, grant),
            method="PUT",
            required_headers={"Content-Type": content_type, "Content-Length": str(length)},
            expires_at=datetime.fromtimestamp(expires, UTC),
        )

    async def ready(self) -> bool:
        """Whether the folder can be written."""
        return os.access(self._folder, os.W_OK)

    def _keep(self, moves: Mapping[Path, Path]) -> None:
        folders: dict[Path, None] = {}
        for target, path in moves.items():
            folders |= dict.fromkeys(_made(target.parent, self._folder.parent))
            self._flush(path)
            _move(path, target, self._flush)
        # A name is on disk only when the folder that holds it is, and so is a new folder's.
        for folder in folders:
            self._flush(folder)

    def path(self, key: str) -> Path:
        """Return where a key lies; one that leads out of the folder leads nowhere."""
        path = self._folder.joinpath(*key.split("/"))
        if ".." in key.split("/") or not path.is_relative_to(self._folder):
            raise NotFoundError("there is no such file")
        return path


def _made(folder: Path, root: Path) -> list[Path]:
    """Make a folder and return what has to be flushed: it, and each folder that got a new one."""
    flushed = [folder]
    while not flushed[-1].is_dir() and flushed[-1].parent != root:
        flushed.append(flushed[-1].parent)
    folder.mkdir(parents=True, exist_ok=True)
    return flushed


def _move(path: Path, target: Path, flush: Callable[[Path], None]) -> None:
    """Move a flushed file; from another file system by a copy that is whole before it is named."""
    try:
        path.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = target.with_name(f"{target.name}.part")
        shutil.copyfile(path, draft)
        flush(draft)
        draft.replace(target)
        path.unlink()


def _flush(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
