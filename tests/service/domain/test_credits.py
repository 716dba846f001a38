"""Credits: charges, caps, refunds and figures of an account, as the ledger has them."""

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


def next_entry_time() -> int:
    """Return the time of the next entry: ids only grow, even if an earlier clock was ahead."""
    return max(clock(), moment_of(ids.new("led", 0)))


def make_reason(subject: str, kind: str = "title") -> Reason:
    return Reason(kind=kind, subject=subject)


def test_a_charge_is_entered_in_the_ledger(write: Write, payer: Payer) -> None:
    left = write(credits.charge(payer, 1250, make_reason("a"), NOW))
    entry = write(credits.list_entries(payer.account_id, most=1, before=None))[0]

    assert left == 8750
    assert (entry.millicredits, entry.balance_after, entry.kind) == (-1250, 8750, "title")


def test_the_whole_balance_can_be_charged_but_not_more(write: Write, payer: Payer) -> None:
    assert write(credits.charge(payer, 10_000, make_reason("a"), NOW)) == 0
    with pytest.raises(InsufficientCreditsError, match=r"0\.001 credits required, 0 available"):
        write(credits.charge(payer, 1, make_reason("b"), NOW))

    entries = write(credits.list_entries(payer.account_id, most=10, before=None))
    assert [entry.balance_after for entry in entries] == [0, 10_000]


def test_a_price_too_large_for_the_database_is_refused_for_lack_of_credits(
    write: Write, payer: Payer
) -> None:
    with pytest.raises(InsufficientCreditsError, match="credits required, 10 available"):
        write(credits.charge(payer, 10**20, make_reason("a"), NOW))

    assert write(credits.verify()) == []


def test_one_subject_is_charged_once(write: Write, payer: Payer) -> None:
    write(credits.charge(payer, 1000, make_reason("a"), NOW))
    with pytest.raises(DuplicateError):
        write(credits.charge(payer, 1000, make_reason("a"), NOW))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 9000


def test_a_grant_to_an_unknown_account_fails(write: Write) -> None:
    with pytest.raises(NotFoundError, match="acc_0"):
        write(credits.grant("acc_0", 1000, NOW))


def test_a_check_of_the_balance_charges_nothing(write: Write, payer: Payer) -> None:
    write(credits.check(payer, 10_000, NOW))
    with pytest.raises(InsufficientCreditsError):
        write(credits.check(payer, 10_001, NOW))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 10_000


@pytest.fixture
def capped(write: Write, payer: Payer) -> Payer:
    """The same account through a key that may spend two credits a month."""
    request = keys.KeyRequest(account_id=payer.account_id, name="capped", cap=2000)
    key = write(keys.create(request, b"s" * 32, NOW))
    return Payer(payer.account_id, key.row.id, key.row.prefix, key.row.cap)


def test_a_cap_limits_only_its_own_key(write: Write, payer: Payer, capped: Payer) -> None:
    write(credits.charge(capped, 1500, make_reason("a"), NOW))
    with pytest.raises(InsufficientCreditsError, match="this month for the key") as caught:
        write(credits.charge(capped, 501, make_reason("b"), NOW))
    write(credits.charge(payer, 5000, make_reason("c"), NOW))

    assert caught.value.details == {"required": 0.501, "available": 0.5}
    assert write(credits.spendable(capped, NOW)) == 500
    assert write(credits.charge(capped, 500, make_reason("d"), NOW)) == 3000


def test_a_cap_starts_again_with_each_month(write: Write, capped: Payer) -> None:
    write(credits.charge(capped, 2000, make_reason("a"), NOW))
    moment = datetime.fromtimestamp(NOW / 1000, UTC)
    days = calendar.monthrange(moment.year, moment.month)[1] - moment.day
    last = int(moment.replace(hour=23, minute=59, second=59).timestamp() * 1000) + days * DAY
    with pytest.raises(InsufficientCreditsError):
        write(credits.charge(capped, 1, make_reason("b"), last))

    assert write(credits.charge(capped, 2000, make_reason("c"), last + 1000)) == 6000


def test_a_cap_still_works_after_a_clock_that_was_ahead(write: Write, capped: Payer) -> None:
    write(credits.charge(capped, 2000, make_reason("a"), NOW + 365 * DAY))

    assert write(credits.charge(capped, 2000, make_reason("b"), NOW)) == 6000
    with pytest.raises(InsufficientCreditsError):
        write(credits.charge(capped, 1, make_reason("c"), NOW))


def test_a_refund_from_last_month_does_not_raise_the_cap(write: Write, capped: Payer) -> None:
    month = 31 * DAY
    spent = ids.floor("gen", NOW)
    write(credits.charge(capped, 2000, make_reason(spent, "generation"), NOW))
    write(credits.charge(capped, 1500, make_reason("b"), NOW + month))
    write(credits.refund(make_charged_row(spent, capped), "the engine failed", NOW + month))

    with pytest.raises(InsufficientCreditsError):
        write(credits.charge(capped, 501, make_reason("c"), NOW + month))
    assert write(credits.charge(capped, 500, make_reason("d"), NOW + month)) == 8000


def test_a_refund_names_the_key_that_paid(write: Write, capped: Payer) -> None:
    spent = ids.floor("gen", NOW)
    write(credits.charge(capped, 2000, make_reason(spent, "generation"), NOW))
    write(credits.refund(make_charged_row(spent, capped), "the engine failed", NOW))
    refund, charge = write(credits.list_entries(capped.account_id, most=2, before=None))

    assert (refund.kind, refund.key_prefix) == ("refund", charge.key_prefix)
    assert charge.key_prefix == capped.key_prefix


def make_charged_row(generation: str, payer: Payer) -> Any:
    """Return a generation that two credits were charged for, as far as a refund reads it."""
    row: Any = type("Row", (), {})()
    row.id, row.model_id, row.account_id = generation, "flat", payer.account_id
    row.key_id, row.millicredits, row.tags = payer.key_id, 2000, None
    return row


def test_refunded_credits_can_be_spent_again_under_a_cap(write: Write, capped: Payer) -> None:
    spent = ids.floor("gen", NOW)
    write(credits.charge(capped, 2000, make_reason(spent, "generation"), NOW))
    write(credits.refund(make_charged_row(spent, capped), "the engine failed", NOW))

    assert write(credits.charge(capped, 2000, make_reason("b"), NOW)) == 8000


def test_the_figures_do_not_include_other_accounts(write: Write, payer: Payer) -> None:
    other = Payer(write(accounts.create("Bob", "bob@example.org", 10_000, NOW)).id)
    write(credits.charge(payer, 1000, make_reason("a"), NOW))
    write(credits.charge(other, 3000, make_reason("b"), NOW))
    later = next_entry_time() + 31 * DAY

    for account in (payer, other):
        assert write(credits.balance(account.account_id, later))["charged30d"] == 0


def test_the_figures_cover_thirty_days(write: Write, payer: Payer) -> None:
    now = next_entry_time()
    write(credits.charge(payer, 1000, make_reason("a"), now))
    today = write(credits.balance(payer.account_id, now))
    later = write(credits.balance(payer.account_id, now + 31 * DAY))

    assert today == {"balance": 9000, "reserved": 0, "charged30d": 1000, "refunded30d": 0}
    assert later == {**today, "charged30d": 0}


def test_the_figures_are_right_if_entry_ids_are_not_in_order(write: Write, payer: Payer) -> None:
    now = next_entry_time()
    for number in range(3):
        write(credits.charge(payer, 1000, make_reason(str(number)), now))
    earlier = "SELECT substr(id, 1, 29) FROM ledger WHERE charged_after = 1000"
    # Of two services that charge at the same moment, the later one may have the earlier id.
    write(sql(f"UPDATE ledger SET id = ({earlier}) WHERE charged_after = 3000"))

    figures = write(credits.balance(payer.account_id, now + 31 * DAY))
    assert (figures["balance"], figures["charged30d"]) == (7000, 0)


def test_the_figures_are_the_sums_of_thirty_days(write: Write, payer: Payer) -> None:
    days = [0, 1, 10, 29, 30, 31, 50, 60]
    first = next_entry_time()
    for day in days:
        now = first + day * DAY
        spent = ids.floor("gen", now)
        write(credits.charge(payer, 100 + day, make_reason(spent, "generation"), now))
        row = make_charged_row(spent, payer)
        row.millicredits = 10 + day
        write(credits.refund(row, "the engine failed", now + 1))

    for today in range(95):
        now = first + today * DAY + DAY // 2
        recent = [day for day in days if now - 30 * DAY < first + day * DAY]
        figures = write(credits.balance(payer.account_id, now))
        assert figures["charged30d"] == sum(100 + day for day in recent), today
        assert figures["refunded30d"] == sum(10 + day for day in recent), today
