"""Deliveries by the clock: a day of attempts, leases, and when what is over is forgotten."""

from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from kit.service.domain import webhooks
from kit.service.domain.credits import Payer
from tests.conftest import sql
from tests.moments import moment_of
from tests.service.domain.conftest import NOW, Write

HOUR, DAY = 3_600_000, 24 * 3_600_000
URL = "https://ends.example/"


@pytest.fixture
def end(write: Write, payer: Payer, queue_up: Callable[..., str]) -> Callable[..., str]:
    """Have a generation end, and return its id."""

    def end(now: int = NOW, **order: Any) -> str:
        name = queue_up(now, **order)
        row = SimpleNamespace(id=name, account_id=payer.account_id)
        write(webhooks.announce(row, now))
        return name

    return end


@pytest.fixture
def hook(write: Write, payer: Payer) -> Any:
    return write(webhooks.create(payer.account_id, URL, NOW))


def claim(write: Write, now: int) -> Any:
    found = write(webhooks.claim([], now))
    return found and found[0]


def test_attempts_go_on_for_most_of_a_day_and_then_it_is_given_up(
    write: Write, hook: Any, end: Callable[..., str]
) -> None:
    end()
    moments = []
    while (due := write(webhooks.next_due())) is not None:
        assert claim(write, due - 1) is None
        moments.append(due)
        write(webhooks.settle(claim(write, due), due, "the answer was 500"))

    waits = [(later - before) // 1000 for before, later in pairwise(moments)]
    assert waits == [5, 300, 1800, 7200, 18_000, 36_000]
    assert 17 * HOUR < moments[-1] - NOW < DAY
    assert write(webhooks.count_deliveries(hook.id)) == {"failed": 1}


def test_a_receiver_is_granted_a_day_at_most(
    write: Write, hook: Any, end: Callable[..., str]
) -> None:
    end()

    write(webhooks.settle(claim(write, NOW), NOW, "the answer was 503", wait=1e9))

    assert write(webhooks.next_due()) == NOW + DAY


def test_what_a_clock_that_was_ahead_has_put_off_is_due(
    write: Write, hook: Any, end: Callable[..., str]
) -> None:
    end(NOW + 365 * DAY)
    assert claim(write, NOW) is None

    write(webhooks.prune(NOW))
    assert claim(write, NOW) is not None


def test_what_is_not_settled_in_a_minute_is_another_services(
    write: Write, hook: Any, end: Callable[..., str]
) -> None:
    end()
    first = claim(write, NOW)
    assert claim(write, NOW + 59_999) is None
    second = claim(write, NOW + 60_000)

    write(webhooks.settle(first, NOW + 60_001, None))
    assert write(webhooks.count_deliveries(hook.id)) == {"pending": 1}
    write(webhooks.settle(second, NOW + 60_002, None))
    assert write(webhooks.count_deliveries(hook.id)) == {"delivered": 1}


def test_deliveries_are_forgotten_a_month_after_their_generations_and_endpoints_stay(
    write: Write, hook: Any, payer: Payer, end: Callable[..., str]
) -> None:
    old = end(NOW, webhook_url=URL)
    begun = moment_of(old)
    new = end(begun + DAY, webhook_url=URL)

    write(webhooks.prune(begun + 30 * DAY))
    assert len(write(sql("SELECT id FROM deliveries"))) == 4
    write(webhooks.prune(begun + 30 * DAY + 1))

    kept = {row.generation_id for row in write(sql("SELECT generation_id FROM deliveries"))}
    assert kept == {new}
    kept = {row.generation_id for row in write(sql("SELECT generation_id FROM webhooks"))}
    assert kept == {"", new}


def test_an_account_that_has_enough_under_way_is_passed(
    write: Write, hook: Any, payer: Payer, end: Callable[..., str]
) -> None:
    end()

    assert write(webhooks.claim([payer.account_id], NOW)) is None
    assert write(webhooks.claim(["acc_another"], NOW)) is not None
