"""Accounts: created with their first credits."""

import pytest

from kit.errors import NotFoundError
from kit.service.domain import accounts, credits
from tests.service.domain.conftest import NOW, Write


def test_a_new_account_starts_with_a_grant(write: Write) -> None:
    row = write(accounts.create(" Ada ", "ada@example.org", 5000, NOW))
    [entry] = write(credits.list_entries(row.id, most=10, before=None))

    assert (row.name, row.balance, row.created_at) == ("Ada", 5000, NOW)
    assert (entry.kind, entry.millicredits) == ("grant", 5000)


def test_an_account_without_credits_has_an_empty_ledger(write: Write) -> None:
    row = write(accounts.create("Ada", "ada@example.org", 0, NOW))

    assert write(credits.list_entries(row.id, most=10, before=None)) == []
    assert [one.id for one in write(accounts.list_accounts())] == [row.id]


def test_an_unknown_account_is_not_found(write: Write) -> None:
    with pytest.raises(NotFoundError, match="acc_0"):
        write(accounts.get("acc_0"))
