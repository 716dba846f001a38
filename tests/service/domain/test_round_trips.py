"""The number of statements in a transaction: on PostgreSQL each of them is a round trip."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.service.domain import generations, keys, queue
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.domain.idempotency import Answer, RequestLabel, run_once
from kit.service.store.database import Transaction
from kit.wire import StartGeneration
from tests.service.domain.conftest import NOW, Write

CLAIM = queue.Claim("w", NOW + 1000)


def record_steps(work: Transaction[Any], names: list[Any]) -> Transaction[Any]:
    """Run a transaction and record its steps."""
    rows: Any = None
    try:
        while True:
            step = work.send(rows)
            names.append(step)
            rows = yield step
    except StopIteration as end:
        return end.value


@pytest.fixture
def count_steps(write: Write) -> Callable[[Transaction[Any]], int]:
    """Run a transaction and return its number of steps."""

    def run(work: Transaction[Any]) -> int:
        taken: list[Any] = []
        write(record_steps(work, taken))
        return len(taken)

    return run


def start(offered: Catalog, payer: Payer, claim: queue.Claim | None) -> Transaction[Answer]:
    order = StartGeneration(model_id="flat", prompt="x")
    plan = yield from generations.plan(offered, order, payer.account_id)
    row = yield from generations.start(plan, payer, NOW, claim)
    return Answer(202, row.id.encode())


def finish_and_claim(name: str) -> Transaction[Any]:
    """Finish a job and claim the next one."""
    yield from queue.finish(name, 1, {"key": "a"}, NOW)
    return (yield from queue.claim("w", 1, lease=NOW, now=NOW))


def test_a_job_takes_few_statements(
    count_steps: Callable[[Transaction[Any]], int],
    write: Write,
    payer: Payer,
    offered: Catalog,
    queue_up: Callable[..., str],
) -> None:
    label = RequestLabel(payer.account_id, "key", "print")
    first = queue_up()

    assert count_steps(start(offered, payer, CLAIM)) == 2
    assert count_steps(start(offered, payer, None)) == 3
    assert count_steps(run_once(label, start(offered, payer, CLAIM), NOW)) == 4
    assert count_steps(queue.claim("w", 1, lease=NOW, now=NOW)) == 1
    assert count_steps(finish_and_claim(first)) == 3
    assert count_steps(queue.fail(queue_up(), 1, "no", "no", NOW)) == 1  # it is not running
    assert count_steps(generations.page(payer.account_id, most=9, state="completed")) == 1


def test_a_failure_and_a_cancel_take_few_statements(
    count_steps: Callable[[Transaction[Any]], int],
    write: Write,
    payer: Payer,
    queue_up: Callable[..., str],
) -> None:
    failing = queue_up()
    write(queue.claim("w", 1, lease=NOW, now=NOW))

    assert count_steps(queue.fail(failing, 1, "no", "no", NOW)) == 3
    assert count_steps(generations.cancel(queue_up(), payer, NOW)) == 4


def test_a_caller_is_found_with_one_statement(
    count_steps: Callable[[Transaction[Any]], int], write: Write, payer: Payer
) -> None:
    request = keys.KeyRequest(account_id=payer.account_id, name="k")
    text = write(keys.create(request, b"s" * 32, NOW)).text

    assert count_steps(keys.find_caller(text, b"s" * 32, NOW)) == 1
