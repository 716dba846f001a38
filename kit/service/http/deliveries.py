"""Deliveries: the ends of generations, sent to the webhooks that wait for them.

Addresses come from strangers. What is connected to is the address that was looked up and checked,
with every connection; nothing is followed, no answer is read, and an attempt has its time.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from socket import SOCK_STREAM
from typing import Any

import httpcore
import orjson

from kit.internet import is_public
from kit.service.domain import webhooks
from kit.service.http.context import Context, format_time
from kit.service.http.serializers import GenerationSerializer
from kit.version import __version__

_log = logging.getLogger("kit.service")
#: Attempts at once, in all and for an account, and seconds that one may take.
_AT_ONCE, _OF_ACCOUNT, _SECONDS = 32, 4, 15.0
#: Seconds between two looks for what is due; one is a read of an index.
_LOOK_SECONDS = 1.0
_GONE = 410
_FAILURES = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)
#: Looks the addresses of a host and a port up.
Resolve = Callable[[str, int], Awaitable[Iterable[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    return [str(each[4][0]) for each in found]


class Deliveries:
    """Sends what is due, again where it was not taken.

    Parameters
    ----------
    resolve : callable
        Looks a name up.
    """

    def __init__(self, context: Context, resolve: Resolve = resolve) -> None:
        self._context = context
        self._backend = CheckedBackend(resolve, context.settings.webhook_loopback)
        self._tasks: set[asyncio.Task[None]] = set()
        self._accounts: Counter[str] = Counter()
        self._certificates: ssl.SSLContext | None = None

    async def run(self) -> None:
        """Send until canceled; an attempt that is broken off is made again when its lease ends."""
        try:
            while True:
                try:
                    await self._begin()
                except Exception:  # noqa: BLE001 - logged; the next look may find a database
                    _log.exception("deliveries could not be looked for")
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _begin(self) -> None:
        """Begin with what is due, as far as there is room."""
        database, clock = self._context.database, self._context.clock
        due = await database.read(webhooks.next_due())
        if due is None or due > clock():
            return
        while len(self._tasks) < _AT_ONCE:
            busy = [name for name, count in self._accounts.items() if count >= _OF_ACCOUNT]
            claimed = await database.write(webhooks.claim(busy, clock()), durable=False)
            if claimed is None:
                return
            self._accounts[claimed[0].account_id] += 1
            task = asyncio.create_task(self._attempt(*claimed))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _attempt(self, row: Any, hook: Any, generation: Any, signer: Any) -> None:
        """Try a delivery once and note how that ended."""
        try:
            status, wait, error = 0, 0.0, "its webhook is gone"
            if hook and generation:
                status, wait, error = await self._send(row, hook, generation, signer)
            gone = status == _GONE or not hook
            now = self._context.clock()
            settled = webhooks.settle(
                row, now, None if status // 100 == 2 else error, wait=wait, gone=gone
            )
            await self._context.database.write(settled)
            facts = {"event": "delivery", "id": row.id, "attempt": row.attempts, "status": status}
            _log.info("%(event)s %(id)s, attempt %(attempt)d: %(status)d", facts)
        except Exception:  # noqa: BLE001 - logged; it is due again when its lease ends
            _log.exception("the delivery %s could not be noted", row.id)
        finally:
            self._accounts[row.account_id] -= 1
            self._accounts += Counter()  # forgets who has none

    async def _send(
        self, row: Any, hook: Any, generation: Any, signer: Any
    ) -> tuple[int, float, str]:
        """Return an attempt's status, the seconds that the receiver asks for, and what went wrong.

        The status is 0 where no answer came.
        """
        context = self._context
        body = orjson.dumps(
            {
                "type": f"generation.{generation.state}",
                "timestamp": format_time(generation.completed_at),
                "data": GenerationSerializer(context, None, {}, 0)(generation),
            }
        )
        # By this machine's clock: receivers compare it with theirs.
        now = time.time_ns() // 1_000_000
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"creative-studio-kit/{__version__}",
            **webhooks.sign(signer, context.secret, row.id, body, now),
        }
        self._certificates = self._certificates or ssl.create_default_context()
        pool = httpcore.AsyncConnectionPool(self._certificates, network_backend=self._backend)
        try:
            # Left with its head: what else an answer says is not read.
            async with (
                asyncio.timeout(_SECONDS),
                pool,
                pool.stream("POST", hook.url, headers=[*headers.items()], content=body) as response,
            ):
                status, told = response.status, response.headers
        except (*_FAILURES, OSError) as error:
            return 0, 0.0, (str(error) or type(error).__name__)[:200]
        asked = next((value for name, value in told if name.lower() == b"retry-after"), b"")
        return status, _wanted_wait(asked.decode("latin-1")), f"the answer was {status}"


def _wanted_wait(text: str) -> float:
    """Return the seconds that a ``Retry-After`` asks for, as a number or a date."""
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    with suppress(ValueError, TypeError):
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    return 0.0


class CheckedBackend(httpcore.AnyIOBackend):
    """Connects to public addresses only, and to this machine where that is allowed.

    Parameters
    ----------
    resolve : callable
        Looks a name up: what it returns is checked, and connected to.
    """

    def __init__(self, resolve: Resolve, loopback: bool) -> None:
        self._resolve = resolve
        self._loopback = loopback

    async def connect_tcp(
        self, host: str, port: int, *given: Any, **more: Any
    ) -> httpcore.AsyncNetworkStream:
        """Connect to where a host leads now; a private network is no place to connect to."""
        try:
            addresses = [*await self._resolve(host, port)]
        except OSError:
            raise httpcore.ConnectError(f"there is no {host}") from None
        if not addresses or not all(map(self._allowed, addresses)):
            raise httpcore.ConnectError("it leads to a private network")
        return await super().connect_tcp(addresses[0], port, *given, **more)

    def _allowed(self, address: str) -> bool:
        here = ip_address(address.partition("%")[0]).is_loopback
        return is_public(address) or (self._loopback and here)
