"""Detects killed workers of this machine, so that their claims are requeued immediately.

Each worker holds a file lock while its process is alive; the system releases it however the process
ends. Workers on other machines are known by their leases only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kit.private import Lock, make_folder, try_lock

#: The subfolder of a data folder for the locks of its workers.
FOLDER = "workers"
_SUFFIX = ".alive"
_OLD_SECONDS = 24 * 3600


class WorkerLock:
    """The lock that shows that a worker is alive, in the folder of a data folder's locks."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._path = folder / f"{name}{_SUFFIX}"
        make_folder(folder)
        # Files of killed workers are removed when no claim of theirs can be left.
        for path in folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another starting worker may remove it, too
                if time.time() - path.stat().st_mtime > _OLD_SECONDS and self._is_dead(path):
                    path.unlink()
        self._lock = Lock(self._path)
        self._lock.acquire()

    def find_dead(self, names: Iterable[str]) -> list[str]:
        """Return the given workers that ran on this machine and were killed."""
        return [name for name in names if self._is_dead(self._folder / f"{name}{_SUFFIX}")]

    def release(self) -> None:
        """Release the lock and remove its file."""
        self._lock.release()
        with suppress(OSError):  # it is missing, or the disk is read-only now
            self._path.unlink()

    def _is_dead(self, path: Path) -> bool:
        return path != self._path and _is_free(path)


def is_any_alive(folder: Path) -> bool:
    """Whether a worker of a data folder is alive on this machine."""
    return not all(map(_is_free, folder.glob(f"*{_SUFFIX}")))


def _is_free(path: Path) -> bool:
    try:
        with path.open("r+") as file:
            return try_lock(file.fileno())
    except FileNotFoundError:
        return False  # never ran here, or stopped normally: its lease decides
