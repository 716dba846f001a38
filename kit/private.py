"""Records and locks in files and folders that only their owner can read, whatever the umask is."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

_OTHER_USERS_MODE = 0o077
#: The locked byte, beyond the end of all files, because locked bytes cannot be read.
_LOCK_OFFSET = 1 << 30
#: Seconds between attempts to move or lock a file: others are done soon.
_RETRY_SECONDS = (0.001, 0.002, 0.005, *(0.01,) * 50)


def user_folder(kind: Literal["config", "data"]) -> Path:
    """Return the folder for a user's settings or data of the kit, which may not exist yet.

    For a user without a name and a home, as in some containers, the root folder is the home.
    """
    from platformdirs import PlatformDirs

    folders = PlatformDirs("creative-studio-kit", appauthor=False)
    if os.name == "nt" and (folder := os.environ.get(f"XDG_{kind.upper()}_HOME")):
        return Path(folder, "creative-studio-kit")
    try:
        path = folders.user_config_path if kind == "config" else folders.user_data_path
        return path.expanduser()  # an older platformdirs leaves the ``~`` of an unknown user
    except RuntimeError:
        return Path("/", f".{kind}", folders.appname or "")


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with ``~`` expanded; of an unknown user it stays, unlike `Path.expanduser`."""
    return Path(os.path.expanduser(path))  # noqa: PTH111


def names_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder's: it exists, or its text ends with a separator."""
    separators = tuple(filter(None, (os.sep, os.altsep)))
    return user_path(path).is_dir() or os.fspath(path).endswith(separators)


def make_folder(folder: Path) -> None:
    """Create a folder and missing parent folders, if it does not exist."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        for place in (*reversed(folder.parents), folder):
            place.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a file atomically."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        replace_file(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def replace_file(draft: Path, path: Path) -> Path:
    """Move a draft to a path; on Windows retried while one is open, as by a virus scanner."""
    for pause in _RETRY_SECONDS if os.name == "nt" else ():
        with suppress(PermissionError):
            return draft.replace(path)
        time.sleep(pause)
    return draft.replace(path)


def flush_path(path: Path) -> None:
    """Write a file, or the names in a folder, to disk."""
    # Windows cannot flush a file that is opened read-only, and removes a last byte 26 in text mode.
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0) if os.name == "nt" else os.O_RDONLY
    try:
        descriptor = os.open(path, flags)
    except PermissionError:  # Windows cannot open folders
        return
    try:
        if sys.platform == "darwin":  # fsync leaves data in the drive's cache there
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)
    except OSError as error:  # some file systems cannot flush folders
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def flush_tree(folder: Path) -> None:
    """Write a folder with all its files to disk: on Linux by one flush of its file system."""
    if sys.platform == "linux":
        import ctypes

        descriptor = os.open(folder, os.O_RDONLY)
        try:
            flush_file_system = getattr(ctypes.CDLL(None), "syncfs", None)
            if flush_file_system and flush_file_system(descriptor) == 0:
                return
        finally:
            os.close(descriptor)
    for path in (*folder.rglob("*"), folder):
        flush_path(path)


def is_exposed(path: Path) -> bool:
    """Whether another user of this machine may read or change a file or a folder.

    False for devices such as ``/dev/null``.
    """
    try:
        mode = path.stat().st_mode
        is_file_or_folder = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        # Windows reports other permissions than the actual ones.
        return os.name == "posix" and is_file_or_folder and bool(mode & _OTHER_USERS_MODE)
    except OSError:  # deleted, or in a folder that cannot be read
        return False


def make_private(path: Path) -> bool:
    """Remove all permissions of other users, if there are any; return whether there were.

    Files of another user, and shared folders such as those for temporary files, are not changed.
    """
    if not is_exposed(path):
        return False
    facts = path.stat()
    if facts.st_uid != os.geteuid() or facts.st_mode & stat.S_ISVTX:
        return False
    with suppress(OSError):  # a file system without permissions, or one that is read-only
        path.chmod(stat.S_IMODE(facts.st_mode) & ~_OTHER_USERS_MODE)
    return not is_exposed(path)


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed or the process ends; False if it is locked already."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _LOCK_OFFSET, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Lock:
    """A lock file; the operating system releases it when its holder ends, even by a crash."""

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
        """Release the lock."""
        if self._file is not None:
            if sys.platform != "win32":
                import fcntl

                fcntl.flock(self._file, fcntl.LOCK_UN)  # a forked child has the file open, too
            os.close(self._file)  # unlocks it
            self._file = None


def _wait_for_lock(file: int) -> None:
    """Let one process at a time append on Windows, which seeks to the end before it writes."""
    for pause in _RETRY_SECONDS if os.name == "nt" else ():
        if try_lock(file):
            return
        time.sleep(pause)


class JsonLines:
    """Records in a JSON Lines file, append-only; an incomplete line is skipped."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        for line in content.splitlines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record

    def version(self) -> tuple[int, int]:
        """Return a value that changes after each write, also by other kernels."""
        try:
            facts = self.path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (facts.st_ino, facts.st_size)

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a record, on its own line even if a crash has left the last one incomplete.

        Raises `OSError`, e.g. if the disk is full; the record is not kept.
        """
        make_folder(self.path.parent)
        line = json.dumps(record, ensure_ascii=False, default=str) + "\n"
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            _wait_for_lock(file)
            if os.fstat(file).st_size:
                os.lseek(file, -1, os.SEEK_END)
                line = line if os.read(file, 1) == b"\n" else "\n" + line
            content = line.encode()
            # one write, so that lines of two kernels do not mix; on a full disk it may be partial
            if os.write(file, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        finally:
            os.close(file)
