"""Files on their way: read in chunks to be sent, hashed while they are received."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO

#: Bytes in one piece of a transfer.
CHUNK = 1 << 18


class Sink:
    """A file that is being received; the folders above it are made.

    Examples
    --------
    >>> import tempfile
    >>> with Sink(Path(tempfile.mkdtemp()) / "new" / "file") as sink:
    ...     sink.write(b"abc")
    >>> sink.sha256[:8]
    'ba7816bf'
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hash = hashlib.sha256()

    def __enter__(self) -> Sink:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("wb")
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


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file in pieces."""
    while chunk := file.read(CHUNK):
        yield chunk


async def async_chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    """Yield the rest of a file in pieces, for clients that await them."""
    for chunk in chunks(file):
        yield chunk
