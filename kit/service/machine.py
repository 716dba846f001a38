"""The resources that this process may use: in a container, less than the machine has.

Python counts the processors of the machine. The limits of a container are in its control groups,
version 1 or 2; the lowest limit of the group of this process and its parents applies.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

GIB = 1 << 30
_ROOT = Path("/")


def clock() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def processors(root: Path = _ROOT) -> int:
    """Return how many processors this process may use, at least 1; `root` is the file system."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    available = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, math.ceil(min([available, *_quotas(root)])))


def memory(root: Path = _ROOT) -> int | None:
    """Return how many bytes of memory this process may use; None if unknown."""
    limits = [*_limits(root)]
    if hasattr(os, "sysconf"):  # not on Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(limits, default=None)


def workers(root: Path = _ROOT, *, most: int = 4) -> int:
    """Return a good number of concurrent jobs: each needs a processor and a GiB."""
    room = memory(root)
    return max(1, min(most, processors(root), most if room is None else round(room / GIB)))


def open_files(target: int) -> int | None:
    """Raise the limit of open files towards `target` and return it; None if there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    new = target if hard == resource.RLIM_INFINITY else min(target, hard)
    if new <= soft:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (new, hard))
    except (OSError, ValueError):  # macOS has another limit that it does not report
        return soft
    return new


def _quotas(root: Path) -> Iterator[float]:
    for group in _groups(root, ""):
        quota, _, period = _read(group / "cpu.max").partition(" ")
        yield from _share(quota, period)
    for group in _groups(root, "cpu"):
        yield from _share(_read(group / "cpu.cfs_quota_us"), _read(group / "cpu.cfs_period_us"))


def _share(quota: str, period: str) -> Iterator[float]:
    # "max" or -1 mean no limit
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield int(quota) / int(period)


def _limits(root: Path) -> Iterator[int]:
    places = [group / "memory.max" for group in _groups(root, "")]
    places += [group / "memory.limit_in_bytes" for group in _groups(root, "memory")]
    for place in places:
        text = _read(place)
        if text.isdecimal():
            yield int(text)


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control group and its parents; of version 2 for ""."""
    top = root / "sys/fs/cgroup" / controller
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            # inside a container, the path may be one of the host: then only the top folder exists,
            # and it is the group of the container
            own = top / path.lstrip("/")
            yield from (place for place in (own, *own.parents) if place.is_relative_to(top))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def user() -> str:
    """Return the name of the user of this process."""
    import getpass  # rarely needed

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name, as in some containers
        return "unknown"
