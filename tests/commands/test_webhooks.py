import pytest

from tests.commands.conftest import Kit

URL = "https://studio.example/ends"


def test_a_webhook_is_added_listed_rotated_resent_and_deleted(kit: Kit, account: str) -> None:
    options = ("--account", account)
    private = kit("webhooks", "add", "http://10.0.0.1", *options)
    name, secret = kit("webhooks", "add", URL, *options).out.split()
    other = kit("webhooks", "rotate", name, *options, "--json").json

    assert "url: must be like https://host/path" in private.err
    assert secret.startswith("whsec_")
    assert other["secret"] != secret
    (listed,) = kit("webhooks", "list", *options, "--json").json
    assert (listed["id"], listed["url"], listed["secret"]) == (name, URL, None)
    assert "active" in kit("webhooks", "list", *options).out
    assert kit("webhooks", "resend", name, *options).out == "0 are sent again\n"
    kit("webhooks", "delete", name, *options)
    assert kit("webhooks", "list", *options, "--json").json == []


@pytest.mark.parametrize("command", [("add", URL), ("rotate", "requests"), ("list",)])
def test_an_unknown_account_is_reported(kit: Kit, account: str, command: tuple[str, ...]) -> None:
    done = kit("webhooks", *command, "--account", account[:9])

    assert (done.code, done.err) == (1, f"kit: there is no account {account[:9]!r}\n")
