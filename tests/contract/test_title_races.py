"""Racing orders of titles, over real HTTP: none comes twice while the bank has others."""

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


def given(service: Service, account: str, titles: Sequence[str]) -> None:
    """Let an account have had titles."""

    def work() -> credits.Transaction[None]:
        for title in titles:
            yield from writing.deliver_title(
                TOPIC, Title(title=title), Payer(account), clock(), known=[]
            )

    service.write(work())


def raced(clients: Sequence[httpx.Client], *, label: str = "") -> list[httpx.Response]:
    """Order a title for each client, all at the same moment, each under its own label."""
    barrier = Barrier(len(clients))

    def one(number: int) -> httpx.Response:
        headers = {"Idempotency-Key": f"{label}-{number}"} if label else {}
        barrier.wait()
        return clients[number].post(TITLE, json={"topic": TOPIC}, headers=headers)

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(one, range(len(clients))))


def told(answers: Sequence[httpx.Response]) -> list[str]:
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json()["title"] for answer in answers]


def test_racing_orders_share_out_the_last_titles(service: Service) -> None:
    account = service.account()
    given(service, account, BANK[RACING:])
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        titles = told(raced([http] * RACING))

        assert sorted(titles) == sorted(BANK[:RACING])
        assert balance(http) == pytest.approx(100 - 0.05 * len(BANK))
    assert service.write(credits.verify()) == []


def test_racing_orders_past_the_end_of_the_bank_begin_it_again(service: Service) -> None:
    account = service.account()
    given(service, account, BANK[5:])
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        titles = told(raced([http] * RACING))

    times = Counter([*BANK[5:], *titles])
    assert set(times) == set(BANK)
    assert max(times.values()) == 2


def test_a_replay_repeats_its_title_and_no_other_does(service: Service) -> None:
    account = service.account()
    given(service, account, BANK[RACING:])
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        first = raced([http] * RACING, label="race")
        again = raced([http] * RACING, label="race")

        assert sorted(told(first)) == sorted(BANK[:RACING])
        assert told(again) == told(first)
        assert all("Idempotency-Replayed" in answer.headers for answer in again)
        assert balance(http) == pytest.approx(100 - 0.05 * len(BANK))


def test_orders_that_race_on_two_services_get_different_titles(
    start_service: Callable[..., Service],
) -> None:
    services = [start_service(workers=0), start_service(workers=0)]
    account = services[0].account()
    key = services[0].key(account, *ALL_SCOPES)
    given(services[0], account, BANK[RACING:])
    with ExitStack() as open_clients:
        clients = [open_clients.enter_context(service.client(key)) for service in services]
        titles = told(raced(clients * (RACING // 2)))

        assert sorted(titles) == sorted(BANK[:RACING])
        assert [balance(http) for http in clients] == pytest.approx([100 - 0.05 * len(BANK)] * 2)
