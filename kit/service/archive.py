"""Archives and folders of files: written completely or not at all, and read as untrusted."""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from kit.errors import ConfigError
from kit.private import flush_path, flush_tree, replace_file

#: Adds a file under a name and returns its size.
Add = Callable[[str, Path], int]
#: Compression in the standard library by suffix of the archive.
_FORMATS = {".tar.gz": "gz", ".tgz": "gz", ".tar.zst": "zst"}
_NAMES = f"must be a folder or end in {' or '.join(_FORMATS)}"
#: Media cannot be compressed further; the database can, even at the lowest level.
_OPTIONS = {"gz": {"compresslevel": 1}, "zst": {}}


@contextmanager
def open_writer(target: Path, draft: Path) -> Iterator[Add]:
    """Yield a function that adds files to an archive or a folder.

    It is written at `draft`, on the same disk; `target` exists only when everything is on disk.
    """
    kind = _compression(target)
    if kind is None and target.suffix in (".zip", ".tar", ".gz", ".bz2", ".xz", ".zst"):
        raise ConfigError(f"{target} {_NAMES}")
    with _write_folder(draft) if kind is None else _write_archive(draft, kind) as add:
        yield add
    flush_tree(draft) if kind is None else flush_path(draft)
    replace_file(draft, target)
    flush_path(target.parent)


def unpack(source: Path, folder: Path) -> None:
    """Unpack an archive, or copy a folder, into a new folder."""
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as content:
                    _write(_target_path(folder, path.relative_to(source).as_posix()), content)
    elif not source.is_file():
        raise ConfigError(f"there is no backup at {source}")
    elif kind := _compression(source):
        _unpack_archive(source, kind, folder)
    else:
        raise ConfigError(f"{source} {_NAMES}")


def _compression(path: Path) -> str | None:
    kind = next((kind for ending, kind in _FORMATS.items() if path.name.endswith(ending)), None)
    if kind == "zst" and sys.version_info < (3, 14):
        raise ConfigError(".tar.zst needs Python 3.14; use .tar.gz")
    return kind


@contextmanager
def _write_archive(draft: Path, kind: str) -> Iterator[Add]:
    with _create_private(draft) as file:
        options: dict[str, Any] = _OPTIONS[kind]
        mode = cast("Any", f"w:{kind}")
        with tarfile.open(fileobj=file, mode=mode, **options) as archive:

            def add(name: str, path: Path) -> int:
                info = tarfile.TarInfo(name)
                with path.open("rb") as content:
                    status = os.fstat(content.fileno())
                    info.size, info.mtime = status.st_size, int(status.st_mtime)
                    info.mode = 0o600
                    archive.addfile(info, content)
                cast("Any", archive).members.clear()  # it would keep a record of each file
                return status.st_size

            yield add


@contextmanager
def _write_folder(draft: Path) -> Iterator[Add]:
    draft.mkdir(mode=0o700)

    def add(name: str, path: Path) -> int:
        with path.open("rb") as content:
            return _write(_target_path(draft, name), content)

    yield add


def _unpack_archive(source: Path, kind: str, folder: Path) -> None:
    try:
        with tarfile.open(source, cast("Any", f"r:{kind}")) as archive:
            while member := archive.next():
                cast("Any", archive).members.clear()  # it would keep a record of each file
                content = archive.extractfile(member) if member.isreg() else None
                if content is None:
                    raise ConfigError(f"{source} holds {member.name!r}, which is not a plain file")
                _write(_target_path(folder, member.name), content)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise ConfigError(f"{source} cannot be unpacked: {error}") from None


def _target_path(folder: Path, name: str) -> Path:
    """Return the path of an archive's file; raises if it is outside the folder."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name:
        raise ConfigError(f"the backup holds {name!r}, which leads out of its folder")
    for depth in range(1, len(parts)):
        folder.joinpath(*parts[:depth]).mkdir(mode=0o700, exist_ok=True)
    return folder.joinpath(*parts)


def _write(target: Path, content: IO[bytes]) -> int:
    with _create_private(target) as file:
        shutil.copyfileobj(content, file, 1 << 20)
        return file.tell()


def _create_private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
