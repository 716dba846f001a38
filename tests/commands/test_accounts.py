import pytest

from tests.commands.conftest import Kit


def test_an_account_is_made_as_operation_1_has_it(kit: Kit) -> None:
    done = kit("accounts", "create", "--name", "Ada", "--email", "ada@example.org", "--json")

    assert done.code == 0
    assert set(done.json) == {"id", "name", "email", "createdAt", "credits"}
    assert done.json["id"].startswith("acc_")
    assert done.json["credits"] == 0


def test_accounts_are_listed(kit: Kit, account: str) -> None:
    listed = kit("accounts", "list", "--json").json

    assert [(one["id"], one["name"], one["credits"]) for one in listed] == [(account, "Ada", 5)]
    assert account in kit("accounts", "list").out


def test_a_name_of_several_lines_stands_on_one(kit: Kit) -> None:
    kit("accounts", "create", "--name", "Ada\nBob", "--email", "ada@example.org")

    assert "  Ada Bob  ada@example.org  " in kit("accounts", "list").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--name", " ", "--email", "a@b"), "name: must have 1 to 200 characters"),
        (("--name", "x" * 201, "--email", "a@b"), "name: must have 1 to 200 characters"),
        (("--name", "A", "--email", "nobody"), "email: 'nobody' is not an e-mail address"),
        (("--name", "A", "--email", "a b@c"), "email: 'a b@c' is not an e-mail address"),
        (("--name", "A", "--email", "a@b", "--credits", "lots"), "--credits must be a number"),
        (("--name", "A", "--email", "a@b", "--credits", "-1"), "credits: must not be negative"),
        (("--name", "A", "--email", "a@b", "--credits", "0.0001"), "up to 3 decimals"),
        (("--name", "A", "--email", "a@b", "--credits", "1e20"), "below a trillion"),
        (("--name", "A"), "Missing option '--email'"),
    ],
)
def test_a_bad_account_is_refused_with_a_sentence(
    kit: Kit, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("accounts", "create", *arguments)

    assert done.code == 2
    assert sentence in done.err
    listed = kit("accounts", "list", "--json")
    assert listed.code == 2 or listed.json == []  # the folder may not even have been made
