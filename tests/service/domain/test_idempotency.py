"""Idempotency keys: stored responses are replayed for a day, failed requests are released."""

from dataclasses import replace

import pytest

from kit.errors import ConflictError
from kit.service.domain import accounts, idempotency
from kit.service.domain.credits import Payer
from kit.service.domain.idempotency import Answer, RequestLabel
from kit.service.store.database import Transaction
from tests.conftest import sql
from tests.service.domain.conftest import NOW, Write

DAY = 24 * 3600 * 1000
KEPT = Answer(202, b"{}", {"Location": "there"}, replayed=True)


@pytest.fixture
def label(payer: Payer) -> RequestLabel:
    """The label of a request of the account."""
    return RequestLabel(payer.account_id, "one", "asked")


def work(body: bytes = b"{}") -> Transaction[Answer]:
    yield from ()
    return Answer(202, body, {"Location": "there"})


def test_a_response_is_replayed_for_a_day(write: Write, label: RequestLabel) -> None:
    first = write(idempotency.run_once(label, work(), NOW))
    again = write(idempotency.run_once(label, work(b"[]"), NOW + DAY))
    later = write(idempotency.run_once(label, work(b"[]"), NOW + DAY + 1))

    assert (first.body, first.replayed) == (b"{}", False)
    assert (again.body, again.headers, again.replayed) == (b"{}", {"Location": "there"}, True)
    assert (later.body, later.replayed) == (b"[]", False)


def test_a_running_request_raises_a_conflict(write: Write, label: RequestLabel) -> None:
    assert write(idempotency.begin(label, NOW, "run")) is None
    with pytest.raises(ConflictError, match="still running") as caught:
        write(idempotency.begin(label, NOW + 600_000, "run"))

    assert caught.value.headers["Retry-After"] == "1"


def test_an_interrupted_request_can_be_sent_again(write: Write, label: RequestLabel) -> None:
    write(idempotency.begin(label, NOW, "run"))

    assert write(idempotency.begin(label, NOW + 600_001, "run")) is None


def test_a_released_request_can_be_sent_again(write: Write, label: RequestLabel) -> None:
    write(idempotency.begin(label, NOW, "run"))
    write(idempotency.release(label))

    assert write(idempotency.begin(label, NOW, "run")) is None


def test_accounts_that_use_the_same_idempotency_key_do_not_conflict(
    write: Write, label: RequestLabel
) -> None:
    other = write(accounts.create("Bob", "bob@example.org", 0, NOW)).id
    theirs = replace(label, account_id=other)
    write(idempotency.begin(label, NOW, "run"))
    assert write(idempotency.begin(theirs, NOW, "run")) is None
    write(idempotency.release(theirs))
    with pytest.raises(ConflictError, match="still running"):
        write(idempotency.find_answer(label, NOW))

    write(idempotency.begin(theirs, NOW, "run"))
    write(idempotency.run_and_store(theirs, work(b'"theirs"')))
    write(idempotency.run_and_store(label, work(b'"ours"')))

    assert write(idempotency.find_answer(theirs, NOW)).body == b'"theirs"'
    assert write(idempotency.find_answer(label, NOW)).body == b'"ours"'


def test_a_stored_response_is_not_released(write: Write, label: RequestLabel) -> None:
    write(idempotency.begin(label, NOW, "run"))
    write(idempotency.run_and_store(label, work(b"[]")))
    write(idempotency.release(label))

    assert write(idempotency.begin(label, NOW, "run")) == replace(KEPT, body=b"[]")


def test_pruning_removes_stale_requests_and_responses(write: Write, label: RequestLabel) -> None:
    write(idempotency.run_once(label, work(), NOW))
    running = RequestLabel(label.account_id, "two", "asked")
    write(idempotency.begin(running, NOW, "run"))
    write(idempotency.prune(NOW + 600_001))

    assert write(idempotency.find_answer(running, NOW)) is None
    assert write(idempotency.find_answer(label, NOW)) is not None
    write(idempotency.prune(NOW + DAY + 1))
    assert write(idempotency.find_answer(label, NOW)) is None


_MANY = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500)
INSERT INTO idempotency (account_id, key, fingerprint, status, created_at)
SELECT :account, 'key-' || n, 'asked', 200, n FROM numbers
"""


def test_pruning_takes_short_transactions(write: Write, label: RequestLabel) -> None:
    write(sql(_MANY, account=label.account_id))

    left = []
    while write(idempotency.prune(NOW + DAY)):
        left += [row.number for row in write(sql("SELECT count(*) AS number FROM idempotency"))]
    assert left == [500, 0]
