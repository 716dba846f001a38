import pytest

from tests.commands.conftest import Kit

URL = "https://studio.example/ends"


def test_a_webhook_is_added_listed_rotated_resent_and_deleted(kit: Kit, account: str) -> None:
    whose = ("--account", account)
    name, secret = kit("webhooks", "add", URL, *whose).out.split()
    other = kit("webhooks", "rotate", name, *whose, "--json").json

    assert secret.startswith("whsec_")
    assert other["secret"] != secret
    (listed,) = kit("webhooks", "list", *whose, "--json").json
    assert (listed["id"], listed["url"], listed["secret"]) == (name, URL, None)
    assert "active" in kit("webhooks", "list", *whose).out
    assert kit("webhooks", "resend", name, *whose).out == "0 are sent again\n"
    kit("webhooks", "delete", name, *whose)
    assert kit("webhooks", "list", *whose, "--json").json == []


def test_an_address_that_can_be_no_receiver_is_refused(kit: Kit, account: str) -> None:
    done = kit("webhooks", "add", "http://10.0.0.1", "--account", account)

    assert "url: must be like https://host/path" in done.err


@pytest.mark.parametrize("command", [("add", URL), ("rotate", "requests"), ("list",)])
def test_an_unknown_account_is_said(kit: Kit, account: str, command: tuple[str, ...]) -> None:
    done = kit("webhooks", *command, "--account", account[:9])

    assert (done.code, done.err) == (1, f"kit: there is no account {account[:9]!r}\n")
