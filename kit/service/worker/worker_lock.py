"""Which workers of this machine were killed: what they had claimed is taken over at once.

Every worker holds a lock on a file while its process lives, and the system lets go of it however
the process ends. Workers on other machines are known by their leases alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kit.private import Lock, make_folder, try_lock

#: Where in a data folder the locks of its workers are.
FOLDER = "workers"
_SUFFIX = ".alive"
_OLD_SECONDS = 24 * 3600


class WorkerLock:
    """The lock that shows that a worker is alive, in the folder of those of one data folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._path = folder / f"{name}{_SUFFIX}"
        make_folder(folder)
        # The files of killed workers go once no claim of theirs can be left.
        for path in folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another one that starts does so too
                if time.time() - path.stat().st_mtime > _OLD_SECONDS and self._is_dead(path):
                    path.unlink()
        self._lock = Lock(self._path)
        self._lock.acquire()

    def find_dead(self, names: Iterable[str]) -> list[str]:
        """Return those of some workers that ran on this machine and were killed."""
        return [name for name in names if self._is_dead(self._folder / f"{name}{_SUFFIX}")]

    def release(self) -> None:
        """Take the lock and its file away."""
        self._lock.release()
        with suppress(OSError):  # it is gone, or the disk is read-only now
            self._path.unlink()

    def _is_dead(self, path: Path) -> bool:
        return path != self._path and _is_free(path)


def is_any_alive(folder: Path) -> bool:
    """Whether one of the workers of a data folder lives on this machine."""
    return not all(map(_is_free, folder.glob(f"*{_SUFFIX}")))


def _is_free(path: Path) -> bool:
    try:
        with path.open("r+") as file:
            return try_lock(file.fileno())
    except FileNotFoundError:
        return False  # never here, or stopped in good order: its lease decides
