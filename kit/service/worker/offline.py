"""A process without a network: the kernel refuses it new sockets, for good.

For processes that only decode what strangers send: whoever takes one over reaches nobody. Linux on
the two usual processors; elsewhere nothing happens. What is open already stays open.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

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
