"""The awaiting face: drives flows on the kit's private loop, awaitable from any other.

An httpx client belongs to the loop that opened it, and notebook callbacks have no loop of their
own. So all flows run on one loop in one thread, and what the caller holds is a `Job`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from kit.client import loops
from kit.client.actions import (
    DownloadFile,
    Flow,
    NoReply,
    Outcome,
    SendRequest,
    Sleep,
    Step,
    UploadFile,
    log_wait,
)
from kit.client.bridge import Bridge, LoopJob, bridge
from kit.client.settings import Settings

if TYPE_CHECKING:
    from kit.client.http import LastResponse
    from kit.client.transports.aio import AsyncSender

T = TypeVar("T")


class AsyncClient:
    """Runs flows against one service in the background; usable from any loop and any thread.

    Parameters
    ----------
    sleep : callable, optional
        How seconds pass; tests pass one that does not take any.
    """

    #: Whether what it runs has to be awaited.
    awaited = True

    def __init__(
        self,
        settings: Settings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on: Bridge = bridge,
    ) -> None:
        self.settings = settings
        self._sleep = sleep
        self._bridge = on
        self._lock = threading.Lock()
        self._http: AsyncSender | None = None

    def __repr__(self) -> str:
        return f"<AsyncClient {self.settings.at(self.settings.base_url)}>"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def http(self) -> AsyncSender:
        """The connection, built on first use."""
        with self._lock:
            if self._http is None:
                from kit.client.transports.aio import AsyncSender

                self._http = AsyncSender(self.settings)
            return self._http

    @property
    def last_response(self) -> LastResponse | None:
        """Facts about the last answer, for support; None before the first."""
        return self._http.last_response if self._http else None

    def run(self, flow: Flow[T]) -> LoopJob[T]:
        """Start a flow now and return its job: await it, cancel it, or let it go on."""
        loops.warn()
        return self._bridge.submit(self._drive(flow))

    def block(self, flow: Flow[T]) -> T:
        """Run a flow to its end while the caller waits; safe inside a running loop."""
        return self._bridge.run(self._drive(flow))

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine of this face gives; on a thread that may block."""
        return self._bridge.run(work)

    async def perform(self, step: Step) -> Outcome:
        """Do one step and return its outcome; once more where the service had only moved."""
        do, moves = _DO[type(step)], self.settings.moves
        outcome: Outcome = await do(self, step)
        if moves is None or not isinstance(outcome, NoReply) or not outcome.refused:
            return outcome
        # looking takes as long as a service takes to start, and the loop has other things to do
        return await asyncio.to_thread(moves.follow, outcome) or await do(self, step)

    async def close(self) -> None:
        """Close all connections, those in use after their call; a later call opens its own."""
        if self._http:
            await self._bridge.submit(self._http.close())

    async def _rest(self, step: Sleep) -> None:
        log_wait(step)
        await self._sleep(step.seconds)

    async def _drive(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                step = flow.send(await self.perform(step))
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            flow.close()


#: What a step asks for -> how it is done.
_DO: dict[type, Callable[[AsyncClient, Any], Awaitable[Any]]] = {
    SendRequest: lambda client, step: client.http.send(step),
    UploadFile: lambda client, step: client.http.upload(step),
    DownloadFile: lambda client, step: client.http.download(step),
    Sleep: lambda client, step: client._rest(step),
}
