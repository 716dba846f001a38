import apsw
import pytest

from kit.commands.database import transact
from kit.service import settings as service_settings
from tests.commands.conftest import Kit
from tests.conftest import sql


def test_a_grant_is_added_exactly_to_the_millicredit(kit: Kit, account: str) -> None:
    done = kit("credits", "grant", "--account", account, "--amount", "0.005", "--json")

    assert done.json == {"accountId": account, "granted": 0.005, "balance": 5.005}
    assert kit("ledger", "verify").code == 0
    assert kit("ledger", "verify", "--json").json == []


@pytest.mark.parametrize("amount", ["0", "-3", "nan", "1e-9", "much"])
def test_a_grant_of_an_invalid_amount_is_refused(kit: Kit, account: str, amount: str) -> None:
    done = kit("credits", "grant", "--account", account, f"--amount={amount}")

    assert done.code == 2
    assert "--amount must be" in done.err
    assert kit("accounts", "list", "--json").json[0]["credits"] == 5


@pytest.mark.parametrize(
    "words", [("credits", "grant", "--amount", "1"), ("keys", "list"), ("webhooks", "list")]
)
def test_an_unknown_account_is_an_error(kit: Kit, account: str, words: tuple[str, ...]) -> None:
    done = kit(*words, "--account", "acc_nobody")

    assert (done.code, done.err) == (1, "kit: there is no account 'acc_nobody'\n")


def test_the_ledger_can_be_verified_during_a_write_transaction(kit: Kit, account: str) -> None:
    connection = apsw.Connection(str(service_settings.load().database_path))
    connection.execute("BEGIN IMMEDIATE")

    try:
        assert kit("ledger", "verify").code == 0
    finally:
        connection.close()


def test_a_wrong_balance_is_reported_and_fails_the_verification(kit: Kit, account: str) -> None:
    settings = service_settings.load()
    transact(settings, sql("UPDATE accounts SET balance = balance + 5 WHERE id = :id", id=account))

    done, as_json = kit("ledger", "verify"), kit("ledger", "verify", "--json")
    assert (done.code, done.out, as_json.code) == (1, "", 1)
    assert f"{account}: balance 5.005, ledger 5\n" in done.err
    assert {
        "accountId": account,
        "subject": account,
        "problem": "balance 5.005, ledger 5",
    } in as_json.json
