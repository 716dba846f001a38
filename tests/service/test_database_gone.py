"""A PostgreSQL server that goes away under a running service, and comes back."""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from kit.service.domain import credits
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import finished, started, until

NAME = ".s.PGSQL.5432"


class Relay:
    """A socket that leads to a server's, until it is closed with all that goes through it."""

    def __init__(self, target: Path, path: Path) -> None:
        self._target, self._path = target, path
        self.folder = path.parent
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server: asyncio.Server | None = None
        self.open()

    def open(self) -> None:
        self._do(self._open())

    def close(self) -> None:
        self._do(self._close())

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)  # type: ignore[arg-type]

    async def _open(self) -> None:
        self._server = await asyncio.start_unix_server(self._lead, self._path)

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        self._path.unlink(missing_ok=True)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        there, back = await asyncio.open_unix_connection(self._target)
        try:
            await asyncio.gather(_pour(reader, back), _pour(there, writer))
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            for end in (writer, back):
                end.transport.abort()


async def _pour(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()
    target.close()


@pytest.fixture
def relay(empty_postgresql: str) -> Iterator[Relay]:
    """A relay to an empty database."""
    (folder,) = parse_qs(urlsplit(empty_postgresql).query)["host"]
    with tempfile.TemporaryDirectory(prefix="kit-") as here:
        relay = Relay(Path(folder) / NAME, Path(here) / NAME)
        yield relay
        relay.end()


def test_what_is_asked_meanwhile_is_refused_and_nothing_is_lost(
    relay: Relay, empty_postgresql: str, start_service: Callable[..., Service]
) -> None:
    near = f"{empty_postgresql.partition('?')[0]}?host={relay.folder}"
    service = start_service(database_url=near)
    account = service.account()
    key = service.key(account, *ALL_SCOPES)

    with service.client(key) as http:
        before = finished(http, started(http))
        relay.close()
        refused = [http.get("/v1/account"), http.post("/v1/creative-studio/generations", json={})]
        relay.open()
        until(lambda: http.get("/v1/account").status_code == 200)
        after = finished(http, started(http))

    for answer in refused:
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "unavailable"
        assert int(answer.headers["Retry-After"]) >= 1
    assert before["id"] != after["id"]
    assert service.write(credits.verify()) == []


def test_a_job_that_is_rendered_meanwhile_is_settled(
    relay: Relay, empty_postgresql: str, start_service: Callable[..., Service]
) -> None:
    near = f"{empty_postgresql.partition('?')[0]}?host={relay.folder}"
    service = start_service(database_url=near, lease_seconds=2.0)
    key = service.key(service.account(), *ALL_SCOPES)

    with service.client(key) as http:
        job = started(http, does="dawdles")
        relay.close()
        with suppress(httpx.HTTPError):
            http.get("/v1/account")
        relay.open()
        until(lambda: http.get("/v1/account").status_code == 200)
        assert finished(http, job)["status"] == "completed"
    assert service.write(credits.verify()) == []
