"""A generation as server-sent events: what polling would show, as soon as it happens.

Each event's id is made from the row alone, so it means the same after a reconnect and in another
process: a client that says what it saw last is told only what came after.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import orjson
from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from kit.errors import ApiError, RateLimitError, UnavailableError
from kit.service.domain import generations, keys, uploads
from kit.service.domain.generations import STATUSES
from kit.service.domain.keys import Caller
from kit.service.http.context import Context, base_of, caller_of, context_of
from kit.service.http.described import Describer, media_of
from kit.service.http.patience import LOOK_SECONDS, Watch, until
from kit.service.worker.hub import Hub

router = APIRouter(prefix="/v1/creative-studio", tags=["generations"])

#: Ids of an attempt's events count up from `attempt * _ATTEMPT`: its beginning, its progress in
#: thousandths, its end.
_ATTEMPT = 10_000
_END = _ATTEMPT - 1
#: Seconds between two progress events; milliseconds after which a client should come again.
_PROGRESS_SECONDS = 0.25
_RETRY_MS = 1000
_LONGEST_ID = 15
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # a proxy that collects the answer first would defeat it
}
_BEAT = b": still here\n\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen of a generation at one moment: an event that may be worth sending."""

    id: int
    name: str
    data: bytes
    final: bool = False

    def __bytes__(self) -> bytes:
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self.id, self.name.encode(), self.data)


class EventLook(Protocol):
    """What tells how a generation is now."""

    def __call__(self) -> Awaitable[list[Seen]]:
        """Return the events of its attempt so far, oldest first."""
        ...


@router.get("/generations/{generation_id}/events")
async def watch_generation(request: Request, generation_id: str) -> Response:
    """Follow a generation as server-sent events until it is finished.

    `progress` carries `{"progress": 0.42}`, `status` carries `{"status": "processing"}` when an
    attempt begins and at last the finished generation as operation 6 answers it. After a break,
    `Last-Event-ID` resumes without repeating anything; 204 says that all was seen. Polling stays
    authoritative.
    """
    context, caller = context_of(request), caller_of(request)
    hub = context.dispatcher.hub
    if hub.full_for(caller.account_id):
        raise _crowded(hub)
    look = _looker(context, generation_id, caller, base_of(request))
    seen, last = await look(), last_id(request.headers.get("last-event-id", ""))
    if seen[-1].final and seen[-1].id <= last:
        return Response(status_code=204)  # tells an EventSource not to come again
    watch = partial(hub.watch, generation_id, caller.account_id)
    return EventStream(hub, watch, look, last, context.settings.heartbeat_seconds)


def _crowded(hub: Hub) -> ApiError:
    after = {"Retry-After": "5"}
    if hub.full:
        return UnavailableError("too many are watching just now; poll instead", headers=after)
    sentence = "this account has as many streams and waiting requests as it may; poll instead"
    return RateLimitError(sentence, headers=after)


def last_id(text: str) -> int:
    """Return the id that a client saw last; -1 for none or for one that is none of ours."""
    known = text.isascii() and text.isdigit() and len(text) <= _LONGEST_ID
    return int(text) if known else -1


def seen_of(row: Any, fraction: float, describe: Callable[[Any], dict[str, Any]]) -> list[Seen]:
    """Return the events of a row's attempt up to now, oldest first.

    Parameters
    ----------
    fraction : float
        How far the attempt is, 0 to 1; newer than the row where the job runs here.
    describe : callable
        Writes a finished row as operation 6 answers it.
    """
    first = row.attempt * _ATTEMPT
    status = STATUSES[row.state]
    if status != "processing":
        return [Seen(first + _END, "status", orjson.dumps(describe(row)), final=True)]
    told = [Seen(first, "status", orjson.dumps({"status": status}))]
    if row.state == "running" and fraction > 0:
        thousandths = round(min(fraction, 1.0) * 1000)
        data = orjson.dumps({"progress": thousandths / 1000})
        told.append(Seen(first + 1 + thousandths, "progress", data))
    return told


class EventStream(Response):
    """An answer that goes on until the generation is finished, the client leaves or we stop.

    Parameters
    ----------
    last : int
        The id that the client saw last.
    heartbeat : float
        Seconds of silence after which a comment shows proxies that the line is in use.
    """

    def __init__(
        self, hub: Hub, watch: Watch, look: EventLook, last: int, heartbeat: float
    ) -> None:
        # Not the parent's: an answer without an end has no Content-Length.
        self.status_code = 200
        self.background = None
        self.init_headers(_HEADERS)
        self._hub = hub
        self._watch = watch
        self._look = look
        self._last = last
        self._heartbeat = heartbeat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events as they come."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        with self._watch() as woken:
            gone = asyncio.create_task(_gone(receive))
            gone.add_done_callback(lambda _: woken.set())
            try:
                async for chunk in self._chunks(woken, gone):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            finally:
                gone.cancel()
                with suppress(asyncio.CancelledError):
                    await gone
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _chunks(self, woken: asyncio.Event, gone: asyncio.Task[None]) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        yield b"retry: %d\n\n" % _RETRY_MS
        sent, progressed = loop.time(), 0.0
        while not (gone.done() or self._hub.closed):
            woken.clear()
            try:
                news = await self._news(loop.time() - progressed >= _PROGRESS_SECONDS)
            except ApiError:
                return  # the answer has begun: whoever comes again is told why
            now = loop.time()
            for event in news:
                yield bytes(event)
                progressed = now if event.name == "progress" else progressed
            if news and news[-1].final:
                return
            if not news and now - sent >= self._heartbeat:
                yield _BEAT
            sent = now if news or now - sent >= self._heartbeat else sent
            await until(woken, self._pause(now, sent, progressed))

    async def _news(self, progress: bool) -> list[Seen]:
        """Return what the client has not seen; progress only when it is time for it."""
        news = [
            event
            for event in await self._look()
            if event.id > self._last and (progress or event.name != "progress")
        ]
        self._last = news[-1].id if news else self._last
        return news

    def _pause(self, now: float, sent: float, progressed: float) -> float:
        """Return the seconds until the next look, whoever wakes us before."""
        due = progressed + _PROGRESS_SECONDS
        waits = (LOOK_SECONDS, sent + self._heartbeat - now, due - now if due > now else 60.0)
        return max(0.0, min(waits))


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _looker(context: Context, generation_id: str, caller: Caller, base: str) -> EventLook:
    async def look() -> list[Seen]:
        # At every look: a key that is revoked sees nothing more.
        await context.database.read(keys.still_good(caller, context.clock()))
        row = await context.database.read(generations.get(generation_id, caller.account_id))
        here = row.owner == context.dispatcher.name
        live = context.dispatcher.progress.get(row.id, 0.0) if here else 0.0
        files: dict[str, Any] = {}
        if STATUSES[row.state] != "processing":
            files = await context.database.read(uploads.of_generation(media_of([row])))
        return seen_of(
            row, max(live, row.progress), Describer(context, base, files, caller.sign_outs)
        )

    return look
