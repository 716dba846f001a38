"""Concurrent requests for titles over HTTP: no title repeats while the bank has others."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import httpx
import pytest

from kit.engines.text.bank import bank
from kit.service.domain import credits, writing
from kit.service.domain.credits import Payer
from kit.service.machine import clock
from kit.wire import Title
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import balance

TITLE, TOPIC = "/v1/scripts/title", "SPACE"
RACING = 20
BANK = [title for entry in bank(TOPIC).entries for title in entry.titles]


def deliver_titles(service: Service, account: str, titles: Sequence[str]) -> None:
    """Record titles as delivered to an account."""

    def work() -> credits.Transaction[None]:
        for title in titles:
            yield from writing.deliver_title(
                TOPIC, Title(title=title), Payer(account), clock(), known=[]
            )

    service.write(work())


def request_titles(clients: Sequence[httpx.Client], *, label: str = "") -> list[httpx.Response]:
    """Request a title with each client at the same moment, each with its own key."""
    barrier = Barrier(len(clients))

    def request_title(number: int) -> httpx.Response:
        headers = {"Idempotency-Key": f"{label}-{number}"} if label else {}
        barrier.wait()
        return clients[number].post(TITLE, json={"topic": TOPIC}, headers=headers)

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(request_title, range(len(clients))))


def read_titles(answers: Sequence[httpx.Response]) -> list[str]:
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json()["title"] for answer in answers]


def test_concurrent_requests_get_the_last_titles_once_each(service: Service) -> None:
    account = service.account()
    deliver_titles(service, account, BANK[RACING:])
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        titles = read_titles(request_titles([http] * RACING))

        assert sorted(titles) == sorted(BANK[:RACING])
        assert balance(http) == pytest.approx(100 - 0.05 * len(BANK))
    assert service.write(credits.verify()) == []


def test_titles_repeat_only_after_the_bank_is_used_up(service: Service) -> None:
    account = service.account()
    deliver_titles(service, account, BANK[5:])
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        titles = read_titles(request_titles([http] * RACING))

    times = Counter([*BANK[5:], *titles])
    assert set(times) == set(BANK)
    assert max(times.values()) == 2


def test_only_replayed_requests_repeat_a_title(service: Service) -> None:
    account = service.account()
    deliver_titles(service, account, BANK[RACING:])
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        first = request_titles([http] * RACING, label="race")
        again = request_titles([http] * RACING, label="race")

        assert sorted(read_titles(first)) == sorted(BANK[:RACING])
        assert read_titles(again) == read_titles(first)
        assert all("Idempotency-Replayed" in answer.headers for answer in again)
        assert balance(http) == pytest.approx(100 - 0.05 * len(BANK))


def test_concurrent_requests_to_two_services_get_different_titles(
    start_service: Callable[..., Service],
) -> None:
    services = [start_service(workers=0), start_service(workers=0)]
    account = services[0].account()
    key = services[0].key(account, *ALL_SCOPES)
    deliver_titles(services[0], account, BANK[RACING:])
    with ExitStack() as open_clients:
        clients = [open_clients.enter_context(service.client(key)) for service in services]
        titles = read_titles(request_titles(clients * (RACING // 2)))

        assert sorted(titles) == sorted(BANK[:RACING])
        assert [balance(http) for http in clients] == pytest.approx([100 - 0.05 * len(BANK)] * 2)
