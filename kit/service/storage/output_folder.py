"""A folder that stores finished files durably, so that a power cut loses none.

Render processes store their own results there, so that no thread of the service waits for the disk.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from kit.errors import NotFoundError
from kit.private import flush_path, make_folder, replace_file


class OutputFolder:
    """Files by key in a folder; `flush` writes a file, or the names in a folder, to disk."""

    def __init__(self, folder: Path, flush: Callable[[Path], None] = flush_path) -> None:
        self.folder = folder
        self._flush = flush

    def path(self, key: str) -> Path:
        """Return the path of a key; raises `NotFoundError` if it is outside the folder."""
        path = self.folder.joinpath(*key.split("/"))
        if ".." in key.split("/") or not path.is_relative_to(self.folder):
            raise NotFoundError("there is no such file")
        return path

    def put(self, files: Mapping[str, Path]) -> None:
        """Move finished files to their keys, and flush them and their parent folders.

        No row refers to them before, so a power cut meanwhile leaves at most an unused file.
        """
        flushed: dict[Path, None] = {}
        for key, path in files.items():
            target = self.path(key)
            folders = _make_folders(target.parent, self.folder.parent)
            _move(path, target)
            # After the move, so that a file system's journal writes both at once.
            self._flush(target)
            flushed |= dict.fromkeys(folders)
        # A name is durable only after a flush of its folder; the same is true for a new folder.
        for folder in flushed:
            self._flush(folder)


def _make_folders(folder: Path, root: Path) -> list[Path]:
    """Create a folder; return the folders to flush: it, and the parents of new ones."""
    flushed = [folder]
    while not flushed[-1].is_dir() and flushed[-1].parent != root:
        flushed.append(flushed[-1].parent)
    if len(flushed) > 1:
        make_folder(folder)
    return flushed


def _move(path: Path, target: Path) -> None:
    """Move a file; to another file system by a complete copy and a rename."""
    try:
        replace_file(path, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = target.with_name(f"{target.name}.part")
        shutil.copyfile(path, draft)
        replace_file(draft, target)
        path.unlink()
