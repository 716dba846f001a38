"""A folder into which finished files are put so that a power cut takes none of them.

Render processes put their own results there: no thread of the service has to wait for the disk.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from kit.errors import NotFoundError
from kit.private import make_folder


class OutputFolder:
    """Files by key in a folder; `flush` puts a file, or the names in a folder, on disk."""

    def __init__(self, folder: Path, flush: Callable[[Path], None] | None = None) -> None:
        self.folder = folder
        self._flush = flush or _flush

    def path(self, key: str) -> Path:
        """Return where a key lies; one that leads out of the folder leads nowhere."""
        path = self.folder.joinpath(*key.split("/"))
        if ".." in key.split("/") or not path.is_relative_to(self.folder):
            raise NotFoundError("there is no such file")
        return path

    def put(self, files: Mapping[str, Path]) -> None:
        """Move finished files in by key, and flush them and the folders that lead to them.

        Nothing refers to a key before this has returned, so a power cut on the way leaves at most a
        file that no row names.
        """
        flushed: dict[Path, None] = {}
        for key, path in files.items():
            target = self.path(key)
            folders = _make_folders(target.parent, self.folder.parent)
            _move(path, target)
            # After the move: a journal then takes both in one go.
            self._flush(target)
            flushed |= dict.fromkeys(folders)
        # A name is on disk only when the folder that holds it is, and so is a new folder's.
        for folder in flushed:
            self._flush(folder)


def _make_folders(folder: Path, root: Path) -> list[Path]:
    """Make a folder and return what has to be flushed: it, and each folder that got a new one."""
    flushed = [folder]
    while not flushed[-1].is_dir() and flushed[-1].parent != root:
        flushed.append(flushed[-1].parent)
    if len(flushed) > 1:
        make_folder(folder)
    return flushed


def _move(path: Path, target: Path) -> None:
    """Move a file; from another file system by a copy that is whole before it is named."""
    try:
        path.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = target.with_name(f"{target.name}.part")
        shutil.copyfile(path, draft)
        draft.replace(target)
        path.unlink()


#: Windows flushes nothing that is only read.
_FLUSHED = os.O_RDWR if os.name == "nt" else os.O_RDONLY


def _flush(path: Path) -> None:
    try:
        descriptor = os.open(path, _FLUSHED)
    except PermissionError:  # Windows opens no folders
        return
    try:
        if sys.platform == "darwin":  # whose fsync leaves data in the drive's own cache
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)
    except OSError as error:  # some file systems flush no folders
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
