import pytest

from tests.commands.conftest import Kit


def test_a_created_account_is_printed_with_the_fields_of_the_api(kit: Kit) -> None:
    done = kit("accounts", "create", "--name", "Ada", "--email", "ada@example.org", "--json")

    assert done.code == 0
    assert set(done.json) == {"id", "name", "email", "createdAt", "credits"}
    assert done.json["id"].startswith("acc_")
    assert done.json["credits"] == 0


def test_accounts_are_listed(kit: Kit, account: str) -> None:
    listed = kit("accounts", "list", "--json").json

    assert [(one["id"], one["name"], one["credits"]) for one in listed] == [(account, "Ada", 5)]
    assert account in kit("accounts", "list").out


def test_a_name_of_several_lines_is_printed_on_one_line(kit: Kit) -> None:
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
        (("--name", "A", "--email", "a@b", "--data", ""), "--data must name a folder"),
        (("--name", "A"), "Missing option '--email'"),
    ],
)
def test_an_invalid_account_is_refused_with_an_error_message(
    kit: Kit, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("accounts", "create", *arguments)

    assert done.code == 2
    assert sentence in done.err
    listed = kit("accounts", "list", "--json")
    assert listed.code == 2 or listed.json == []  # the data folder may not exist
