"""The parent's end of the channel to a render process: one JSON object per line, responses only.

Engines share the process with the code that responds, so responses are not trusted. Each line must
name its task; a line that names another task, is malformed, or arrives while no task is running
breaks the channel permanently, and its content is ignored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson

from kit.errors import KitError

_log = logging.getLogger("kit.worker")

#: Maximum length of a line in bytes; the content from an engine is limited to far less.
_MAX_LINE_BYTES = 1 << 20
#: The task in the first line of a process.
_READY = ""
_START_SECONDS = 60.0


class LostError(KitError):
    """The process ended during the job, or cannot be trusted: the result is unknown."""


@dataclass(frozen=True, slots=True)
class _Pending:
    task: str
    on_progress: Callable[[float], None]
    answer: asyncio.Future[dict[str, Any]]


class Channel(asyncio.Protocol):
    """The channel to one render process, for one task at a time."""

    def __init__(self) -> None:
        #: Whether the process ended or sent an unexpected line; never reset.
        self.broken = False
        self._unread = b""
        #: Set when the process has started, or has ended before.
        self._started = asyncio.Event()
        self._pending: _Pending | None = None
        self._is_canceled = False
        self._transport: asyncio.Transport | None = None

    async def wait_ready(self) -> None:
        """Wait until the process has started or ended; raise `LostError` after a time limit."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._started.wait()
        except TimeoutError:
            raise LostError("it did not start") from None

    async def run(
        self, name: str, task: Mapping[str, Any], on_progress: Callable[[float], None]
    ) -> dict[str, Any]:
        """Send a task and return its response: ``result``, or the strings ``error`` and ``code``.

        Raises `LostError` if the channel is broken, or breaks before the response.

        `name`: the id that the response must have; it must be unpredictable and used only once.
        """
        if self.broken:
            raise LostError("it is gone")
        self._pending = _Pending(name, on_progress, asyncio.get_running_loop().create_future())
        try:
            if self._is_canceled:
                return {"error": "canceled", "code": "canceled"}
            if self._transport is not None:
                self._transport.write(orjson.dumps({**task, "task": name}) + b"\n")
            return await self._pending.answer
        finally:
            self._pending, self._is_canceled = None, False

    def cancel(self) -> None:
        """Request the process to end the running task; the next one, if it is still starting."""
        self._is_canceled = True
        if self._transport is not None and self._pending is not None:
            self._transport.write(orjson.dumps({"cancel": self._pending.task}) + b"\n")

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the task: the process has ended, or closed its end."""
        self._break("")

    def data_received(self, data: bytes) -> None:
        """Handle complete lines."""
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._handle(line)
        is_expected = self._pending is not None or not self._started.is_set()
        if self._unread and (not is_expected or len(self._unread) > _MAX_LINE_BYTES):
            self._break("it sent more than was asked for")

    def _handle(self, line: bytes) -> None:
        pending = self._pending
        message = _parse(line)
        if not self._started.is_set() and message and message["task"] == _READY:
            self._started.set()
        elif pending is None:
            self._break("it sent something that was not asked for")
        elif message is None:
            self._break("it sent something that is not a message")
        elif message["task"] != pending.task:
            self._break("it answered another task")
        elif "progress" in message:
            pending.on_progress(message["progress"])
        elif not pending.answer.done():
            self._pending = None
            pending.answer.set_result(message)

    def _break(self, reason: str) -> None:
        """Mark the channel as broken and fail the task."""
        if self.broken:
            return
        self.broken = True
        self._started.set()
        pending, self._pending = self._pending, None
        if pending is not None and not pending.answer.done():
            pending.answer.set_exception(LostError("it ended during its job"))
        if reason:
            _log.warning("a render process is killed: %s", reason)
            self.close()


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the message in a line, or None if it is malformed."""
    try:
        message = orjson.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or "task" not in message:
        return None
    if "progress" in message:
        is_valid = isinstance(message["progress"], int | float) and 0 <= message["progress"] <= 1
    elif "result" in message:
        is_valid = isinstance(message["result"], dict)
    else:
        is_valid = all(isinstance(message.get(name), str) for name in ("error", "code"))
    return message if is_valid else None
