"""What a render process may take of the machine, set by itself before an engine runs in it.

The wall clock is not here: whoever waits for a job ends the process. Windows has none of these
bounds; the wall clock still holds there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_FILE_BYTES = 2 << 30
#: How much a render gives way to the service, and to whatever else is asked of the machine.
_NICENESS = 5


def hold(memory: int) -> None:
    """Let this process use so much memory and write no huge files; it leaves no core dumps.

    Parameters
    ----------
    memory : int
        Address space in bytes; 0 where neither that nor the size of files is bounded.
    """
    limits = {"RLIMIT_CORE": 0}
    if memory:
        limits |= {"RLIMIT_AS": memory, "RLIMIT_FSIZE": _FILE_BYTES}
    with suppress(ImportError):  # Windows
        import resource

        for name, most in limits.items():
            limit = getattr(resource, name)
            _, hard = resource.getrlimit(limit)
            bounded = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (bounded, hard))


def allow(cpu_seconds: int) -> None:
    """Let the next task use so much processor time; more ends the process.

    Parameters
    ----------
    cpu_seconds : int
        From now on; 0 where it is not bounded.
    """
    if not cpu_seconds:
        return
    with suppress(ImportError):  # Windows
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
        bounded = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (bounded, hard))


def give_way() -> None:
    """Let everything else on the machine go first."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # Linux may weigh sessions and not processes, and this one has a session of its own.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICENESS))
