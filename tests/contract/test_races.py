"""Many callers at once, over real HTTP."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx

from kit.service.domain import credits
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, balance

ORDER = {"modelId": "flat", "prompt": "x", "parameters": {"count": 5}}  # one credit


def at_once(number: int, ask: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """Let so many threads ask at the same moment."""
    barrier = Barrier(number)

    def one(_: int) -> httpx.Response:
        barrier.wait()
        return ask()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def test_fifty_racing_starts_on_ten_credits_give_ten(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0)
    key = service.key(service.account(credits=10), *ALL_SCOPES)
    with service.client(key) as http:
        answers = at_once(50, lambda: http.post(GENERATIONS, json=ORDER))

        assert sorted(a.status_code for a in answers) == [202] * 10 + [402] * 40
        assert balance(http) == 0
        assert len(http.get(GENERATIONS).json()) == 10
    assert service.write(credits.verify()) == []


def test_twenty_racing_starts_with_one_key_give_one(http: httpx.Client) -> None:
    headers = {"Idempotency-Key": "race"}
    answers = at_once(20, lambda: http.post(GENERATIONS, json=ORDER, headers=headers))

    assert {a.status_code for a in answers} == {202}
    assert len({a.content for a in answers}) == 1
    assert sum("Idempotency-Replayed" not in a.headers for a in answers) == 1
    assert balance(http) == 99


def test_racing_scripts_with_one_key_are_written_once(http: httpx.Client) -> None:
    body = {"topic": "SPACE", "title": "Ten facts", "duration": "20"}
    headers = {"Idempotency-Key": "race"}
    answers = at_once(8, lambda: http.post("/v1/scripts", json=body, headers=headers))

    assert {a.status_code for a in answers} <= {201, 409}
    assert len({a.content for a in answers if a.status_code == 201}) == 1
    assert all("Retry-After" in a.headers for a in answers if a.status_code == 409)
    assert balance(http) == 99.85
