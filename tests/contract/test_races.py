"""Concurrent requests over HTTP."""

from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from threading import Barrier
from typing import Any

import httpx

from kit.service.app import create_app
from kit.service.domain import accounts, credits, keys
from kit.service.machine import clock
from kit.service.settings import ServiceSettings
from tests.conftest import ALL_SCOPES, Service, run_coroutine
from tests.waiting import GENERATIONS, balance

ORDER = {"modelId": "flat", "prompt": "x", "parameters": {"count": 5}}  # one credit


def send_together(number: int, send: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """Send a request from each of some threads at the same moment."""
    barrier = Barrier(number)

    def one(_: int) -> httpx.Response:
        barrier.wait()
        return send()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def test_fifty_racing_starts_on_ten_credits_give_ten(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0)
    key = service.key(service.account(credits=10), *ALL_SCOPES)
    with service.client(key) as http:
        answers = send_together(50, lambda: http.post(GENERATIONS, json=ORDER))

        assert sorted(a.status_code for a in answers) == [202] * 10 + [402] * 40
        assert balance(http) == 0
        assert len(http.get(GENERATIONS).json()) == 10
    assert service.write(credits.verify()) == []


def test_twenty_racing_starts_with_one_key_give_one(http: httpx.Client) -> None:
    headers = {"Idempotency-Key": "race"}
    answers = send_together(20, lambda: http.post(GENERATIONS, json=ORDER, headers=headers))

    assert {a.status_code for a in answers} == {202}
    assert len({a.content for a in answers}) == 1
    assert sum("Idempotency-Replayed" not in a.headers for a in answers) == 1
    assert balance(http) == 99


def test_racing_scripts_with_one_key_are_written_once(http: httpx.Client) -> None:
    body = {"topic": "SPACE", "title": "Ten facts", "duration": "20"}
    headers = {"Idempotency-Key": "race"}
    answers = send_together(8, lambda: http.post("/v1/scripts", json=body, headers=headers))

    assert {a.status_code for a in answers} <= {201, 409}
    assert len({a.content for a in answers if a.status_code == 201}) == 1
    assert all("Retry-After" in a.headers for a in answers if a.status_code == 409)
    assert balance(http) == 99.85


@dataclass
class Database:
    """A database that runs a callback after it has read versions of generations."""

    inner: Any
    meanwhile: Callable[[], Awaitable[Any]] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def read(self, work: Any) -> Any:
        """Read, then run the callback once."""
        found = await self.inner.read(work)
        if self.meanwhile and "updated_at" in repr(found):
            callback, self.meanwhile = self.meanwhile, None
            await callback()
        return found


@asynccontextmanager
async def open_client(config: ServiceSettings) -> AsyncIterator[tuple[httpx.AsyncClient, Database]]:
    """Open a client of a service on such a database."""
    app = create_app(replace(config, workers=0))
    async with app.router.lifespan_context(app):
        context = app.state.context
        database = Database(context.database)
        app.state.context = replace(context, database=database)
        account = await database.write(accounts.create("Ada", "a@b", 100_000, clock()))
        request = keys.KeyRequest(account_id=account.id, name="test", scopes=ALL_SCOPES)
        made = await database.write(keys.create(request, config.secret(), clock()))
        headers = {"Authorization": f"Bearer {made.text}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as http:
            yield http, database


def test_a_generation_ended_during_its_read_has_matching_headers(config: ServiceSettings) -> None:
    async def work() -> None:
        async with open_client(config) as (http, database):
            url = (await http.post(GENERATIONS, json=ORDER)).headers["Location"]
            database.meanwhile = lambda: http.post(f"{url}/cancel")
            first = await http.get(url)
            again = await http.get(url, headers={"If-None-Match": first.headers["ETag"]})

            assert first.json()["status"] == "canceled"
            assert "Retry-After" not in first.headers
            assert again.status_code == 304

    run_coroutine(work())


def test_a_generation_ended_during_a_page_read_hides_no_other(config: ServiceSettings) -> None:
    async def work() -> None:
        async with open_client(config) as (http, database):
            made = [(await http.post(GENERATIONS, json=ORDER)).json() for _ in range(4)]
            for one in (made[0], made[1], made[3]):
                await http.post(f"{one['statusUrl']}/cancel")
            database.meanwhile = lambda: http.post(f"{made[2]['statusUrl']}/cancel")
            first = await http.get(GENERATIONS, params={"status": "canceled", "limit": 2})
            second = await http.get(first.links["next"]["url"])

            found = [one["id"] for page in (first, second) for one in page.json()]
            assert found == [one["id"] for one in made[::-1]]

    run_coroutine(work())
