"""Our end of the line to a render process: one JSON object a line, each in answer to something.

An engine shares its process with whoever answers for it. So every line names the task that it is
about; the first that names another one, cannot be read, or comes while nothing is asked breaks the
link for good, and what it said goes to nobody.
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

#: Bytes of the longest line; what an engine may say in one is bounded far below.
_LINE_LIMIT = 1 << 20
#: What the first line of a process is about.
_READY = ""


class LostError(KitError):
    """The process ended under the job, or cannot be trusted: nothing is known about the outcome."""


@dataclass(frozen=True, slots=True)
class _Question:
    task: str
    on_progress: Callable[[float], None]
    answer: asyncio.Future[dict[str, Any]]


class Link(asyncio.Protocol):
    """The line to one render process, to be asked one thing at a time.

    Attributes
    ----------
    broken : bool
        Whether it is gone, or something came that nobody had asked for. It stays so.
    """

    def __init__(self) -> None:
        self.broken = False
        self._unread = b""
        self._question: _Question | None = None
        self._transport: asyncio.Transport | None = None

    async def ready(self) -> None:
        """Wait until the process says that it has started.

        Raises
        ------
        LostError
            It ended before.
        """
        await self._answered(_READY, lambda _: None)

    async def ask(
        self, name: str, task: Mapping[str, Any], on_progress: Callable[[float], None]
    ) -> dict[str, Any]:
        """Hand over a task and return what is answered to it.

        Parameters
        ----------
        name : str
            What the answer has to name. Nobody must be able to guess it, nor may it come again.

        Returns
        -------
        dict
            Either ``result``, a dictionary, or the strings ``error`` and ``code``.

        Raises
        ------
        LostError
            The link is broken, or broke before the answer.
        """
        if self._transport is not None and not self.broken:
            self._transport.write(orjson.dumps({**task, "task": name}) + b"\n")
        return await self._answered(name, on_progress)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    async def _answered(self, task: str, on_progress: Callable[[float], None]) -> dict[str, Any]:
        if self.broken:
            raise LostError("the render process is gone")
        question = _Question(task, on_progress, asyncio.get_running_loop().create_future())
        self._question = question
        try:
            return await question.answer
        finally:
            self._question = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what to write to."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up what was asked: the process has ended, or hung up."""
        self._break("")

    def data_received(self, data: bytes) -> None:
        """Take in the lines that are whole."""
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._take(line)
        if self._unread and (self._question is None or len(self._unread) > _LINE_LIMIT):
            self._break("it says more than was asked")

    def _take(self, line: bytes) -> None:
        question = self._question
        message = _read(line)
        if question is None:
            self._break("it says something that was not asked")
        elif message is None:
            self._break("what it says makes no sense")
        elif message["task"] != question.task:
            self._break("it answers something else than was asked")
        elif "progress" in message:
            question.on_progress(message["progress"])
        elif not question.answer.done():
            self._question = None
            question.answer.set_result(message)

    def _break(self, why: str) -> None:
        """Trust the process no more, if it was trusted until now."""
        if self.broken:
            return
        self.broken = True
        question, self._question = self._question, None
        if question is not None and not question.answer.done():
            question.answer.set_exception(LostError("the render process ended under its job"))
        if why:
            _log.warning("a render process is given up: %s", why)
            self.close()


def _read(line: bytes) -> dict[str, Any] | None:
    """Return the object on a line, if it is one of those that are known here."""
    try:
        message = orjson.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or "task" not in message:
        return None
    if "progress" in message:
        known = isinstance(message["progress"], int | float) and 0 <= message["progress"] <= 1
    elif "result" in message:
        known = isinstance(message["result"], dict)
    else:
        known = all(isinstance(message.get(name), str) for name in ("error", "code"))
    return message if known else None
