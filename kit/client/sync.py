"""The blocking client: drives flows against one service.

What is awaited runs on the kit's private loop, because an httpx client belongs to the loop that
opened it and notebook callbacks have no loop of their own. What blocks runs on the calling thread,
with no event loop anywhere, also where the rest is awaited.

Made from the awaited face by `tests/sync_face.py`: change that one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kit.client import loops
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

if TYPE_CHECKING:
    from kit.client.http import LastResponse
    from kit.client.http.sync import Sender

T = TypeVar("T")


class Client:
    """Runs flows against one service; usable from many threads at once."""

    #: Whether a statement that calls this face begins with `await`.
    awaited = False

    def __init__(self, settings: Settings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.settings = settings
        self._sleep = sleep
        self._lock = threading.Lock()
        self._http: Sender | None = None

    def __repr__(self) -> str:
        return f"<Client {self.settings.at(self.settings.base_url)}>"

    @property
    def http(self) -> Sender:
        """The connections, made on first use: importing httpx takes longer than all the rest."""
        with self._lock:
            if self._http is None:
                from kit.client.http.sync import Sender

                self._http = Sender(self.settings)
            return self._http

    @property
    def last_response(self) -> LastResponse | None:
        """Facts about the last answer, for support; None before the first."""
        return self._http.last_response if self._http else None

    def run(self, flow: Flow[T]) -> T:
        """Run a flow and return its result; awaited, it has begun already and can be canceled."""
        loops.warn()
        return self._drive(flow)

    def block(self, flow: Flow[T]) -> T:
        """Run a flow to its end while the caller waits, on either face and inside any loop."""
        return self._drive(flow)

    def wait_for(self, work: T) -> T:
        """Return the result of a call of this face while the caller waits."""
        return work

    def perform(self, step: Step) -> Outcome:
        """Do one step and return its outcome; once more where the service had only moved."""
        do, moves = _DO[type(step)], self.settings.moves
        outcome: Outcome = do(self, step)
        if moves is None or not isinstance(outcome, NoReply) or not outcome.refused:
            return outcome
        # to look takes as long as a service takes to start
        return moves.follow(outcome) or do(self, step)

    def close(self) -> None:
        """Close all connections, those in use after their call; a later call opens its own."""
        if self._http:
            self._http.close()

    def disconnect(self) -> None:
        """Do as `close` while the caller waits, on either face."""
        self.close()

    def _fetch(self, step: FetchMedium) -> Path:
        from kit.client.http.web import Web

        web = Web(private=self.settings.private_media)
        return web.fetch(step.url, self.settings.uploads)

    def _rest(self, step: Sleep) -> None:
        log_wait(step)
        self._sleep(step.seconds)

    def _drive(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                step = flow.send(self.perform(step))
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            flow.close()


#: What a step asks for -> how it is done.
_DO: dict[type, Callable[[Client, Any], Any]] = {
    SendRequest: lambda client, step: client.http.send(step),
    UploadFile: lambda client, step: client.http.upload(step),
    DownloadFile: lambda client, step: client.http.download(step),
    FetchMedium: lambda client, step: client._fetch(step),
    Sleep: lambda client, step: client._rest(step),
}
