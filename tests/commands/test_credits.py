import pytest

from tests.commands.conftest import Kit


def test_a_grant_is_added_to_the_millicredit(kit: Kit, account: str) -> None:
    done = kit("credits", "grant", "--account", account, "--amount", "0.005", "--json")

    assert done.json == {"accountId": account, "granted": 0.005, "balance": 5.005}
    assert kit("ledger", "verify").code == 0


@pytest.mark.parametrize("amount", ["0", "-3", "nan", "1e-9", "much"])
def test_a_grant_that_is_none_is_refused(kit: Kit, account: str, amount: str) -> None:
    done = kit("credits", "grant", "--account", account, f"--amount={amount}")

    assert done.code == 2
    assert "--amount must be" in done.err
    assert kit("accounts", "list", "--json").json[0]["credits"] == 5


def test_an_unknown_account_gets_no_credits(kit: Kit) -> None:
    done = kit("credits", "grant", "--account", "acc_nobody", "--amount", 1)

    assert (done.code, done.err) == (1, "kit: there is no account 'acc_nobody'\n")
