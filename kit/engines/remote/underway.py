"""Clips that another machine is making: a note of each, as long as somebody waits for it.

Video endpoints know no idempotency keys. Whoever takes over the job of a process that was killed
finds its note, and follows the clip that is being made instead of having a second one made.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kit.engines.base import Job
from kit.engines.remote.site import Site
from kit.private import make_folder

_SUFFIX = ".clip"
#: Notes are removed with the wait for the clip; one that is older was left by a job that nobody
#: took over, and endpoints do not keep clips for longer.
_OLDEST_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a clip.

    Parameters
    ----------
    found : str
        The address that a process which was killed has left; empty without one.
    file : file, optional
        Where it is written down, without a buffer; None where that cannot be.
    """

    found: str = ""
    file: IO[bytes] | None = None

    def keep(self, address: str) -> None:
        """Write down where the clip is asked after, if that can be: it is being made anyway."""
        if self.file is not None:
            with suppress(OSError):
                self.file.truncate(0)
                self.file.write(address.encode())


@contextmanager
def underway(folder: Path, order: str) -> Iterator[Note]:
    """Yield the note of an order, and remove it at the end, however the wait for the clip ends.

    Another process that waits for the same order has the note locked: then there is none here, and
    each of the two has its own clip made.
    """
    path = folder / f"{order}{_SUFFIX}"
    file = _opened(path)
    if file is None:
        yield Note()
        return
    with file:
        file.seek(0)
        try:
            yield Note(file.read().decode(errors="replace"), file)
        finally:
            with suppress(OSError):
                path.unlink()


def order_of(site: Site, path: str, model: str, job: Job) -> str:
    """Return what tells the order of a job from all others; the same job has the same one."""
    media = {name: [_digest(path) for path in paths] for name, paths in job.media.items()}
    parts = [site.url, path, model, job.prompt, dict(job.parameters), job.seed, media]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> IO[bytes] | None:
    """Return a note, locked; None where somebody else has it, or where there cannot be any."""
    try:
        make_folder(path.parent)
        _sweep(path.parent)
        file = path.open("a+b", buffering=0)
    except OSError:
        return None
    if _lock(file):
        return file
    file.close()
    return None


def _sweep(folder: Path) -> None:
    for path in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):  # somebody else was faster
            if time.time() - path.stat().st_mtime > _OLDEST_SECONDS:
                path.unlink()


def _lock(file: IO[bytes]) -> bool:
    """Take the lock of a file unless another process has it; it is free when that one ends."""
    if os.name == "nt":  # pragma: no cover - a file that is locked there cannot be removed
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
