"""The async client; `tests/sync_face.py` generates the blocking one.

It drives flows against one service on the kit's private loop, because an httpx client belongs to
the loop that opened it, and notebook callbacks have no loop. Blocking calls run on the calling
thread without an event loop, also those of the async client.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kit.client import loops
from kit.client.bridge import LoopJob, bridge
from kit.client.calls import (
    DownloadFile,
    FetchMedium,
    Flow,
    NoReply,
    Outcome,
    SendRequest,
    Sleep,
    Step,
    UploadFile,
    log_wait,
)
from kit.client.settings import Settings
from kit.client.sync import Client  # of the awaited face alone

if TYPE_CHECKING:
    from kit.client.http import LastResponse
    from kit.client.http.aio import AsyncSender

T = TypeVar("T")


class AsyncClient:
    """Runs flows against one service; usable from many threads at once."""

    #: Whether a statement that calls this face begins with `await`.
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
        self._http: AsyncSender | None = None
        self.blocking = blocking or Client(settings)  # of the awaited face alone

    def __repr__(self) -> str:
        return f"<AsyncClient {self.settings.at(self.settings.base_url)}>"

    @property
    def http(self) -> AsyncSender:
        """The connections, made on first use: importing httpx takes longer than all the rest."""
        with self._lock:
            if self._http is None:
                from kit.client.http.aio import AsyncSender

                self._http = AsyncSender(self.settings)
            return self._http

    @property
    def last_response(self) -> LastResponse | None:
        """Facts about the last answer, for support; None before the first."""
        return self._http.last_response if self._http else None

    def run(self, flow: Flow[T]) -> LoopJob[T]:
        """Run a flow and return its result; awaited, it has begun already and can be canceled."""
        loops.warn()
        return bridge.submit(self._drive(flow))

    def block(self, flow: Flow[T]) -> T:
        """Run a flow to its end while the caller waits, on either face and inside any loop."""
        return self.blocking.run(flow)

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a call of this face while the caller waits."""
        return bridge.run(work)

    async def perform(self, step: Step) -> Outcome:
        """Do one step and return its outcome; once more where the service had only moved."""
        do, moves = _DO[type(step)], self.settings.moves
        outcome: Outcome = await do(self, step)
        if moves is None or not isinstance(outcome, NoReply) or not outcome.refused:
            return outcome
        # to look takes as long as a service takes to start
        return await asyncio.to_thread(moves.follow, outcome) or await do(self, step)

    async def close(self) -> None:
        """Close all connections, those in use after their call; a later call opens its own."""
        self.blocking.close()  # of the awaited face alone
        if self._http:
            await bridge.submit(self._http.close())

    def disconnect(self) -> None:
        """Do as `close` while the caller waits, on either face."""
        bridge.run(self.close())

    async def _fetch(self, step: FetchMedium) -> Path:
        from kit.client.http.web import Web

        web = Web(private=self.settings.private_media)
        return await asyncio.to_thread(web.fetch, step.url, self.settings.uploads)

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
    FetchMedium: lambda client, step: client._fetch(step),
    Sleep: lambda client, step: client._rest(step),
}
