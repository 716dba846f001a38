import apsw
import pytest

from kit.commands.database import transact
from kit.service import settings as service_settings
from tests.commands.conftest import Kit
from tests.conftest import sql


def test_a_grant_is_added_to_the_millicredit(kit: Kit, account: str) -> None:
    done = kit("credits", "grant", "--account", account, "--amount", "0.005", "--json")

    assert done.json == {"accountId": account, "granted": 0.005, "balance": 5.005}
    assert kit("ledger", "verify").code == 0
    assert kit("ledger", "verify", "--json").json == []


@pytest.mark.parametrize("amount", ["0", "-3", "nan", "1e-9", "much"])
def test_a_grant_that_is_none_is_refused(kit: Kit, account: str, amount: str) -> None:
    done = kit("credits", "grant", "--account", account, f"--amount={amount}")

    assert done.code == 2
    assert "--amount must be" in done.err
    assert kit("accounts", "list", "--json").json[0]["credits"] == 5


@pytest.mark.parametrize(
    "words", [("credits", "grant", "--amount", "1"), ("keys", "list"), ("webhooks", "list")]
)
def test_an_account_that_there_is_not_is_no_empty_answer(
    kit: Kit, account: str, words: tuple[str, ...]
) -> None:
    done = kit(*words, "--account", "acc_nobody")

    assert (done.code, done.err) == (1, "kit: there is no account 'acc_nobody'\n")


def test_the_books_can_be_verified_while_somebody_writes(kit: Kit, account: str) -> None:
    connection = apsw.Connection(str(service_settings.load().database_path))
    connection.execute("BEGIN IMMEDIATE")

    try:
        assert kit("ledger", "verify").code == 0
    finally:
        connection.close()


def test_books_that_are_wrong_are_said_and_are_a_failure(kit: Kit, account: str) -> None:
    settings = service_settings.load()
    transact(settings, sql("UPDATE accounts SET balance = balance + 5 WHERE id = :id", id=account))

    done, told = kit("ledger", "verify"), kit("ledger", "verify", "--json")
    assert (done.code, done.out, told.code) == (1, "", 1)
    assert f"{account}: balance 5.005, ledger 5\n" in done.err
    assert {
        "accountId": account,
        "subject": account,
        "problem": "balance 5.005, ledger 5",
    } in told.json
