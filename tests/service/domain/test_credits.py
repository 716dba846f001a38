"""Credits: never overdrawn, never twice, never finer or other than the ledger says."""

import calendar
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.errors import InsufficientCreditsError, NotFoundError
from kit.service.domain import accounts, credits, keys
from kit.service.domain.credits import Payer, Reason
from kit.service.machine import clock
from kit.service.store import ids
from kit.service.store.database import DuplicateError
from tests.conftest import sql
from tests.moments import moment_of
from tests.service.domain.conftest import NOW, Write

DAY = 24 * 3600 * 1000


def latest() -> int:
    """Return the moment of the next entry: an id never goes back, whatever clock came before."""
    return max(clock(), moment_of(ids.new("led", 0)))


def reason(subject: str, kind: str = "title") -> Reason:
    return Reason(kind=kind, subject=subject)


def test_what_is_taken_is_in_the_ledger(write: Write, payer: Payer) -> None:
    left = write(credits.charge(payer, 1250, reason("a"), NOW))
    entry = write(credits.list_entries(payer.account_id, most=1, before=None))[0]

    assert left == 8750
    assert (entry.millicredits, entry.balance_after, entry.kind) == (-1250, 8750, "title")


def test_the_whole_balance_can_be_taken_and_no_more(write: Write, payer: Payer) -> None:
    assert write(credits.charge(payer, 10_000, reason("a"), NOW)) == 0
    with pytest.raises(InsufficientCreditsError, match=r"0\.001 credits required, 0 available"):
        write(credits.charge(payer, 1, reason("b"), NOW))

    entries = write(credits.list_entries(payer.account_id, most=10, before=None))
    assert [entry.balance_after for entry in entries] == [0, 10_000]


def test_a_price_beyond_what_a_database_counts_is_one_that_nobody_can_pay(
    write: Write, payer: Payer
) -> None:
    with pytest.raises(InsufficientCreditsError, match="credits required, 10 available"):
        write(credits.charge(payer, 10**20, reason("a"), NOW))

    assert write(credits.verify()) == []


def test_one_subject_is_paid_once(write: Write, payer: Payer) -> None:
    write(credits.charge(payer, 1000, reason("a"), NOW))
    with pytest.raises(DuplicateError):
        write(credits.charge(payer, 1000, reason("a"), NOW))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 9000


def test_an_unknown_account_is_given_nothing(write: Write) -> None:
    with pytest.raises(NotFoundError, match="acc_0"):
        write(credits.grant("acc_0", 1000, NOW))


def test_checking_takes_nothing(write: Write, payer: Payer) -> None:
    write(credits.check(payer, 10_000, NOW))
    with pytest.raises(InsufficientCreditsError):
        write(credits.check(payer, 10_001, NOW))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 10_000


@pytest.fixture
def capped(write: Write, payer: Payer) -> Payer:
    """The same account through a key that may spend two credits a month."""
    wish = keys.KeyRequest(account_id=payer.account_id, name="capped", cap=2000)
    made = write(keys.create(wish, b"s" * 32, NOW))
    return Payer(payer.account_id, made.row.id, made.row.prefix, made.row.cap)


def test_a_cap_holds_for_its_key_alone(write: Write, payer: Payer, capped: Payer) -> None:
    write(credits.charge(capped, 1500, reason("a"), NOW))
    with pytest.raises(InsufficientCreditsError, match="this month for the key") as caught:
        write(credits.charge(capped, 501, reason("b"), NOW))
    write(credits.charge(payer, 5000, reason("c"), NOW))

    assert caught.value.details == {"required": 0.501, "available": 0.5}
    assert write(credits.charge(capped, 500, reason("d"), NOW)) == 3000


def test_a_cap_begins_anew_with_the_month(write: Write, capped: Payer) -> None:
    write(credits.charge(capped, 2000, reason("a"), NOW))
    moment = datetime.fromtimestamp(NOW / 1000, UTC)
    days = calendar.monthrange(moment.year, moment.month)[1] - moment.day
    last = int(moment.replace(hour=23, minute=59, second=59).timestamp() * 1000) + days * DAY
    with pytest.raises(InsufficientCreditsError):
        write(credits.charge(capped, 1, reason("b"), last))

    assert write(credits.charge(capped, 2000, reason("c"), last + 1000)) == 6000


def test_a_cap_outlives_a_clock_that_was_ahead(write: Write, capped: Payer) -> None:
    write(credits.charge(capped, 2000, reason("a"), NOW + 365 * DAY))

    assert write(credits.charge(capped, 2000, reason("b"), NOW)) == 6000
    with pytest.raises(InsufficientCreditsError):
        write(credits.charge(capped, 1, reason("c"), NOW))


def test_what_last_month_gives_back_is_not_spent_twice_in_this(write: Write, capped: Payer) -> None:
    month = 31 * DAY
    spent = ids.floor("gen", NOW)
    write(credits.charge(capped, 2000, reason(spent, "generation"), NOW))
    write(credits.charge(capped, 1500, reason("b"), NOW + month))
    write(credits.refund(charged(spent, capped), "the engine failed", NOW + month))

    with pytest.raises(InsufficientCreditsError):
        write(credits.charge(capped, 501, reason("c"), NOW + month))
    assert write(credits.charge(capped, 500, reason("d"), NOW + month)) == 8000


def test_a_refund_names_the_key_that_paid(write: Write, capped: Payer) -> None:
    spent = ids.floor("gen", NOW)
    write(credits.charge(capped, 2000, reason(spent, "generation"), NOW))
    write(credits.refund(charged(spent, capped), "the engine failed", NOW))
    refund, charge = write(credits.list_entries(capped.account_id, most=2, before=None))

    assert (refund.kind, refund.key_prefix) == ("refund", charge.key_prefix)
    assert charge.key_prefix == capped.key_prefix


def charged(generation: str, payer: Payer) -> Any:
    """Return a generation that two credits were charged for, as far as a refund looks at it."""
    row: Any = type("Row", (), {})()
    row.id, row.model_id, row.account_id = generation, "flat", payer.account_id
    row.key_id, row.millicredits, row.tags = payer.key_id, 2000, None
    return row


def test_what_is_refunded_can_be_spent_again(write: Write, capped: Payer) -> None:
    spent = ids.floor("gen", NOW)
    write(credits.charge(capped, 2000, reason(spent, "generation"), NOW))
    write(credits.refund(charged(spent, capped), "the engine failed", NOW))

    assert write(credits.charge(capped, 2000, reason("b"), NOW)) == 8000


def test_the_figures_of_an_account_are_its_own(write: Write, payer: Payer) -> None:
    other = Payer(write(accounts.create("Bob", "bob@example.org", 10_000, NOW)).id)
    write(credits.charge(payer, 1000, reason("a"), NOW))
    write(credits.charge(other, 3000, reason("b"), NOW))
    later = latest() + 31 * DAY

    for account in (payer, other):
        assert write(credits.balance(account.account_id, later))["charged30d"] == 0


def test_the_figures_look_back_thirty_days(write: Write, payer: Payer) -> None:
    now = latest()
    write(credits.charge(payer, 1000, reason("a"), now))
    today = write(credits.balance(payer.account_id, now))
    later = write(credits.balance(payer.account_id, now + 31 * DAY))

    assert today == {"balance": 9000, "reserved": 0, "charged30d": 1000, "refunded30d": 0}
    assert later == {**today, "charged30d": 0}


def test_the_figures_hold_what_was_entered_in_another_order(write: Write, payer: Payer) -> None:
    now = latest()
    for number in range(3):
        write(credits.charge(payer, 1000, reason(str(number)), now))
    earlier = "SELECT substr(id, 1, 29) FROM ledger WHERE charged_after = 1000"
    # Of two services that charge at the same moment, the later one may have the earlier id.
    write(sql(f"UPDATE ledger SET id = ({earlier}) WHERE charged_after = 3000"))

    figures = write(credits.balance(payer.account_id, now + 31 * DAY))
    assert (figures["balance"], figures["charged30d"]) == (7000, 0)


def test_the_figures_are_the_sums_of_thirty_days(write: Write, payer: Payer) -> None:
    days = [0, 1, 10, 29, 30, 31, 50, 60]
    first = latest()
    for day in days:
        now = first + day * DAY
        spent = ids.floor("gen", now)
        write(credits.charge(payer, 100 + day, reason(spent, "generation"), now))
        row = charged(spent, payer)
        row.millicredits = 10 + day
        write(credits.refund(row, "the engine failed", now + 1))

    for today in range(95):
        now = first + today * DAY + DAY // 2
        recent = [day for day in days if now - 30 * DAY < first + day * DAY]
        figures = write(credits.balance(payer.account_id, now))
        assert figures["charged30d"] == sum(100 + day for day in recent), today
        assert figures["refunded30d"] == sum(10 + day for day in recent), today
