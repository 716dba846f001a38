"""A lock between processes: one notebook at a time writes, and a crash lets go of it."""

from __future__ import annotations

import os
from pathlib import Path

from kit.private import try_lock


class Lock:
    """A lock file; the operating system frees it when its holder ends, however that happens.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lock"
    >>> first, second = Lock(path), Lock(path)
    >>> first.acquire(), second.acquire()
    (True, False)
    >>> first.release()
    >>> second.acquire()
    True
    >>> second.release()
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free, and return whether it is held now."""
        if self._file is not None:
            return True
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if not try_lock(file):
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let go of the lock."""
        if self._file is not None:
            os.close(self._file)  # which unlocks it
            self._file = None
