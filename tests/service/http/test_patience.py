"""Waiting for news of a generation."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from kit.service.domain import keys
from kit.service.http import patience
from kit.service.http.context import clock
from kit.service.worker.hub import Hub
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, started, until


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=5", 5),
        ("respond-async, wait=7", 7),
        ("Wait = 3", 3),
        ('wait="4"', 4),
        ("wait=100000", patience.LONGEST),
        ("await=5", 0),
        ("wait=soon", 0),
        ("return=minimal", 0),
    ],
)
def test_the_header_is_read_as_its_standard_has_it(prefer: str, seconds: int) -> None:
    assert patience.wanted({"prefer": prefer}) == seconds


def looking_at(states: list[str], hub: Hub, seconds: float) -> tuple[str, int]:
    """Wait for `done`, each look showing the next state; return what was seen, and the looks."""
    looks = 0

    async def look() -> str:
        nonlocal looks
        looks += 1
        return states[min(looks, len(states)) - 1]

    async def inside() -> str:
        asyncio.get_running_loop().call_later(0.01, hub.tell, "gen_1")
        return await patience.held(hub, "gen_1", look, lambda seen: seen == "done", seconds)

    return asyncio.run(inside()), looks


def test_what_happens_here_is_seen_as_soon_as_it_is_told() -> None:
    hub = Hub()

    assert looking_at(["running", "running", "done"], hub, 30) == ("done", 3)
    assert hub.watchers == 0


def test_a_service_that_stops_holds_nobody() -> None:
    hub = Hub()
    hub.close()

    assert looking_at(["running"], hub, 30)[0] == "running"


def test_the_time_is_up_some_day() -> None:
    assert looking_at(["running"], Hub(), 0.05)[0] == "running"


def test_a_crowd_is_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "MOST_WATCHERS", 0)

    assert looking_at(["running"], Hub(), 30) == ("running", 1)


def test_a_wait_ends_when_its_key_is_revoked(service: Service) -> None:
    account = service.account()
    key, other = service.key(account, *ALL_SCOPES), service.key(account, *ALL_SCOPES)
    hub = service.context.dispatcher.hub
    with service.client(key) as http, service.client(other) as waiter, ThreadPoolExecutor() as pool:
        hanging = started(http, does="hangs")
        held = pool.submit(
            waiter.get, f"{GENERATIONS}/{hanging}", headers={"Prefer": "wait=30"}, timeout=60
        )
        until(lambda: hub.watchers, lambda it: it == 1)
        row = service.write(keys.caller(other, service.context.secret, clock()))
        service.write(keys.revoke(row.payer.key_id, clock()))
        answer = held.result()
        http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert answer.elapsed.total_seconds() < 5
    assert hub.watchers == 0


def test_a_pause_ends_by_itself_or_when_it_is_ended() -> None:
    async def paused(seconds: float, ended: float) -> float:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        began, timer = loop.time(), loop.call_later(ended, woken.set)
        await patience.until(woken, seconds)
        timer.cancel()
        return loop.time() - began

    assert asyncio.run(paused(0.05, 60)) < 5
    assert asyncio.run(paused(60, 0.05)) < 5
