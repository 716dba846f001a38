"""Concurrent requests of one account: none is lost, overdrawn or done twice."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from kit.errors import ConflictError, InsufficientCreditsError
from kit.service.domain import accounts, credits, generations, keys, outputs, queue
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.domain.idempotency import Answer, RequestLabel, run_once
from kit.service.store import Database
from kit.service.store.database import Transaction
from kit.wire import StartGeneration
from tests.conftest import sql
from tests.service.domain.conftest import NOW, Write

ORDER = StartGeneration(model_id="flat", prompt="x")
PRICE = 600


def start(offered: Catalog, payer: Payer) -> Transaction[str]:
    plan = yield from generations.plan(offered, ORDER, payer.account_id)
    return str((yield from generations.start(plan, payer, NOW)).id)


@pytest.fixture
def race(database: Database, runner: asyncio.Runner) -> Any:
    """Run the transactions that some callables return, concurrently."""

    async def all_of(orders: list[Any]) -> list[Any]:
        return await asyncio.gather(*map(database.write, orders), return_exceptions=True)

    return lambda *orders: runner.run(all_of(list(orders)))


def test_64_concurrent_starts_do_not_overdraw_an_account(
    race: Any, write: Write, offered: Catalog
) -> None:
    payer = Payer(write(accounts.create("Ada", "a@b", 40 * PRICE + 10, NOW)).id)

    answers = race(*[lambda: start(offered, payer)] * 64)

    assert Counter(map(type, answers)) == {str: 40, InsufficientCreditsError: 24}
    assert write(credits.balance(payer.account_id, NOW))["balance"] == 10
    assert write(credits.verify()) == []


def test_concurrent_starts_do_not_exceed_the_cap_of_a_key(
    race: Any, write: Write, offered: Catalog, payer: Payer
) -> None:
    request = keys.KeyRequest(account_id=payer.account_id, name="capped", cap=5 * PRICE)
    key = write(keys.create(request, b"s" * 32, NOW)).row
    capped = Payer(payer.account_id, key.id, key.prefix, key.cap)

    answers = race(*[lambda: start(offered, capped)] * 12)

    assert Counter(map(type, answers)) == {str: 5, InsufficientCreditsError: 7}
    assert write(credits.verify()) == []


def test_concurrent_copies_of_a_request_are_done_once(
    race: Any, write: Write, offered: Catalog, payer: Payer
) -> None:
    label = RequestLabel(payer.account_id, "key", "print")

    def work() -> Transaction[Answer]:
        return Answer(202, (yield from start(offered, payer)).encode())

    answers = race(*[lambda: run_once(label, work(), NOW)] * 16)

    assert len({answer.body for answer in answers}) == 1
    assert [answer.replayed for answer in answers].count(False) == 1
    assert write(credits.balance(payer.account_id, NOW))["balance"] == 10_000 - PRICE


def test_workers_that_claim_concurrently_get_different_jobs(
    race: Any, write: Write, offered: Catalog, payer: Payer
) -> None:
    started = {write(start(offered, payer)) for _ in range(12)}

    taken = race(*(lambda w=w: queue.claim(f"w{w}", 2, lease=NOW, now=NOW) for w in range(8)))

    claimed = [row.id for rows in taken for row in rows]
    assert len(claimed) == len({*claimed}) == 12
    assert {*claimed} == started


def test_a_cancel_that_races_a_claim_and_a_failure_is_refunded_once(
    race: Any, write: Write, offered: Catalog, payer: Payer
) -> None:
    for _ in range(12):
        name = write(start(offered, payer))
        race(
            lambda name=name: generations.cancel(name, payer, NOW),
            lambda: queue.claim("w", 1, lease=NOW, now=NOW),
            lambda name=name: generations.cancel(name, payer, NOW),
            lambda name=name: queue.fail(name, 1, "no", "no", NOW),
        )
        assert write(credits.verify()) == []


def test_concurrent_deletions_of_the_same_outputs_succeed(
    race: Any, write: Write, offered: Catalog, payer: Payer
) -> None:
    name = write(start(offered, payer))
    write(queue.claim("w", 1, lease=NOW, now=NOW))
    write(queue.finish(name, 1, {"key": "outputs/a/b.png"}, NOW))

    answers = race(*[lambda: outputs.delete(name, payer, NOW)] * 6)

    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert [row.key for row in write(sql("SELECT key FROM removals"))] == ["outputs/a/b.png"]
    with pytest.raises(ConflictError):
        write(generations.cancel(name, payer, NOW))
