"""Limits of a render process, set by the process itself before an engine runs in it.

Memory, file size and processor time are limited, and a process that only decodes uploads has no
network: the kernel permanently refuses new sockets. The limit of wall clock is not set here but
enforced by the parent. Windows has none of these limits, and macOS none of memory; the limit of
wall clock applies there, too.
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

_MAX_FILE_BYTES = 2 << 30
#: Niceness of a render: the service and other programs come first.
_NICENESS = 5


#: By processor: its number in audits, and the numbers of the system calls `socket` and
#: `io_uring_setup`, which could create sockets as well.
_SYSTEM_CALLS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
#: Offsets of the numbers of the system call and of the processor in the filter's data.
_NUMBER, _PROCESSOR = 0, 4
#: First number of system calls of the x32 ABI on x86-64, which has its own numbers.
_X32 = 0x40000000
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000 | errno.EPERM
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def limit_memory(memory: int) -> None:
    """Disable core dumps; limit address space and file size of this process, unless 0 is given."""
    _limit("RLIMIT_CORE", 0)
    if memory:
        _limit("RLIMIT_AS", memory)
        _limit("RLIMIT_FSIZE", _MAX_FILE_BYTES)


def limit_cpu(cpu_seconds: int) -> None:
    """Limit the processor time of the next task, 0 for no limit; more ends the process."""
    if cpu_seconds:
        _limit("RLIMIT_CPU", int(time.process_time()) + 1 + cpu_seconds)


def _limit(name: str, most: int) -> None:
    with suppress(ImportError, ValueError):  # Windows has no limits, macOS rejects one of memory
        import resource

        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(
            limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )


def lower_priority() -> None:
    """Lower the priority below all other processes."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # Linux may schedule by session instead of process, and this process has its own session.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICENESS))
    # If memory runs out, a render is killed and refunded, not the notebook with its data.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def block_network() -> bool:
    """Refuse new sockets in this process from now on; return whether that worked.

    Threads that are already running are not affected: call it before any start.

    Source: https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html
    """
    numbers = _SYSTEM_CALLS.get(platform.machine())
    if numbers is None or not sys.platform.startswith("linux"):
        return False
    program = _build_program(*numbers)
    steps = ctypes.create_string_buffer(program)
    # struct sock_fprog: number of instructions, and pointer to them
    packed = ctypes.create_string_buffer(
        struct.pack("HP", len(program) // 8, ctypes.addressof(steps))
    )
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    filtered = _SECCOMP, _FILTER, ctypes.addressof(packed), 0, 0
    return not prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not prctl(*filtered)


def _build_program(processor: int, *calls: int) -> bytes:
    """Return a filter that refuses system calls, and all calls for another processor."""
    tests = [(_IF_AT_LEAST, _X32), *((_IF_EQUAL, call) for call in calls)]
    steps = [(_LOAD, 0, 0, _PROCESSOR), (_IF_EQUAL, 0, len(tests) + 2, processor)]
    steps.append((_LOAD, 0, 0, _NUMBER))
    for jump, (kind, number) in zip(range(len(tests), 0, -1), tests, strict=True):
        steps.append((kind, jump, 0, number))
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
