"""Reads of a request cost the same however long the history is.

The tests count the steps of SQLite's virtual machine, which do not depend on the machine's load.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from kit.service.domain import accounts, credits, generations, idempotency, keys, queue, writing
from kit.service.domain.credits import Payer, Reason
from kit.service.store import generations as statements
from kit.service.store import ids
from kit.service.store.database import Transaction, one, row_maker
from kit.service.store.sqlite import SQLite
from kit.service.store.sqlite.file import NAME
from tests.benchmarks.bench_pages import DAY_MS, write_history

NOW = 1_700_000_000_000
SMALL, LARGE = 600, 6_000
SECRET = b"s" * 32
_TAGS = """
INSERT INTO tags (account_id, tag, generation_id)
SELECT account_id, 'campaign=' || CASE WHEN state = 'failed' THEN 'rare' ELSE 'usual' END, id
FROM generations
"""
_TITLES = """
INSERT INTO titles (id, account_id, topic, title, created_at)
SELECT replace(id, 'gen_', 'ttl_'), account_id, 'SPACE', id, created_at FROM generations
"""


class History:
    """A database with many generations, charges and titles, and a key that paid for them."""

    def __init__(self, path: Path, count: int) -> None:
        self.payer, self.text = asyncio.run(_create_payer(path))
        write_history(path, self.payer.account_id, count, NOW)
        self.connection = apsw.Connection(str(path))
        self.connection.execute("UPDATE ledger SET key_id = ?", (self.payer.key_id,))
        self.connection.execute(_TITLES)
        self.connection.execute(_TAGS)

    def count_steps(self, work: Transaction[Any]) -> int:
        """Return the number of steps of a transaction, which is rolled back."""
        taken: list[int] = []

        def note(event: Any) -> None:
            taken.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

        self.connection.execute("BEGIN")
        self.connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
        try:
            step = next(work)
            while True:
                cursor = self.connection.execute(step.statement.text(NAME), step.values)
                step = work.send(read_rows(cursor))
        except StopIteration:
            return sum(taken)
        finally:
            self.connection.trace_v2(0, None)
            self.connection.execute("ROLLBACK")


def read_rows(cursor: apsw.Cursor) -> list[Any]:
    """Return the rows of a cursor as transactions receive them."""
    try:
        row = row_maker(name for name, *_ in cursor.getdescription())
    except apsw.ExecutionCompleteError:
        return []
    return [row(values) for values in cursor]


async def _create_payer(path: Path) -> tuple[Payer, str]:
    database = SQLite(path)
    account = await database.write(accounts.create("Ada", "a@b", 10**9, NOW))
    request = keys.KeyRequest(account_id=account.id, name="capped", cap=10**9)
    key = await database.write(keys.create(request, SECRET, NOW))
    await database.close()
    return Payer(account.id, key.row.id, key.row.prefix, key.row.cap), key.text


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[History, History]]:
    """A short and a long history of the same kind."""
    folder = tmp_path_factory.mktemp("growth")
    small, large = (History(folder / f"{count}.db", count) for count in (SMALL, LARGE))
    yield small, large
    small.connection.close()
    large.connection.close()


_VALUES: dict[str, tuple[Any, ...]] = {
    "state": (None, "processing", "completed", "failed", "canceled"),
    "asset_type": (None, "image", "video"),
    "model": (None, "poster", "drift", "none"),
    "after": (None, ids.floor("gen", NOW - 30 * DAY_MS)),
    "until": ((), (ids.floor("gen", NOW - DAY_MS),)),
}
_PAGES = [
    dict(zip(_VALUES, values, strict=True)) for values in itertools.product(*_VALUES.values())
]


@pytest.mark.parametrize("whole", [True, False])
def test_a_page_with_any_filter_takes_the_same_steps_in_a_long_history(
    histories: tuple[History, History], whole: bool
) -> None:
    for filters in _PAGES:
        few, many = (
            it.count_steps(generations.page(it.payer.account_id, most=51, whole=whole, **filters))
            for it in histories
        )
        assert many <= 1.05 * few + 200, filters


@pytest.mark.parametrize("tag", ["campaign=usual", "campaign=rare", "campaign=none"])
@pytest.mark.parametrize("until", _VALUES["until"])
def test_a_page_of_a_tag_takes_the_same_steps_in_a_long_history(
    histories: tuple[History, History], tag: str, until: tuple[str, ...]
) -> None:
    few, many = (
        it.count_steps(generations.page(it.payer.account_id, most=51, tag=tag, until=until))
        for it in histories
    )

    assert many <= 1.05 * few + 200


_READS: dict[str, Callable[[History], Transaction[Any]]] = {
    "the caller": lambda it: keys.find_caller(it.text, SECRET, NOW),
    "the account": lambda it: accounts.get(it.payer.account_id),
    "the credits": lambda it: credits.balance(it.payer.account_id, NOW),
    "the spendable credits": lambda it: credits.check(it.payer, 50, NOW),
    "a charge": lambda it: credits.charge(it.payer, 50, Reason(kind="title", subject="x"), NOW),
    "the usage": lambda it: credits.list_entries(it.payer.account_id, most=51, before=None),
    "older usage": lambda it: credits.list_entries(
        it.payer.account_id, most=51, before=ids.floor("led", NOW - DAY_MS)
    ),
    "the titles": lambda it: writing.recent_titles(it.payer.account_id, "SPACE"),
    "the mean charge": lambda it: one(statements.recent_charges(model_id="poster")),
    "the queue": lambda it: queue.count_states(),
    "a place in the queue": lambda it: queue.next_round(it.payer.account_id),
    "a claim": lambda it: queue.claim("worker", 4, lease=NOW, now=NOW),
    "lost claims": lambda it: queue.requeue_expired(attempts=3, now=NOW),
    "workers": lambda it: queue.list_owners(),
    "own claims": lambda it: queue.running_claims("worker"),
    "a stored response": lambda it: idempotency.find_answer(
        idempotency.RequestLabel(it.payer.account_id, "key", "print"), NOW
    ),
}


@pytest.mark.parametrize("read", _READS.values(), ids=_READS)
def test_the_reads_of_a_request_take_the_same_steps_in_a_long_history(
    histories: tuple[History, History], read: Callable[[History], Transaction[Any]]
) -> None:
    few, many = (it.count_steps(read(it)) for it in histories)

    assert 0 < many <= 1.05 * few + 20
