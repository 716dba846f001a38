"""The check of the ledger: each kind of discrepancy is found and names the right account."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.service.domain import accounts as account_rules
from kit.service.domain import credits, generations, queue, writing
from kit.service.domain.credits import Discrepancy, Payer, Reason
from kit.service.domain.writing import Draft
from kit.service.store import ids, ledger
from kit.service.store.database import Transaction
from kit.wire import Title
from tests.conftest import sql
from tests.service.domain.conftest import NOW, Write

Alter = Callable[..., Any]


@pytest.fixture
def alter(write: Write) -> Alter:
    """Write values into the database that no part of the service would write."""
    return lambda statement, **values: write(sql(statement, **values))


@pytest.fixture
def failed(write: Write, queue_up: Callable[..., str]) -> str:
    """A generation that failed and was refunded."""
    name = queue_up()
    write(queue.claim("w", 1, lease=NOW + 1000, now=NOW))
    assert write(queue.fail(name, 1, "too dry", "dry", NOW))
    return name


def find_problems(write: Write) -> list[tuple[str, str]]:
    return [(it.subject, it.problem) for it in write(credits.verify())]


def test_a_ledger_with_every_kind_of_entry_has_no_discrepancy(
    write: Write, payer: Payer, failed: str, queue_up: Callable[..., str]
) -> None:
    canceled = queue_up()
    write(generations.cancel(canceled, payer, NOW))
    queue_up()
    title = Title(title="Ten facts", hook_angle="why")
    write(writing.deliver_title("SPACE", title, payer, NOW, known=[]))
    brief = writing.ScriptBrief(
        topic="SPACE",
        title="Ten facts",
        duration_seconds=10,
        hook_angle=None,
        use_hook=False,
        use_cta=False,
        use_ragebait=False,
        variations=2,
    )
    write(writing.deliver_scripts(brief, [Draft("a", 10, 1, "w")] * 2, payer, NOW))

    assert len(write(credits.list_entries(payer.account_id, most=99, before=None))) == 8
    assert write(credits.verify()) == []


def test_a_balance_that_is_not_the_sum_of_the_entries_is_found(write: Write, payer: Payer) -> None:
    change = "UPDATE accounts SET balance = balance + 5, charged = charged + 1, refunded = 2"
    write(sql(f"{change} WHERE id = :id", id=payer.account_id))

    assert {
        (payer.account_id, "balance 10.005, ledger 10"),
        (payer.account_id, "charged in all 0.001, ledger 0"),
        (payer.account_id, "refunded in all 0.002, ledger 0"),
    } <= {*find_problems(write)}


def test_an_entry_that_does_not_continue_the_balance_is_found(
    write: Write, payer: Payer, failed: str, alter: Alter
) -> None:
    alter("UPDATE ledger SET balance_after = balance_after + 7 WHERE kind = 'generation'")

    account = payer.account_id
    assert set(write(credits.verify())) == {
        Discrepancy(account, account, "no entry continues from a balance of 9.407"),
        Discrepancy(account, account, "no entry results in a balance of 10.007"),
        Discrepancy(account, account, "no entry results in a balance of 9.4"),
        Discrepancy(account, account, "no entry continues from a balance of 10"),
    }


def test_entries_whose_ids_are_not_in_the_order_of_writing_are_correct(
    write: Write, payer: Payer
) -> None:
    write(grant_with_own_clock(payer, NOW + 50))
    write(grant_with_own_clock(payer, NOW + 20))

    entries = write(
        credits.list_entries(payer.account_id, most=9, before=ids.floor("led", NOW + 60))
    )
    assert [entry.balance_after for entry in entries][:2] == [11_000, 12_000]
    assert write(credits.verify()) == []


def grant_with_own_clock(payer: Payer, now: int) -> Transaction[None]:
    """Grant a credit as a process does that numbers its entries by its own clock."""
    name = ids.floor("led", now)
    empty = ("generation_id", "model_id", "key_id", "key_prefix", "details", "tags")
    nothing = dict.fromkeys(empty)
    about = {"id": name, "subject": name, "kind": "grant", "created_at": now, **nothing}
    yield ledger.enter(account_id=payer.account_id, amount=1000, charged=0, refunded=0, **about)


def test_a_missing_refund_is_found(write: Write, payer: Payer, failed: str, alter: Alter) -> None:
    alter("DELETE FROM ledger WHERE kind = 'refund'")
    alter("UPDATE accounts SET balance = balance - 600, refunded = 0")

    problem = (
        "failed, costs 0.6 and the ledger charges 0.6, refunded 0.6 and the ledger gives back 0"
    )
    assert find_problems(write) == [(failed, problem)]


def test_a_failed_generation_without_any_refund_is_found(
    write: Write, failed: str, alter: Alter
) -> None:
    alter("DELETE FROM ledger WHERE kind = 'refund'")
    alter("UPDATE accounts SET balance = balance - 600, refunded = 0")
    alter("UPDATE generations SET refunded = 0")

    problem = "failed, costs 0.6 and the ledger charges 0.6, refunded 0 and the ledger gives back 0"
    assert find_problems(write) == [(failed, problem)]


def test_a_generation_that_is_charged_twice_is_found(
    write: Write, payer: Payer, queue_up: Callable[..., str]
) -> None:
    name = queue_up()

    def again() -> Transaction[Any]:
        yield from credits.charge(
            payer, 600, Reason(kind="generation", subject="again", generation_id=name), NOW
        )

    write(again())

    problem = "queued, costs 0.6 and the ledger charges 1.2, refunded 0 and the ledger gives back 0"
    assert find_problems(write) == [(name, problem)]


def test_a_generation_that_was_charged_to_another_account_is_found(
    write: Write, payer: Payer, queue_up: Callable[..., str], alter: Alter
) -> None:
    name = queue_up()
    other = write(account_rules.create("Bob", "bob@example.org", 10_000, NOW)).id
    alter("UPDATE ledger SET account_id = :other WHERE kind = 'generation'", other=other)

    problems = find_problems(write)
    assert name in {subject for subject, _ in problems}
    assert any(
        f"a generation entry for {name}, which the account does not have" in p for _, p in problems
    )


@pytest.mark.parametrize("kind", ["title", "script", "generation", "refund"])
def test_an_entry_for_a_missing_subject_is_found(write: Write, payer: Payer, kind: str) -> None:
    enters = credits.add if kind == "refund" else credits.charge
    write(enters(payer, 50, Reason(kind=kind, subject="x", generation_id="x"), NOW))

    [(_, problem)] = find_problems(write)
    assert problem == f"a {kind} entry for x, which the account does not have"
