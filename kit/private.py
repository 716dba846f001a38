"""Files and folders that only their owner can read, whatever the umask says: records and locks."""

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

_OTHERS = 0o077
#: Behind the end of the files: the byte that is locked, for what is locked cannot be read.
_FAR = 1 << 30
#: Seconds between two tries to replace a file: who reads one is done soon.
_PAUSES = (0.001, 0.002, 0.005, *(0.01,) * 50)


def user_folder(kind: Literal["config", "data"]) -> Path:
    """Return where a user's settings or data of the kit belong, whether it exists or not.

    A user without a name and a home, as in some containers, is at home in the topmost folder.
    """
    from platformdirs import PlatformDirs

    folders = PlatformDirs("creative-studio-kit", appauthor=False)
    if os.name == "nt" and (named := os.environ.get(f"XDG_{kind.upper()}_HOME")):
        return Path(named, "creative-studio-kit")
    try:
        return folders.user_config_path if kind == "config" else folders.user_data_path
    except RuntimeError:
        return Path("/", f".{kind}", folders.appname or "")


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, unless it is there."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        replace_file(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def replace_file(draft: Path, path: Path) -> None:
    """Put a draft in a file's place; Windows does so only while nothing has that file open."""
    for pause in _PAUSES if os.name == "nt" else ():
        try:
            draft.replace(path)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    draft.replace(path)


def is_exposed(path: Path) -> bool:
    """Whether another user of this machine may read or change a file or a folder.

    A device, such as ``/dev/null``, is neither.
    """
    try:
        mode = path.stat().st_mode
        kept = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        # Windows reports other rights than it has.
        return os.name == "posix" and kept and bool(mode & _OTHERS)
    except OSError:  # it is gone, or in a folder that cannot be read
        return False


def tighten(path: Path) -> bool:
    """Take everybody else's rights away where they have any; return whether that was so.

    What belongs to another user, or to all like a folder for temporary files, stays as it is.
    """
    if not is_exposed(path):
        return False
    facts = path.stat()
    if facts.st_uid != os.geteuid() or facts.st_mode & stat.S_ISVTX:
        return False
    with suppress(PermissionError):  # a file system without rights
        path.chmod(stat.S_IMODE(facts.st_mode) & ~_OTHERS)
    return not is_exposed(path)


def try_lock(file: int) -> bool:
    """Take the lock of a file that is open for writing unless another process has it.

    The system frees it when the file is closed, also by the end of the process.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _FAR, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Lock:
    """A lock file; the operating system frees it when its holder ends, however that happens."""

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
            if sys.platform != "win32":
                import fcntl

                fcntl.flock(self._file, fcntl.LOCK_UN)  # a forked child has the file open, too
            os.close(self._file)  # which unlocks it
            self._file = None


def _wait_for_turn(file: int) -> None:
    """Let one process at a time append on Windows, which finds the end first and writes then."""
    for pause in _PAUSES if os.name == "nt" else ():
        if try_lock(file):
            return
        time.sleep(pause)


class JsonLines:
    """Records, one JSON object a line, only ever appended; a line that was cut short is skipped."""

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
        """Return what changes whenever something was written, also by another kernel."""
        try:
            facts = self.path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (facts.st_ino, facts.st_size)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record down, on a line of its own even where a crash has cut the last one short.

        Raises `OSError`: the disk is full, say: the record is not kept.
        """
        make_folder(self.path.parent)
        line = json.dumps(record, ensure_ascii=False, default=str) + "\n"
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            _wait_for_turn(file)
            if os.fstat(file).st_size:
                os.lseek(file, -1, os.SEEK_END)
                line = line if os.read(file, 1) == b"\n" else "\n" + line
            content = line.encode()
            # one write: lines of two kernels do not mix; a full disk may take a part of it
            if os.write(file, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        finally:
            os.close(file)
