"""Files on their way: read in chunks to be sent, hashed while they leave and while they arrive."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kit.client.actions import NoReply
from kit.private import make_folder

#: Bytes in one piece of a transfer.
CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class NotWritten(NoReply):
    """A file came and could not be written here: to ask again is of no use."""


def not_written(target: Path, error: OSError) -> NotWritten:
    """Return the outcome of a download that has no room, or may not be written.

    Examples
    --------
    >>> not_written(Path("a.png"), OSError(28, "No space left on device")).message
    'it could not be written to .: No space left on device'
    """
    why = error.strerror or str(error) or type(error).__name__
    return NotWritten(f"it could not be written to {target.parent}: {why}", lasting=True)


class FileWriter:
    """A file that is being received; the folders above it are made.

    Parameters
    ----------
    more : bool
        Keep what the file holds already and go on behind it.

    Examples
    --------
    >>> import tempfile
    >>> with FileWriter(Path(tempfile.mkdtemp()) / "new" / "file") as writer:
    ...     writer.write(b"abc")
    >>> writer.sha256[:8]
    'ba7816bf'
    """

    def __init__(self, path: Path, *, more: bool = False) -> None:
        self._path = path
        self._more = more
        self._hash = hashlib.sha256()

    def __enter__(self) -> FileWriter:
        make_folder(self._path.parent)
        if self._more:
            with self._path.open("rb") as file:
                for chunk in iter(lambda: file.read(CHUNK), b""):
                    self._hash.update(chunk)
        self._path.touch(mode=0o600)
        self._file = self._path.open("ab" if self._more else "wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._hash.update(chunk)
        self._file.write(chunk)

    @property
    def sha256(self) -> str:
        """Hash of all bytes so far."""
        return self._hash.hexdigest()


class FileReader:
    """A file that is being sent: what leaves is counted and hashed.

    Examples
    --------
    >>> import io
    >>> reader = FileReader(io.BytesIO(b"abc"), print)
    >>> b"".join(reader.chunks()), reader.sha256[:8]
    3
    (b'abc', 'ba7816bf')
    """

    def __init__(self, file: BinaryIO, on_sent: Callable[[int], None]) -> None:
        self._file = file
        self._on_sent = on_sent
        self._hash = hashlib.sha256()
        self._sent = 0

    def chunks(self) -> Iterator[bytes]:
        """Yield the rest of the file in pieces; each has left when the next is asked for."""
        while chunk := self._file.read(CHUNK):
            self._hash.update(chunk)
            yield chunk
            self._sent += len(chunk)
            self._on_sent(self._sent)

    async def async_chunks(self) -> AsyncIterator[bytes]:
        """Yield the same to clients that await them."""
        for chunk in self.chunks():
            yield chunk

    @property
    def sha256(self) -> str:
        """Hash of all that has left."""
        return self._hash.hexdigest()
