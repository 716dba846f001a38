"""After any sequence of operations the ledger equals the balance and nothing is overdrawn."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from kit.engines.registry import list_engines
from kit.errors import ConflictError, InsufficientCreditsError
from kit.service.domain import accounts, catalog, credits, generations, queue
from kit.service.domain.credits import Payer
from kit.service.store.database import Transaction
from kit.wire import StartGeneration
from tests.service.domain.conftest import open_empty

OFFERED = catalog.load([list_engines()["flat"].definition])
LEASE_MS = 1000


class Money(RuleBasedStateMachine):
    """One account, one worker, and a clock that only advances with each operation."""

    started: Bundle[str] = Bundle("started")
    claimed: Bundle[tuple[str, int]] = Bundle("claimed")
    #: URL of the database; empty for an embedded one.
    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.database = open_empty(Path(self.folder.name), self.url)
        self.now = 1_700_000_000_000
        self.expected = 2000
        self.charged: dict[str, int] = {}
        account = self.write(accounts.create("Ada", "ada@example.org", 2000, self.now))
        self.payer = Payer(account.id)

    def write(self, work: Transaction[Any]) -> Any:
        self.now += 1
        return self.loop.run_until_complete(self.database.write(work))

    def expect_refund(self, generation_id: str) -> None:
        self.expected += self.charged.pop(generation_id)

    @rule(amount=st.integers(1, 3000))
    def grant(self, amount: int) -> None:
        self.expected += amount
        assert self.write(credits.grant(self.payer.account_id, amount, self.now)) == self.expected

    @rule(target=started, count=st.integers(1, 10))
    def start(self, count: int) -> Any:
        order = StartGeneration(model_id="flat", prompt="x", parameters={"count": count})

        def work() -> Transaction[Any]:
            plan = yield from generations.plan(OFFERED, order, self.payer.account_id)
            return (yield from generations.start(plan, self.payer, self.now))

        price = 500 + 100 * count
        try:
            row = self.write(work())
            generation_id, amount = row.id, row.millicredits
        except InsufficientCreditsError:
            assert self.expected < price
            return multiple()
        assert amount == price
        self.expected -= price
        self.charged[generation_id] = price
        return generation_id

    @rule(target=claimed)
    def claim(self) -> Any:
        rows = self.write(queue.claim("w", 2, lease=self.now + LEASE_MS, now=self.now))
        return multiple(*((row.id, row.attempt) for row in rows))

    @rule(claim=claimed)
    def finish(self, claim: tuple[str, int]) -> None:
        if self.write(queue.finish(*claim, {"key": "a"}, self.now)):
            self.charged.pop(claim[0])

    @rule(claim=claimed)
    def fail(self, claim: tuple[str, int]) -> None:
        if self.write(queue.fail(*claim, "too dry", "dry", self.now)):
            self.expect_refund(claim[0])

    @rule(claim=claimed)
    def hand_back(self, claim: tuple[str, int]) -> None:
        self.write(queue.release(*claim, self.now))

    @rule()
    def lose_the_worker(self) -> None:
        self.now += LEASE_MS + 1
        self.write(queue.requeue_expired(attempts=2, now=self.now))
        for generation_id in list(self.charged):
            if self.row(generation_id).state == "failed":
                self.expect_refund(generation_id)

    @rule(generation_id=started)
    def cancel(self, generation_id: str) -> None:
        before = self.row(generation_id)
        try:
            after = self.write(generations.cancel(generation_id, self.payer, self.now))
        except ConflictError:
            assert before.state in ("completed", "failed")
            return
        assert after.state == "canceled"
        if before.state == "queued" and before.attempt == 0:
            self.expect_refund(generation_id)
        else:
            self.charged.pop(generation_id, None)

    def row(self, generation_id: str) -> Any:
        return self.write(generations.get(generation_id, self.payer.account_id))

    @invariant()
    def the_balance_is_as_expected(self) -> None:
        figures = self.write(credits.balance(self.payer.account_id, self.now))
        assert figures["balance"] == self.expected >= 0
        assert figures["reserved"] == sum(self.charged.values())
        entries = self.write(credits.list_entries(self.payer.account_id, most=1000, before=None))
        paid = [entry.millicredits for entry in entries if entry.millicredits < 0]
        back = [entry.millicredits for entry in entries if entry.kind == "refund"]
        assert (figures["charged30d"], figures["refunded30d"]) == (-sum(paid), sum(back))

    @invariant()
    def the_ledger_equals_the_balance(self) -> None:
        assert self.write(credits.verify()) == []
        entries = self.write(credits.list_entries(self.payer.account_id, most=1000, before=None))
        assert sum(entry.millicredits for entry in entries) == self.expected
        assert entries[0].balance_after == self.expected

    def teardown(self) -> None:
        self.loop.run_until_complete(self.database.close())
        self.loop.close()
        self.folder.cleanup()


def test_the_ledger_equals_the_balance_on_postgresql(postgresql: str) -> None:
    class OnServer(Money):
        url = postgresql

    run_state_machine_as_test(OnServer, settings=settings(TestMoney.settings, max_examples=8))


TestMoney = Money.TestCase
TestMoney.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
