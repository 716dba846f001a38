import pytest

from tests.commands.conftest import Kit


def test_a_key_is_printed_once(kit: Kit, account: str) -> None:
    scopes = ("--scope", "scripts:generate", "--scope", "creative:generate")
    expires = ("--expires", "2100-01-02T03:04:05Z")
    created = kit(
        "keys", "create", "--account", account, "--name", "n", *scopes, *expires, "--json"
    )

    assert set(created.json) >= {"id", "key", "prefix", "scopes", "expiresAt"}
    assert created.json["key"].startswith(created.json["prefix"])
    assert created.json["scopes"] == ["read", "scripts:generate", "creative:generate"]
    assert created.json["expiresAt"] == "2100-01-02T03:04:05.000Z"
    assert created.json["key"] not in kit("keys", "list", "--json").out


def test_a_revoked_key_is_listed_as_revoked(kit: Kit, account: str) -> None:
    created = kit("keys", "create", "--account", account, "--name", "n")
    [key] = kit("keys", "list", "--json").json
    kit("keys", "revoke", key["id"])

    assert created.out.startswith("cs_live_")
    assert len(created.out.split()) == 1
    assert "not shown again" in created.err
    assert kit("keys", "list", "--account", account, "--json").json[0]["revokedAt"]
    assert "revoked" in kit("keys", "list").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--scope", "write"), "scope: must be one of read"),
        (("--expires", "tomorrow"), "a time must be in ISO 8601"),
        (("--expires", "2001-01-01"), "expires: must be in the future"),
        (("--cap", "0"), "cap: must be more than 0"),
    ],
)
def test_an_invalid_key_is_refused_with_an_error_message(
    kit: Kit, account: str, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("keys", "create", "--account", account, "--name", "n", *arguments)

    assert done.code == 2
    assert sentence in done.err
    assert kit("keys", "list", "--json").json == []


def test_a_sign_out_is_reported(kit: Kit, account: str) -> None:
    key = kit("keys", "create", "--account", account, "--name", "n", "--json").json

    assert "ended" not in kit("keys", "revoke", key["id"]).out
    assert f"addresses of {account} are ended" in kit("keys", "revoke", key["id"], "--sign-out").out


def test_the_cap_of_a_key_is_listed_with_what_is_spent(kit: Kit, account: str) -> None:
    kit("keys", "create", "--account", account, "--name", "free")
    kit("keys", "create", "--account", account, "--name", "capped", "--cap", "0.5")

    free, capped = kit("keys", "list", "--json").json
    assert "0 of 0.5" in kit("keys", "list").out
    assert (free["cap"], free["spent"]) == (None, None)
    assert (capped["cap"], capped["spent"]) == (0.5, 0)
