"""The queue is fair: accounts take turns, and each account's generations stay in their order."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from kit.engines.registry import list_engines
from kit.service.domain import accounts, catalog, generations, queue
from kit.service.domain.credits import Payer
from kit.service.store import migrations
from kit.service.store.database import Transaction
from kit.service.store.sqlite import SQLite
from kit.wire import StartGeneration
from tests.service.domain.conftest import NOW, Write, open_empty

LEASE = NOW + 30_000
OFFERED = catalog.load([list_engines()["flat"].definition])
ORDER = StartGeneration(model_id="flat", prompt="x")


def start(payer: Payer, times: int = 1) -> Transaction[list[str]]:
    """Start generations and return their ids."""
    plan = yield from generations.plan(OFFERED, ORDER, payer.account_id)
    made = []
    for _ in range(times):
        made.append((yield from generations.start(plan, payer, NOW)).id)
    return made


def opened(name: str) -> Transaction[Payer]:
    """Make an account that can pay for everything."""
    account = yield from accounts.create(name, "a@b", 10**9, NOW)
    return Payer(account.id)


@pytest.fixture
def claimed(write: Write) -> Callable[..., list[str]]:
    """Claim some and return their ids."""
    return lambda most=1: [row.id for row in write(queue.claim("w", most, lease=LEASE, now=NOW))]


def test_a_thousand_jobs_of_one_account_delay_anothers_first_by_one(
    write: Write, claimed: Callable[..., list[str]]
) -> None:
    many, few = write(opened("many")), write(opened("few"))
    theirs = write(start(many, 1000))
    claimed(300)
    (mine,) = write(start(few))

    assert claimed(3) == [theirs[300], mine, theirs[301]]


def test_accounts_take_turns_and_each_keeps_its_order(
    write: Write, claimed: Callable[..., list[str]]
) -> None:
    one, two, three = (write(opened(name)) for name in ("a", "b", "c"))
    first, second, third = write(start(one, 4)), write(start(two, 3)), write(start(three, 1))

    assert claimed(8) == [
        *(first[0], second[0], third[0]),
        *(first[1], second[1]),
        *(first[2], second[2]),
        first[3],
    ]


def test_a_newcomer_with_many_does_not_overtake_who_has_waited(
    write: Write, claimed: Callable[..., list[str]]
) -> None:
    early, late = write(opened("early")), write(opened("late"))
    theirs = write(start(early, 100))
    claimed(50)
    write(start(late, 100))
    next_ones = claimed(20)

    assert len({*next_ones} & {*theirs}) == 10


def test_what_is_handed_back_is_next_and_does_not_help_the_rest_forward(
    write: Write, claimed: Callable[..., list[str]]
) -> None:
    one, two, three = (write(opened(name)) for name in ("a", "b", "c"))
    old = write(start(one, 100))
    claimed(60)
    waiting = write(start(two, 2))
    write(queue.release(old[0], 1, NOW))
    # Were it back in its old round, all of these would be in rounds before those that wait.
    crowd = write(start(three, 100))

    assert claimed(1) == [old[0]]
    assert {*claimed(3)} == {old[60], waiting[0], crowd[0]}


def test_what_waited_before_rounds_were_counted_keeps_its_order(tmp_path: Path) -> None:
    path = tmp_path / "kit.db"
    old = apsw.Connection(str(path))
    old.execute("CREATE TABLE alembic_version AS SELECT '0001' AS version_num")
    old.execute(migrations.missing("sqlite", 0)[0][1]).fetchall()
    old.execute("INSERT INTO accounts VALUES ('acc_a', 'a', 'a@b', 0, 0)")
    for name in ("gen_1", "gen_2", "gen_3"):
        old.execute(
            "INSERT INTO generations (id, account_id, key_id, state, asset_type, generation_type,"
            " model_id, model_name, prompt, parameters, media, seed, millicredits, refunded,"
            " progress, attempt, losses, created_at, updated_at) VALUES (?, 'acc_a', '', 'queued',"
            " 'image', '', 'flat', '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0)",
            (name,),
        )
    old.close()

    async def upgraded() -> list[str]:
        database = SQLite(path)
        rows = await database.write(queue.claim("w", 2, lease=LEASE, now=NOW))
        await database.close()
        return [row.id for row in rows]

    assert asyncio.run(upgraded()) == ["gen_1", "gen_2"]


class Fairness(RuleBasedStateMachine):
    """Three accounts, whatever they and the workers do."""

    #: The database; empty for one of its own.
    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.database = open_empty(Path(self.folder.name), self.url)
        self.payers = [self.write(opened(str(number))) for number in range(3)]
        #: Ids that wait, by account; and the attempts that are running.
        self.waiting: dict[str, set[str]] = {payer.account_id: set() for payer in self.payers}
        self.running: dict[str, Any] = {}
        #: Accounts whose first one waits -> what others were given since, and may be given more.
        self.given: dict[str, Counter[str]] = {}
        self.returned: set[str] = set()

    def write(self, work: Transaction[Any]) -> Any:
        return self.loop.run_until_complete(self.database.write(work))

    def teardown(self) -> None:
        self.loop.run_until_complete(self.database.close())
        self.loop.close()
        self.folder.cleanup()

    @rule(which=st.integers(0, 2), times=st.integers(1, 12))
    def start(self, which: int, times: int) -> None:
        payer = self.payers[which]
        if not self.waiting[payer.account_id]:
            self.given[payer.account_id] = Counter()
        self.waiting[payer.account_id] |= {*self.write(start(payer, times))}

    @rule(most=st.integers(1, 3))
    def claim(self, most: int) -> None:
        for row in self.write(queue.claim("w", most, lease=LEASE, now=NOW)):
            mine = self.waiting[row.account_id]
            assert row.id == min(mine), "an account's generations are taken in their order"
            mine.remove(row.id)
            self.running[row.id] = row
            self.given.pop(row.account_id, None)
            if row.id in self.returned:
                self.returned.remove(row.id)  # one that was begun before is no new one
                continue
            for others in self.given.values():
                others[row.account_id] += 1
                assert others[row.account_id] <= 1, (
                    "before an account's first comes at most one of each other"
                )

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def hand_back(self, data: st.DataObject) -> None:
        row = self.running.pop(data.draw(st.sampled_from(sorted(self.running))))
        self.write(queue.release(row.id, row.attempt, NOW))
        self.waiting[row.account_id].add(row.id)
        self.returned.add(row.id)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        row = self.running.pop(data.draw(st.sampled_from(sorted(self.running))))
        assert self.write(queue.finish(row.id, row.attempt, {"key": "a"}, NOW))

    @precondition(lambda self: any(self.waiting.values()))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        payer = data.draw(st.sampled_from([p for p in self.payers if self.waiting[p.account_id]]))
        mine = self.waiting[payer.account_id]
        chosen = data.draw(st.sampled_from(sorted(mine)))
        self.write(generations.cancel(chosen, payer, NOW))
        mine.remove(chosen)
        self.returned.discard(chosen)
        self.given.pop(payer.account_id, None)  # what is first now came as a later one


def test_it_holds_on_postgresql(postgresql: str) -> None:
    class There(Fairness):
        url = postgresql

    run_state_machine_as_test(There, settings=settings(TestFairness.settings, max_examples=8))


TestFairness = Fairness.TestCase
TestFairness.settings = settings(max_examples=40, stateful_step_count=30)
