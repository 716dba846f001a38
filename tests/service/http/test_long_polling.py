"""Long polling: requests that wait for a change of a generation."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from kit.service.domain import keys
from kit.service.http import events
from kit.service.machine import clock
from kit.service.worker.watchers import Watchers
from tests.conftest import ALL_SCOPES, Service, both_databases
from tests.waiting import GENERATIONS, generate, until


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=5", 5),
        ("respond-async, wait=7", 7),
        ("Wait = 3", 3),
        ('wait="4"', 4),
        ("wait=100000", events.MAX_WAIT),
        ("await=5", 0),
        ("wait=soon", 0),
        ("return=minimal", 0),
    ],
)
def test_the_prefer_header_is_parsed_as_in_its_standard(prefer: str, seconds: int) -> None:
    assert events.grant_wait(prefer, Watchers(), "acc_1") == seconds


def wait_for_done(states: list[str], watchers: Watchers, seconds: float) -> tuple[str, int]:
    """Wait for `done`, each read returning the next state; return the last state and the reads."""
    reads = 0

    async def read() -> str:
        nonlocal reads
        reads += 1
        return states[min(reads, len(states)) - 1]

    async def permit() -> None:
        pass

    async def wait() -> str:
        asyncio.get_running_loop().call_later(0.01, watchers.notify, "gen_1")
        watch = partial(watchers.watch, "gen_1", "acc_1")
        is_done = "done".__eq__
        return await events.await_change(watchers, watch, read, is_done, permit, seconds)

    return asyncio.run(wait()), reads


def test_a_wait_ends_as_soon_as_the_change_is_notified() -> None:
    watchers = Watchers()

    assert wait_for_done(["running", "running", "done"], watchers, 30) == ("done", 3)
    assert watchers.count == 0


def test_a_service_that_stops_ends_all_waits() -> None:
    watchers = Watchers()
    watchers.close()

    assert wait_for_done(["running"], watchers, 30)[0] == "running"


def test_an_account_with_too_many_waits_gets_responses_at_once_and_others_wait(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=0, watchers_per_account=2)
    watchers, prefer_wait = service.context.dispatcher.watchers, {"Prefer": "wait=30"}
    one, other = (service.key(service.account(), *ALL_SCOPES) for _ in range(2))
    with service.client(one) as http, service.client(other) as stranger, ThreadPoolExecutor() as go:
        mine, theirs = f"{GENERATIONS}/{generate(http)}", f"{GENERATIONS}/{generate(stranger)}"
        held = [go.submit(http.get, mine, headers=prefer_wait) for _ in range(2)]
        until(lambda: watchers.count, lambda it: it == 2)
        at_once = http.get(mine, headers=prefer_wait)
        held.append(go.submit(stranger.get, theirs, headers=prefer_wait))
        until(lambda: watchers.count, lambda it: it == 3)
        http.post(f"{mine}/cancel")
        stranger.post(f"{theirs}/cancel")
        answers = [each.result() for each in held]

    assert at_once.elapsed.total_seconds() < 5
    assert at_once.json()["status"] == "processing"
    assert "Preference-Applied" not in at_once.headers, "a client would ask again at once"
    assert at_once.headers["Retry-After"] == "1"
    assert {answer.json()["status"] for answer in answers} == {"canceled"}
    assert {answer.headers["Preference-Applied"] for answer in answers} == {"wait=30"}


@both_databases
def test_a_wait_ends_when_its_key_is_revoked(service: Service) -> None:
    account = service.account()
    key, other = service.key(account, *ALL_SCOPES), service.key(account, *ALL_SCOPES)
    watchers = service.context.dispatcher.watchers
    with service.client(key) as http, service.client(other) as waiter, ThreadPoolExecutor() as pool:
        hanging = generate(http, does="hangs")
        held = pool.submit(
            waiter.get, f"{GENERATIONS}/{hanging}", headers={"Prefer": "wait=30"}, timeout=60
        )
        until(lambda: watchers.count, lambda it: it == 1)
        row = service.write(keys.find_caller(other, service.context.secret, clock()))
        service.write(keys.revoke(row.payer.key_id, clock()))
        answer = held.result()
        http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert answer.elapsed.total_seconds() < 5
    assert watchers.count == 0


def test_a_pause_ends_after_its_time_or_when_it_is_woken() -> None:
    async def pause(seconds: float, ended: float) -> float:
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        began, timer = loop.time(), loop.call_later(ended, event.set)
        await events.wait_until(event, seconds)
        timer.cancel()
        return loop.time() - began

    assert asyncio.run(pause(0.05, 60)) < 5
    assert asyncio.run(pause(60, 0.05)) < 5
