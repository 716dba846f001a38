"""Files on their way from the browser: they come in pieces, and are kept when they are whole.

What has arrived lies in a file without a name, so that whatever ends a transfer, or the kernel,
leaves nothing behind. Where the system can name such a file later, keeping it copies nothing.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.private import make_folder

#: How Linux is asked for a file without a name that can be given one later.
_NAMELESS: int = getattr(os, "O_TMPFILE", 0)


@dataclass(frozen=True, slots=True)
class Offer:
    """A file that the browser would send.

    Parameters
    ----------
    type : str
        As the browser tells it, by the name of the file; empty where it knows none.
    size : int
        In bytes.
    """

    name: str
    type: str
    size: int


class Spool:
    """A file without a name, for what has arrived so far.

    Parameters
    ----------
    nameless : int
        The flag that asks for one that can be named later; 0 where there is none.
    """

    def __init__(self, folder: Path, *, nameless: int = _NAMELESS) -> None:
        self.nameable = False
        if nameless:
            with suppress(OSError):  # not every disk knows how
                handle = os.open(folder, nameless | os.O_RDWR, 0o666)
                self._file: Any = os.fdopen(handle, "w+b")
                self.nameable = True
        if not self.nameable:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open until the end

    def write(self, piece: bytes) -> None:
        """Add a piece."""
        self._file.write(piece)

    @contextmanager
    def content(self) -> Iterator[memoryview]:
        """Yield all of it, without holding it in memory."""
        self._file.flush()
        with (
            mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as content,
        ):
            yield content

    def settle(self, path: Path) -> bool:
        """Give it a name, and return whether that could be done; nothing is copied.

        Parameters
        ----------
        path : Path
            Must not be there yet, and lie on the disk of the spool.
        """
        if not self.nameable:
            return False
        self._file.flush()
        handle = self._file.fileno()
        try:
            # Python follows the link in /proc only if a folder is named too; it counts for nothing
            os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Forget what has no name."""
        self._file.close()


class Transfer:
    """Files on their way, one after the other, each to be kept when it is whole.

    Parameters
    ----------
    folder : Path or None
        On which disk they are until then; None is the system's place for temporary files.

    Raises
    ------
    OSError
        There is not enough room for all of them, and for the largest twice where one cannot be
        kept without a copy.
    """

    def __init__(self, name: str, offers: Sequence[Offer], folder: Path | None) -> None:
        self.name = name
        self._offers = offers
        self._file, self._at = 0, 0
        self.keeping = False
        self._place = folder or Path(tempfile.gettempdir())
        make_folder(self._place)
        twice = max(offer.size for offer in offers)
        self._spool = Spool(self._place)
        needed = sum(offer.size for offer in offers) + (0 if self._spool.nameable else twice)
        if shutil.disk_usage(self._place).free < needed:
            self.close()
            raise OSError(
                f"the kernel's disk has no room for it: {needed / 1e6:,.0f} MB are needed"
            )

    @property
    def offer(self) -> Offer:
        """The file that is on its way."""
        return self._offers[self._file]

    @property
    def spool(self) -> Spool:
        """What has arrived of it."""
        return self._spool

    def wants(self) -> dict[str, Any]:
        """Return what the browser has to do next."""
        if self.keeping:
            return {"wait": True}
        if self._file == len(self._offers):
            return {"done": True}
        return {"file": self._file, "at": self._at}

    def write(self, file: int, at: int, piece: bytes) -> bool:
        """Write a piece, and return whether its file is whole; one that is not wanted is ignored.

        Raises
        ------
        ValueError
            The file is not the one that was offered.
        """
        if self.wants() != {"file": file, "at": at}:
            return False
        if not 0 < len(piece) <= self.offer.size - at:
            raise ValueError(f"{self.offer.name} has changed: choose it again")
        self._spool.write(piece)
        self._at += len(piece)
        self.keeping = self._at == self.offer.size
        return self.keeping

    def advance(self) -> None:
        """Go on to the next file; the one before is another's now."""
        self._file, self._at, self.keeping = self._file + 1, 0, False
        self.close()
        if self._file < len(self._offers):
            self._spool = Spool(self._place)

    def close(self) -> None:
        """Forget what has arrived and is not kept."""
        self._spool.close()
