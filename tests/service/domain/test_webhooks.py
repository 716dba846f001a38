"""Webhook deliveries over time: attempts during a day, leases, and pruning after a month."""

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
def end_generation(write: Write, payer: Payer, queue_up: Callable[..., str]) -> Callable[..., str]:
    """Announce the end of a generation and return its id."""

    def end_generation(now: int = NOW, **order: Any) -> str:
        name = queue_up(now, **order)
        row = SimpleNamespace(id=name, account_id=payer.account_id)
        write(webhooks.announce(row, now))
        return name

    return end_generation


@pytest.fixture
def hook(write: Write, payer: Payer) -> Any:
    return write(webhooks.create(payer.account_id, URL, NOW))


def claim(write: Write, now: int) -> Any:
    found = write(webhooks.claim([], now))
    return found and found[0]


def test_attempts_continue_for_most_of_a_day_and_then_the_delivery_fails(
    write: Write, hook: Any, end_generation: Callable[..., str]
) -> None:
    end_generation()
    moments = []
    while (due := write(webhooks.next_due())) is not None:
        assert claim(write, due - 1) is None
        moments.append(due)
        write(webhooks.settle(claim(write, due), due, "the answer was 500"))

    waits = [(later - before) // 1000 for before, later in pairwise(moments)]
    assert waits == [5, 300, 1800, 7200, 18_000, 36_000]
    assert 17 * HOUR < moments[-1] - NOW < DAY
    assert write(webhooks.count_deliveries(hook.id)) == {"failed": 1}


def test_a_receiver_may_delay_the_next_attempt_by_a_day_at_most(
    write: Write, hook: Any, end_generation: Callable[..., str]
) -> None:
    end_generation()

    write(webhooks.settle(claim(write, NOW), NOW, "the answer was 503", wait=1e9))

    assert write(webhooks.next_due()) == NOW + DAY


def test_a_delivery_scheduled_by_a_clock_that_was_ahead_is_due(
    write: Write, hook: Any, end_generation: Callable[..., str]
) -> None:
    end_generation(NOW + 365 * DAY)
    assert claim(write, NOW) is None

    write(webhooks.prune(NOW))
    assert claim(write, NOW) is not None


def test_a_delivery_that_is_not_settled_within_a_minute_can_be_claimed_again(
    write: Write, hook: Any, end_generation: Callable[..., str]
) -> None:
    end_generation()
    first = claim(write, NOW)
    assert claim(write, NOW + 59_999) is None
    second = claim(write, NOW + 60_000)

    write(webhooks.settle(first, NOW + 60_001, None))
    assert write(webhooks.count_deliveries(hook.id)) == {"pending": 1}
    write(webhooks.settle(second, NOW + 60_002, None))
    assert write(webhooks.count_deliveries(hook.id)) == {"delivered": 1}


def test_deliveries_are_pruned_after_a_month_and_endpoints_stay(
    write: Write, hook: Any, payer: Payer, end_generation: Callable[..., str]
) -> None:
    old = end_generation(NOW, webhook_url=URL)
    started = moment_of(old)
    new = end_generation(started + DAY, webhook_url=URL)

    write(webhooks.prune(started + 30 * DAY))
    assert len(write(sql("SELECT id FROM deliveries"))) == 4
    write(webhooks.prune(started + 30 * DAY + 1))

    kept = {row.generation_id for row in write(sql("SELECT generation_id FROM deliveries"))}
    assert kept == {new}
    kept = {row.generation_id for row in write(sql("SELECT generation_id FROM webhooks"))}
    assert kept == {"", new}


def test_a_busy_account_is_skipped_by_a_claim(
    write: Write, hook: Any, payer: Payer, end_generation: Callable[..., str]
) -> None:
    end_generation()

    assert write(webhooks.claim([payer.account_id], NOW)) is None
    assert write(webhooks.claim(["acc_another"], NOW)) is not None
