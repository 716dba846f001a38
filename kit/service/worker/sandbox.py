"""What a render process may take of the machine, set by the process before an engine runs in it.

Memory, size of files and processor time are bounded, and a process that only decodes what strangers
send gets no network: the kernel refuses it new sockets for good. The wall clock is not here, for
the parent keeps it. Windows has none of these bounds, and macOS none of memory; the wall clock
still holds there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

_FILE_BYTES = 2 << 30
#: How much a render gives way to the service, and to whatever else is asked of the machine.
_NICENESS = 5


#: Processor -> its number in audits, and its numbers of the calls `socket` and `io_uring_setup`,
#: which could make sockets as well.
_CALLS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
#: Where a filter finds the call's number and the processor's.
_NUMBER, _PROCESSOR = 0, 4
#: From here on calls of another convention on x86-64, under other numbers.
_X32 = 0x40000000
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000 | errno.EPERM
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def limit_memory(memory: int) -> None:
    """Let this process use so much memory and write no huge files; it leaves no core dumps.

    With 0 bytes of address space, neither that nor the size of files is bounded.
    """
    _limit("RLIMIT_CORE", 0)
    if memory:
        _limit("RLIMIT_AS", memory)
        _limit("RLIMIT_FSIZE", _FILE_BYTES)


def limit_cpu(cpu_seconds: int) -> None:
    """Let the next task use so much processor time, or any with 0; more ends the process."""
    if cpu_seconds:
        _limit("RLIMIT_CPU", int(time.process_time()) + 1 + cpu_seconds)


def _limit(name: str, most: int) -> None:
    with suppress(ImportError, ValueError):  # Windows has none, and macOS refuses one of memory
        import resource

        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(
            limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )


def lower_priority() -> None:
    """Let everything else on the machine go first."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # Linux may weigh sessions and not processes, and this one has a session of its own.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICENESS))
    # Where memory runs out, a render is lost and refunded, and not the notebook with all it holds.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def block_network() -> bool:
    """Let this process make no socket from now on; return whether that is so.

    Threads that run already are not concerned: call it before there are any.

    Source: https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html
    """
    known = _CALLS.get(platform.machine())
    if known is None or not sys.platform.startswith("linux"):
        return False
    program = _program(*known)
    steps = ctypes.create_string_buffer(program)
    # struct sock_fprog: how many steps, and where
    whole = ctypes.create_string_buffer(
        struct.pack("HP", len(program) // 8, ctypes.addressof(steps))
    )
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    filtered = _SECCOMP, _FILTER, ctypes.addressof(whole), 0, 0
    return not prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not prctl(*filtered)


def _program(processor: int, *calls: int) -> bytes:
    """Return a filter that refuses some calls, and any made for another processor."""
    tests = [(_IF_AT_LEAST, _X32), *((_IF_EQUAL, call) for call in calls)]
    steps = [(_LOAD, 0, 0, _PROCESSOR), (_IF_EQUAL, 0, len(tests) + 2, processor)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    for left, (kind, number) in zip(range(len(tests), 0, -1), tests, strict=True):
        steps.append((kind, left, 0, number))
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
