"""The async client; `tests/sync_face.py` generates the blocking one.

It runs flows against one service on the kit's private loop, because an httpx client belongs to the
loop that opened it, and notebook callbacks have no loop. Blocking calls, also those of the async
client, run on the calling thread without an event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kit.client import calls, loops
from kit.client.bridge import LoopJob, bridge
from kit.client.calls import Flow
from kit.client.settings import Settings
from kit.client.sync import Client  # of the awaited face alone
from kit.errors import show_own_lines

if TYPE_CHECKING:
    from kit.client.http import LastResponse
    from kit.client.http.aio import AsyncSender

T = TypeVar("T")


class AsyncClient:
    """Runs flows against one service; usable from many threads at once."""

    #: Whether calls of this face need `await`.
    awaited = True

    def __init__(
        self,
        settings: Settings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        blocking: Client | None = None,  # of the awaited face alone
    ) -> None:
        self.settings = settings
        self._sleep = sleep
        self._lock = threading.Lock()
        self._waits = calls.WaitLog()
        self._http: AsyncSender | None = None
        self.blocking = blocking or Client(settings)  # of the awaited face alone

    def __repr__(self) -> str:
        return f"<AsyncClient {self.settings.current_url(self.settings.base_url)}>"

    @property
    def http(self) -> AsyncSender:
        """The connections, created on first use: importing httpx takes longest of all imports."""
        with self._lock:
            if self._http is None:
                from kit.client.http.aio import AsyncSender

                self._http = AsyncSender(self.settings)
            return self._http

    @property
    def last_response(self) -> LastResponse | None:
        """Facts about the last response, for support; None before the first."""
        return self._http.last_response if self._http else None

    def run(self, flow: Flow[T]) -> LoopJob[T]:
        """Run a flow and return its result; awaited, it is running already and can be canceled."""
        loops.warn()
        return bridge.submit(self._drive(flow))

    def block(self, flow: Flow[T]) -> T:
        """Run a flow to its end, blocking, on either face and inside any loop."""
        return self.blocking.run(flow)

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of this face, blocking, and return its result."""
        return bridge.run(work)

    async def perform(self, step: calls.Step) -> calls.Outcome:
        """Execute one step and return its outcome; again if the service has moved."""
        handle, location = _HANDLERS[type(step)], self.settings.location
        outcome: calls.Outcome = await handle(self, step)
        if location is None or not isinstance(outcome, calls.NoReply) or not outcome.refused_url:
            return outcome
        # finding it takes as long as a service takes to start
        return await asyncio.to_thread(location.follow, outcome) or await handle(self, step)

    async def close(self) -> None:
        """Close all connections, busy ones after their call; a later call opens new ones."""
        self.blocking.close()  # of the awaited face alone
        if self._http:
            await bridge.submit(self._http.close())

    def disconnect(self) -> None:
        """Close as `close` does, blocking, on either face."""
        bridge.run(self.close())

    async def _fetch(self, step: calls.FetchMedium) -> Path:
        from kit.client.http.web import Web

        web = Web(private=self.settings.private_media)
        return await asyncio.to_thread(web.fetch, step.url, self.settings.uploads)

    async def _pause(self, step: calls.Sleep) -> None:
        self._waits.add(step)
        await self._sleep(step.seconds)

    async def _drive(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                step = flow.send(await self.perform(step))
        except StopIteration as stop:
            result: T = stop.value
            return result
        except asyncio.CancelledError as interruption:
            show_own_lines(interruption)
            raise
        finally:
            flow.close()


#: The type of a step -> how it is executed.
_HANDLERS: dict[type, Callable[[AsyncClient, Any], Awaitable[Any]]] = {
    calls.SendRequest: lambda client, step: client.http.send(step),
    calls.UploadFile: lambda client, step: client.http.upload(step),
    calls.DownloadFile: lambda client, step: client.http.download(step),
    calls.FetchMedium: lambda client, step: client._fetch(step),
    calls.Sleep: lambda client, step: client._pause(step),
}
