"""Which workers on this machine are alive: each holds a lock on a file while its process lives.

The system lets go of the lock however the process ends, so what a killed worker had claimed is
taken over at once and not only when its lease runs out. Workers on other machines are known by
their leases alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from kit.private import make_folder

_SUFFIX = ".alive"
_OLD_SECONDS = 24 * 3600


class Presence:
    """One worker's lock, and a look at those of the others.

    Parameters
    ----------
    folder : Path
        Shared by the workers of one data folder.
    name : str
        This worker's.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._path = folder / f"{name}{_SUFFIX}"
        make_folder(folder)
        self._tidy()
        self._path.touch(mode=0o600)
        self._file = self._path.open("w")
        _lock(self._file)

    def dead(self, names: Iterable[str]) -> list[str]:
        """Return those of some workers that were here and are no more."""
        return [name for name in names if self._is_dead(self._folder / f"{name}{_SUFFIX}")]

    def close(self) -> None:
        """Leave."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _tidy(self) -> None:
        """Remove what killed workers have left, once nobody can wait for them any more."""
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another one that starts does so too
                if time.time() - path.stat().st_mtime > _OLD_SECONDS and self._is_dead(path):
                    path.unlink()

    def _is_dead(self, path: Path) -> bool:
        if path == self._path:
            return False
        try:
            with path.open("r+") as file:
                return _lock(file)
        except FileNotFoundError:
            return False  # never here, or left in good order: its lease will tell


def _lock(file: IO[str]) -> bool:
    """Take the lock of a file unless another process has it."""
    if os.name == "nt":  # pragma: no cover - the other branch is
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
