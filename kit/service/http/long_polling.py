"""Long polling: one request that is answered when a generation changes, instead of many polls.

A client asks for it with ``Prefer: wait=30``. Without ``If-None-Match`` it waits until the
generation is finished; with it, until the generation differs from what the client has seen. When
the time is up, the answer is that of a plain poll. Where an account has too many waiting requests
already, another one is answered at once, without ``Preference-Applied``.

Source: RFC 7240, section 4.3.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

from kit.service.worker.watchers import Watchers

T = TypeVar("T")
#: Begins to watch a generation; see `kit.service.worker.watchers.Watchers.watch`.
Watch = Callable[[], AbstractContextManager[asyncio.Event]]

#: Seconds that a request waits at most: proxies cut off what is silent for a minute.
MAX_WAIT = 30
#: Seconds between two reads of the row, which another process may have written, and of the key.
POLL_SECONDS = 1.0
_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", re.IGNORECASE)


def parse_wait(headers: Mapping[str, str]) -> float:
    """Return the seconds that a request asks to wait; 0 when it does not.

    Examples
    --------
    >>> [parse_wait({"prefer": it}) for it in ("respond-async, wait=5", "wait=900", "")]
    [5, 30, 0]
    """
    prefer = headers.get("prefer")
    found = _WAIT.search(prefer) if prefer else None
    return min(int(found[1]), MAX_WAIT) if found else 0


def grant_wait(headers: Mapping[str, str], watchers: Watchers, account_id: str) -> float:
    """Return the seconds that a request may wait; 0 when too many are waiting already."""
    asked = parse_wait(headers)
    return 0 if asked and watchers.is_full_for(account_id) else asked


async def hold_answer(
    watchers: Watchers,
    watch: Watch,
    look: Callable[[], Awaitable[T]],
    is_news: Callable[[T], bool],
    seconds: float,
) -> T:
    """Return the state of a generation once it is news, or when the time is up.

    Parameters
    ----------
    look : callable
        Reads the generation as it is now. An error ends the wait: a key may be revoked.
    is_news : callable
        Whether a state is worth an answer.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    with watch() as changed:
        while True:
            changed.clear()  # before it is read: what comes in meanwhile is not missed
            state, left = await look(), end - loop.time()
            if is_news(state) or watchers.closed or left <= 0:
                return state
            await wait_until(changed, min(left, POLL_SECONDS))


async def wait_until(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, or until the time is up, which sets it too."""
    alarm = asyncio.get_running_loop().call_later(seconds, event.set)
    try:
        await event.wait()
    finally:
        alarm.cancel()
