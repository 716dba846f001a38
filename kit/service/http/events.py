"""Waiting for changes of a generation: a request that waits, or a stream of server-sent events.

A client asks to wait with ``Prefer: wait=30`` (RFC 7240, section 4.3). Without ``If-None-Match`` it
waits until the generation is finished; with it, until the generation differs from the version of
that ETag. After the time limit, the response is that of a plain poll. If an account has too many
waiting requests, further ones are answered immediately, without ``Preference-Applied``.

The id of an event is computed from the row alone, so it stays the same after a reconnect and in
another process: a client that sends the last id that it received gets only newer events.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from kit.errors import ApiError, RateLimitError, UnavailableError
from kit.service.domain import generations, keys, uploads
from kit.service.domain.generations import STATUSES
from kit.service.domain.keys import Caller
from kit.service.http.context import Context, get_base_url, get_caller, get_context
from kit.service.http.routing import Router
from kit.service.http.serializers import GenerationSerializer
from kit.service.worker.watchers import Watchers

router = Router("/v1/creative-studio", "generations")

T = TypeVar("T")
#: Starts watching a generation; see `kit.service.worker.watchers.Watchers.watch`.
Watch = Callable[[], AbstractContextManager[asyncio.Event]]

#: Maximum of seconds that a request waits: proxies close connections without data after a minute.
MAX_WAIT = 30
#: Seconds between two reads of the key and of the row, which other processes may change.
POLL_SECONDS = 1.0
_WAIT_PREFERENCE = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", re.IGNORECASE)

#: Event ids of an attempt count up from `attempt * _IDS_PER_ATTEMPT`: its start, its progress in
#: thousandths, its end.
_IDS_PER_ATTEMPT = 10_000
_END_ID = _IDS_PER_ATTEMPT - 1
#: Minimum of seconds between progress events; milliseconds until a client should reconnect.
_PROGRESS_SECONDS = 0.25
_RETRY_MS = 1000
_MAX_ID_DIGITS = 15
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # a proxy must not buffer the stream
}
_HEARTBEAT = b": still here\n\n"


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a generation's attempt."""

    id: int
    name: str
    data: bytes
    final: bool = False

    def __bytes__(self) -> bytes:
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self.id, self.name.encode(), self.data)


#: Reads the events of a generation's current attempt, oldest first.
ReadEvents: TypeAlias = Callable[[], Awaitable[list[StreamEvent]]]


@router.route("GET", "/generations/{generation_id}/events")
async def watch_generation(request: Request, generation_id: str) -> Response:
    """Follow a generation as server-sent events until it is finished.

    `progress` has `{"progress": 0.42}`; `status` has `{"status": "processing"}` when an attempt
    begins, and finally the finished generation, as `GET` of it returns. After an interruption,
    `Last-Event-ID` resumes without repetition; 204 means that no event is left. Polling stays
    authoritative.
    """
    context, caller = get_context(request), get_caller(request)
    watchers = context.dispatcher.watchers
    read = _make_reader(context, generation_id, caller, get_base_url(request))
    events, last = await read(), parse_last_id(request.headers.get("last-event-id", ""))
    if events[-1].final and events[-1].id <= last:
        return Response(status_code=204)  # tells an EventSource not to reconnect
    if request.method == "HEAD":
        return StreamingResponse(iter(()), headers=_HEADERS)
    # No await between this check and the count, so that concurrent requests are counted one by one.
    if watchers.is_full_for(caller.account_id):
        after = {"Retry-After": "5"}
        if watchers.is_full:
            raise UnavailableError("too many requests are waiting; poll instead", headers=after)
        sentence = "this account has too many streams and waiting requests; poll instead"
        raise RateLimitError(sentence, headers=after)
    watch = partial(watchers.watch, generation_id, caller.account_id)
    chunks = stream_events(watchers, watch, read, last, context.settings.heartbeat_seconds)
    await anext(chunks)  # counted from here on
    return StreamingResponse(chunks, headers=_HEADERS)


def parse_last_id(text: str) -> int:
    """Return the last id that a client received; -1 if there is none or it is invalid."""
    is_valid = text.isascii() and text.isdigit() and len(text) <= _MAX_ID_DIGITS
    return int(text) if is_valid else -1


def events_of(
    row: Any, fraction: float, serialize: Callable[[Any], dict[str, Any]]
) -> list[StreamEvent]:
    """Return the events of a row's attempt so far, oldest first."""
    first = row.attempt * _IDS_PER_ATTEMPT
    status = STATUSES[row.state]
    if status != "processing":
        return [StreamEvent(first + _END_ID, "status", orjson.dumps(serialize(row)), final=True)]
    events = [StreamEvent(first, "status", orjson.dumps({"status": status}))]
    if row.state == "running" and fraction > 0:
        thousandths = round(min(fraction, 1.0) * 1000)
        data = orjson.dumps({"progress": thousandths / 1000})
        events.append(StreamEvent(first + 1 + thousandths, "progress", data))
    return events


async def stream_events(
    watchers: Watchers, watch: Watch, read: ReadEvents, last: int, heartbeat: float
) -> AsyncGenerator[bytes, None]:
    """Yield nothing, then events after the id `last` until the generation or the service ends.

    After `heartbeat` seconds without events, a comment keeps proxies from closing the connection.
    """
    loop = asyncio.get_running_loop()
    last_sent, progress_sent = loop.time(), 0.0
    with watch() as changed:
        yield b""
        yield b"retry: %d\n\n" % _RETRY_MS
        while not watchers.closed:
            try:
                events = await read()
            except ApiError:
                return  # the response has begun: a client that reconnects gets the error
            now = loop.time()
            is_early = now - progress_sent < _PROGRESS_SECONDS
            new_events = [
                event
                for event in events
                if event.id > last and not (is_early and event.name == "progress")
            ]
            for event in new_events:
                yield bytes(event)
                last = event.id
                progress_sent = now if event.name == "progress" else progress_sent
            if new_events and new_events[-1].final:
                return
            if not new_events and now - last_sent >= heartbeat:
                yield _HEARTBEAT
            last_sent = now if new_events or now - last_sent >= heartbeat else last_sent
            due = progress_sent + _PROGRESS_SECONDS - now
            pauses = (POLL_SECONDS, last_sent + heartbeat - now, due if due > 0 else POLL_SECONDS)
            await wait_until(changed, max(0.0, min(pauses)))


def _make_reader(context: Context, generation_id: str, caller: Caller, base: str) -> ReadEvents:
    async def read() -> list[StreamEvent]:
        # Every time, because the key may be revoked meanwhile.
        await context.database.read(keys.check_valid(caller, context.clock()))
        row = await context.database.read(generations.get(generation_id, caller.account_id))
        is_own = row.owner == context.dispatcher.name
        progress = context.dispatcher.progress.get(row.id, 0.0) if is_own else 0.0
        files: dict[str, Any] = {}
        if STATUSES[row.state] != "processing":
            files = await context.database.read(uploads.of_generations([row]))
        serialize = GenerationSerializer(context, base, files, caller.sign_outs)
        return events_of(row, max(progress, row.progress), serialize)

    return read


def grant_wait(prefer: str, watchers: Watchers, account_id: str) -> float:
    """Return the seconds that a request may wait; 0 if too many are waiting already."""
    found = _WAIT_PREFERENCE.search(prefer) if prefer else None
    return min(int(found[1]), MAX_WAIT) if found and not watchers.is_full_for(account_id) else 0


async def await_change(
    watchers: Watchers,
    watch: Watch,
    read: Callable[[], Awaitable[T]],
    is_new: Callable[[T], bool],
    check: Callable[[], Awaitable[None]],
    seconds: float,
) -> T:
    """Return the state of a generation once `is_new` accepts it, or at the time limit.

    After each wait, `check` may raise, e.g. because the key was revoked meanwhile.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    with watch() as changed:
        while True:
            state, remaining = await read(), end - loop.time()
            if is_new(state) or watchers.closed or remaining <= 0:
                return state
            await wait_until(changed, min(remaining, POLL_SECONDS))
            await check()


async def wait_until(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event up to a time limit, and clear it: later changes set it again."""
    timer = asyncio.get_running_loop().call_later(seconds, event.set)
    try:
        await event.wait()
    finally:
        timer.cancel()
    event.clear()
