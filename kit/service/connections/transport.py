"""An answer's head and body leave in one piece: one system call, and one waking of whoever waits.

The server writes them one after the other, and its event loop sends each at once. On a short answer
the second sending costs as much as making it.
"""

from __future__ import annotations

import asyncio
from typing import Any

#: Bytes above which nothing is gained by waiting for more.
_ENOUGH = 16_384


class Gathering:
    """A transport that keeps small writes until the running callback ends.

    Everything else is the transport's own.
    """

    __slots__ = ("_loop", "_size", "_transport", "_waiting")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send some bytes soon, in order."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _ENOUGH:  # and so that whoever sends much is told to pause
            self._flush()

    def write_eof(self) -> None:
        """Send what waits and say that nothing comes after it."""
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Send what waits and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting.clear()
            self._size = 0
            self._transport.write(data)
