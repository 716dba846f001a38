"""An answer's head and body leave in one piece: one system call, and one waking of whoever waits.

The server writes them one after the other, and its event loop sends each at once. On a short answer
the second sending costs as much as making it.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Bytes above which nothing is gained by waiting for more.
_ENOUGH = 16_384
_REFUSAL = b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


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


class GatheringProtocol(HttpToolsProtocol):
    """The server's protocol on such a transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to talk to a client."""
        super().connection_made(cast("asyncio.Transport", Gathering(transport, self.loop)))


class Refusing(asyncio.Protocol):
    """What answers a wish for a web socket: there is none, so no library for them is loaded."""

    def __init__(self, **_: Any) -> None:
        super().__init__()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Refuse, whatever is wished for."""
        sender = cast("asyncio.WriteTransport", transport)
        sender.write(_REFUSAL)
        sender.close()
