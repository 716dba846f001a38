"""Waiting for a generation: one request that is answered when there is news, instead of many polls.

A caller asks with ``Prefer: wait=30``. Without ``If-None-Match`` news is that the generation is
finished; with it, that it differs from what the caller has seen. When the time is up the answer is
what a poll would have got, so a caller that never heard of this loses nothing. Whose account has
too many waiting requests already is answered at once, without ``Preference-Applied``.

Source: RFC 7240, section 4.3.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

from kit.service.worker.hub import Hub

T = TypeVar("T")
#: Watches a generation; see `kit.service.worker.hub.Hub.watch`.
Watch = Callable[[], AbstractContextManager[asyncio.Event]]

#: Seconds that a request is held at most: proxies cut off what is silent for a minute.
LONGEST = 30
#: Seconds between two looks at a row that another process may have written, and at the key.
LOOK_SECONDS = 1.0
_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", re.IGNORECASE)


def requested_wait(headers: Mapping[str, str]) -> float:
    """Return the seconds that a request is ready to wait, 0 when it says nothing of it.

    Examples
    --------
    >>> [requested_wait({"prefer": it}) for it in ("respond-async, wait=5", "wait=900", "")]
    [5, 30, 0]
    """
    prefer = headers.get("prefer")
    found = _WAIT.search(prefer) if prefer else None
    return min(int(found[1]), LONGEST) if found else 0


def granted_wait(headers: Mapping[str, str], hub: Hub, account_id: str) -> float:
    """Return the seconds that a request may wait; 0 when too many are waiting already."""
    asked = requested_wait(headers)
    return 0 if asked and hub.full_for(account_id) else asked


async def hold_answer(
    hub: Hub,
    watch: Watch,
    look: Callable[[], Awaitable[T]],
    news: Callable[[T], bool],
    seconds: float,
) -> T:
    """Return what is seen of a generation once it is news, or when the time is up.

    Parameters
    ----------
    look : callable
        Reads the generation as it is now. What it raises ends the wait: a key may be revoked.
    news : callable
        Tells whether what was seen is worth an answer.
    """
    seen = await look()
    if news(seen):
        return seen
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    with watch() as woken:
        # Looked at again now that changes wake us: one may have come in between.
        while not (news(seen := await look()) or hub.closed) and (left := end - loop.time()) > 0:
            woken.clear()
            await until(woken, min(left, LOOK_SECONDS))
    return seen


async def until(woken: asyncio.Event, seconds: float) -> None:
    """Wait for an event, or until the time is up, which sets it too."""
    alarm = asyncio.get_running_loop().call_later(seconds, woken.set)
    try:
        await woken.wait()
    finally:
        alarm.cancel()
