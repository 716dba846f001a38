"""The queue: oldest first, one valid attempt per job, each job finished once."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.errors import ConflictError
from kit.service.domain import credits, generations, queue
from kit.service.domain.credits import Payer
from tests.service.domain.conftest import NOW, Write

LEASE = NOW + 30_000
OUTPUT = {"key": "outputs/a/b.png"}


@pytest.fixture
def row(write: Write, payer: Payer) -> Callable[[str], Any]:
    """Read a generation."""
    return lambda generation_id: write(generations.get(generation_id, payer.account_id))


@pytest.fixture
def balance(write: Write, payer: Payer) -> Callable[[], int]:
    """Read the balance."""
    return lambda: int(write(credits.balance(payer.account_id, NOW))["balance"])


def test_oldest_jobs_are_claimed_first_and_once(write: Write, queue_up: Callable[..., str]) -> None:
    ids = [queue_up(NOW + n) for n in range(5)]
    first = write(queue.claim("a", 2, lease=LEASE, now=NOW))
    second = write(queue.claim("b", 10, lease=LEASE, now=NOW))

    assert [r.id for r in first] == ids[:2]
    assert [r.id for r in second] == ids[2:]
    assert write(queue.claim("c", 10, lease=LEASE, now=NOW)) == []
    assert write(queue.running_claims("a")) == {(ids[0], 1): 0.0, (ids[1], 1): 0.0}
    assert write(queue.count_states())["queued"] == 0


def test_jobs_of_skipped_models_stay_in_the_queue(
    write: Write, queue_up: Callable[..., str], row: Callable[[str], Any]
) -> None:
    waiting = queue_up(NOW)
    model = row(waiting).model_id

    assert write(queue.claim("a", 9, lease=LEASE, now=NOW, skipped=["x", model, "z"])) == []
    near = [f"x{model}", f"{model}x"]
    (taken,) = write(queue.claim("a", 9, lease=LEASE, now=NOW, skipped=near))
    assert taken.id == waiting


def test_jobs_of_models_that_a_worker_does_not_serve_wait_for_a_day(
    write: Write, queue_up: Callable[..., str]
) -> None:
    waiting = queue_up(NOW)
    # later than the ids of all tests in this process, some of which are in the future
    given, days_later = {"lease": LEASE, "served": ["x", "y"]}, 1 << 47

    assert write(queue.claim("a", 9, now=NOW, **given)) == []
    (taken,) = write(queue.claim("a", 9, now=days_later, **given))
    assert taken.id == waiting


def test_a_stale_attempt_changes_nothing(
    write: Write, queue_up: Callable[..., str], row: Callable[[str], Any]
) -> None:
    one = queue_up()
    write(queue.claim("a", 1, lease=LEASE, now=NOW))
    write(queue.release(one, 1, NOW))
    write(queue.claim("b", 1, lease=LEASE, now=NOW))
    before = row(one)

    assert write(queue.finish(one, 1, OUTPUT, NOW)) is False
    assert write(queue.fail(one, 1, "late", "late", NOW)) is False
    write(queue.renew([(one, 1)], lease=LEASE + 1))
    write(queue.report(one, 1, 0.9, NOW))
    write(queue.release(one, 1, NOW))
    assert write(queue.requeue_lost(one, 1, 5, attempts=3, now=NOW)) is False
    assert write(queue.requeue_lost(one, 1, 0, attempts=3, now=NOW)) is False
    assert row(one) == before
    assert write(queue.requeue_lost(one, 2, 0, attempts=3, now=NOW)) is True
    write(queue.claim("c", 1, lease=LEASE, now=NOW))
    assert write(queue.finish(one, 3, OUTPUT, NOW)) is True


def test_a_finished_generation_never_changes(
    write: Write, queue_up: Callable[..., str], row: Callable[[str], Any], payer: Payer
) -> None:
    one = queue_up()
    write(queue.claim("a", 1, lease=LEASE, now=NOW))
    write(queue.finish(one, 1, OUTPUT, NOW))
    before = row(one)

    assert write(queue.finish(one, 1, {"key": "other"}, NOW)) is False
    assert write(queue.fail(one, 1, "late", "late", NOW)) is False
    with pytest.raises(ConflictError, match="completed"):
        write(generations.cancel(one, payer, NOW))
    assert row(one) == before
    assert before.state == "completed"
    assert before.progress == 1.0


def test_a_failure_is_refunded_in_full_and_once(
    write: Write, queue_up: Callable[..., str], row: Callable[[str], Any], balance: Any
) -> None:
    one = queue_up()
    assert balance() == 9400
    write(queue.claim("a", 1, lease=LEASE, now=NOW))

    assert write(queue.fail(one, 1, "too dry", "dry", NOW)) is True
    assert write(queue.fail(one, 1, "too dry", "dry", NOW)) is False
    assert balance() == 10_000
    assert (row(one).state, row(one).refunded, row(one).error_code) == ("failed", 600, "dry")


def test_expired_claims_are_queued_again_and_fail_after_three_attempts(
    write: Write, queue_up: Callable[..., str], row: Callable[[str], Any], balance: Any
) -> None:
    one, now = queue_up(), NOW
    for _ in range(3):
        assert row(one).state == "queued"
        write(queue.claim("a", 1, lease=now + 10, now=now))
        assert write(queue.requeue_expired(attempts=3, now=now + 10)) == []
        now += 11
        assert write(queue.requeue_expired(attempts=3, now=now))

    assert (row(one).state, row(one).error_code) == ("failed", "worker_lost")
    assert balance() == 10_000


def test_a_renewed_claim_does_not_expire(write: Write, queue_up: Callable[..., str]) -> None:
    one = queue_up()
    write(queue.claim("a", 1, lease=NOW + 10, now=NOW))
    write(queue.renew([(one, 1)], lease=NOW + 100))

    assert write(queue.requeue_expired(attempts=3, now=NOW + 50)) == []


def test_a_claim_by_a_clock_that_was_ahead_expires(
    write: Write, queue_up: Callable[..., str]
) -> None:
    one, year = queue_up(), 365 * 24 * 3600 * 1000
    write(queue.claim("a", 1, lease=NOW + year, now=NOW + year - 10))

    assert write(queue.requeue_expired(attempts=3, now=NOW, lease=NOW + year)) == []
    assert [row.id for row in write(queue.requeue_expired(attempts=3, now=NOW))] == [one]


def test_a_released_job_does_not_count_as_lost(
    write: Write, queue_up: Callable[..., str], row: Callable[[str], Any]
) -> None:
    one = queue_up()
    for attempt in range(1, 6):
        write(queue.claim("a", 1, lease=LEASE, now=NOW))
        write(queue.report(one, attempt, 0.5, NOW))
        write(queue.release(one, attempt, NOW))

    assert (row(one).state, row(one).losses, row(one).progress) == ("queued", 0, 0.0)


def test_a_cancel_before_a_worker_started_is_refunded(
    write: Write, queue_up: Callable[..., str], payer: Payer, balance: Any
) -> None:
    row = write(generations.cancel(queue_up(), payer, NOW))

    assert (row.state, row.refunded) == ("canceled", 600)
    assert balance() == 10_000
    assert write(queue.claim("a", 1, lease=LEASE, now=NOW)) == []


@pytest.mark.parametrize("back", [False, True], ids=["running", "released"])
def test_a_cancel_after_a_worker_started_is_not_refunded(
    write: Write, queue_up: Callable[..., str], payer: Payer, balance: Any, back: bool
) -> None:
    one = queue_up()
    write(queue.claim("a", 1, lease=LEASE, now=NOW))
    if back:
        write(queue.release(one, 1, NOW))
    row = write(generations.cancel(one, payer, NOW))

    assert (row.state, row.refunded) == ("canceled", 0)
    assert balance() == 9400
    assert write(queue.finish(one, 1, OUTPUT, NOW)) is False
    assert write(generations.cancel(one, payer, NOW)).state == "canceled"


def test_a_canceled_job_does_not_end_before_its_start(
    write: Write, queue_up: Callable[..., str], payer: Payer
) -> None:
    one = queue_up()
    write(queue.claim("a", 1, lease=LEASE, now=NOW + 5))
    row = write(generations.cancel(one, payer, NOW))

    assert row.started_at == row.completed_at == row.updated_at == NOW + 5


def test_filters_match_wildcard_characters_literally(
    write: Write, payer: Payer, queue_up: Callable[..., str]
) -> None:
    one = queue_up(tags={"of": r"50%_\x"})
    queue_up(tags={"of": "50% of x"})

    def page(**filters: str) -> list[str]:
        return [row.id for row in write(generations.page(payer.account_id, most=9, **filters))]

    assert page(tag=r"of=50%_\x") == [one]
    assert len(page(model="flat")) == len(page()) == 2
    assert page(model="fl%") == page(model="fla_") == page(model="flat\\") == []
