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
    ids = []
    for _ in range(times):
        ids.append((yield from generations.start(plan, payer, NOW)).id)
    return ids


def create_account(name: str) -> Transaction[Payer]:
    """Create an account that can pay for everything."""
    account = yield from accounts.create(name, "a@b", 10**9, NOW)
    return Payer(account.id)


@pytest.fixture
def claim(write: Write) -> Callable[..., list[str]]:
    """Claim jobs and return their ids."""
    return lambda most=1: [row.id for row in write(queue.claim("w", most, lease=LEASE, now=NOW))]


def test_a_thousand_jobs_of_one_account_delay_another_account_by_one_job(
    write: Write, claim: Callable[..., list[str]]
) -> None:
    many, few = write(create_account("many")), write(create_account("few"))
    theirs = write(start(many, 1000))
    claim(300)
    (mine,) = write(start(few))

    assert claim(3) == [theirs[300], mine, theirs[301]]


def test_accounts_take_turns_and_each_keeps_its_order(
    write: Write, claim: Callable[..., list[str]]
) -> None:
    one, two, three = (write(create_account(name)) for name in ("a", "b", "c"))
    first, second, third = write(start(one, 4)), write(start(two, 3)), write(start(three, 1))

    assert claim(8) == [
        *(first[0], second[0], third[0]),
        *(first[1], second[1]),
        *(first[2], second[2]),
        first[3],
    ]


def test_accounts_that_start_one_job_after_the_other_do_not_delay_one_with_several(
    write: Write, claim: Callable[..., list[str]]
) -> None:
    several = write(create_account("several"))
    payers = [write(create_account(name)) for name in ("a", "b", "c")]
    theirs = write(start(several, 4))
    starters = {write(start(payer))[0]: payer for payer in payers}

    order = []
    for _ in range(4 * (len(payers) + 1)):
        (done,) = claim()
        order.append(done)
        assert write(queue.finish(done, 1, {"key": "a"}, NOW))
        if payer := starters.get(done):  # it starts the next one when it has its result
            starters[write(start(payer))[0]] = payer

    assert [one in theirs for one in order].count(True) == len(theirs)


def test_a_new_account_with_many_jobs_does_not_overtake_one_that_waits(
    write: Write, claim: Callable[..., list[str]]
) -> None:
    early, late = write(create_account("early")), write(create_account("late"))
    theirs = write(start(early, 100))
    claim(50)
    write(start(late, 100))
    next_ones = claim(20)

    assert len({*next_ones} & {*theirs}) == 10


def test_a_released_job_is_next_and_does_not_advance_its_accounts_other_jobs(
    write: Write, claim: Callable[..., list[str]]
) -> None:
    one, two, three = (write(create_account(name)) for name in ("a", "b", "c"))
    old = write(start(one, 100))
    claim(60)
    waiting = write(start(two, 2))
    write(queue.release(old[0], 1, NOW))
    # If it returned to its old round, all of these would be in rounds before those that wait.
    crowd = write(start(three, 100))

    assert claim(1) == [old[0]]
    assert {*claim(3)} == {old[60], waiting[0], crowd[0]}


def test_jobs_queued_before_the_migration_keep_their_order(tmp_path: Path) -> None:
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

    async def claim_after_upgrade() -> list[str]:
        database = SQLite(path)
        rows = await database.write(queue.claim("w", 2, lease=LEASE, now=NOW))
        await database.close()
        return [row.id for row in rows]

    assert asyncio.run(claim_after_upgrade()) == ["gen_1", "gen_2"]


class Fairness(RuleBasedStateMachine):
    """Three accounts and workers that act in any order."""

    #: URL of the database; empty for an embedded one.
    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.database = open_empty(Path(self.folder.name), self.url)
        self.payers = [self.write(create_account(str(number))) for number in range(3)]
        #: Ids of queued jobs by account, and the running attempts by id.
        self.waiting: dict[str, set[str]] = {payer.account_id: set() for payer in self.payers}
        self.running: dict[str, Any] = {}
        #: Accounts with a waiting job -> how many jobs each other account got since its last one.
        self.given: dict[str, Counter[str]] = {}
        self.returned: set[str] = set()
        #: Accounts that have canceled one of several waiting jobs, whose round stays empty.
        self.gaps: set[str] = set()

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
            self.gaps.discard(payer.account_id)
        self.waiting[payer.account_id] |= {*self.write(start(payer, times))}

    @rule(most=st.integers(1, 3))
    def claim(self, most: int) -> None:
        for row in self.write(queue.claim("w", most, lease=LEASE, now=NOW)):
            mine = self.waiting[row.account_id]
            assert row.id == min(mine), "an account's generations are claimed in their order"
            mine.remove(row.id)
            self.running[row.id] = row
            self.given.pop(row.account_id, None)
            if mine and row.account_id not in self.gaps:
                self.given[row.account_id] = Counter()
            if row.id in self.returned:
                self.returned.remove(row.id)  # a job that ran before does not count as new
                continue
            for others in self.given.values():
                others[row.account_id] += 1
                assert others[row.account_id] <= 2, (
                    "before an account's next job come at most two of each other account"
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
        self.given.pop(payer.account_id, None)  # the account's first job is now one that came later
        self.gaps.add(payer.account_id)


def test_the_queue_is_fair_on_postgresql(postgresql: str) -> None:
    class OnServer(Fairness):
        url = postgresql

    run_state_machine_as_test(OnServer, settings=settings(TestFairness.settings, max_examples=8))


TestFairness = Fairness.TestCase
TestFairness.settings = settings(max_examples=40, stateful_step_count=30)
