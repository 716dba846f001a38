"""``kit audit``: every administrative act is recorded, without secrets."""

import getpass
from pathlib import Path

import kit as library
from tests.commands.conftest import Kit

ME = f"cli:{getpass.getuser()}"


def read_acts(kit: Kit, *options: object) -> list[tuple[str, str, str]]:
    rows = kit("audit", "--json", *options).json
    return [(row["actor"], row["act"], row["subject"]) for row in reversed(rows)]


def test_every_command_is_recorded_with_actor_act_and_subject(
    kit: Kit, account: str, tmp_path: Path
) -> None:
    options = f"--account {account} --name laptop --cap 2.5 --expires 2100-01-01 --json"
    key = kit("keys", "create", *options.split()).json
    kit("credits", "grant", "--account", account, "--amount", "0.005", "--note", "thanks")
    kit("keys", "revoke", key["id"])
    kit("keys", "revoke", key["id"], "--sign-out")
    kit("backup", tmp_path / "copy")

    assert read_acts(kit) == [
        (ME, "account.created", account),
        (ME, "credits.granted", account),
        (ME, "key.created", key["id"]),
        (ME, "credits.granted", account),
        (ME, "key.revoked", key["id"]),
        (ME, "account.signed_out", account),
        (ME, "backup.made", "copy"),
    ]
    rows = {row["act"]: row for row in kit("audit", "--json").json}
    details = rows["key.created"]["details"]
    assert (details["cap"], details["scopes"], details["account"]) == ("2.5", "read", account)
    assert details["expires"] == key["expiresAt"] == "2100-01-01T00:00:00.000Z"
    assert rows["credits.granted"]["details"] == {"credits": "5"}
    assert key["key"] not in kit("audit", "--json").out


def test_a_restored_folder_keeps_its_audit_and_records_the_restore(
    kit: Kit, account: str, tmp_path: Path
) -> None:
    kit("backup", tmp_path / "copy")
    kit("restore", tmp_path / "copy", "--data", tmp_path / "other")

    there = read_acts(kit, "--data", tmp_path / "other")
    assert [act for _, act, _ in there] == ["account.created", "credits.granted", "backup.restored"]


def test_a_refused_act_is_not_recorded(kit: Kit, account: str) -> None:
    kit("keys", "create", "--account", "acc_nobody", "--name", "x")
    kit("credits", "grant", "--account", "acc_nobody", "--amount", 1)
    kit("keys", "revoke", "key_nobody")

    assert len(read_acts(kit)) == 2


def test_the_newest_acts_are_printed_first(kit: Kit, account: str) -> None:
    kit("credits", "grant", "--account", account, "--amount", 1, "--note", "thanks")

    head, line = kit("audit", "--limit", 1).out.splitlines()
    assert head.split() == ["WHEN", "WHO", "WHAT", "SUBJECT", "DETAILS"]
    assert line.endswith(f"{ME}  credits.granted  {account}  credits 1, note thanks")


def test_the_embedded_service_records_its_demo_account_and_deletions(kit: Kit) -> None:
    with library.connect() as studio:
        generation = studio.generate("flat", "a lake")
        generation.delete_outputs()

    me = f"embedded:{getpass.getuser()}"
    found = read_acts(kit)
    assert [(who, act) for who, act, _ in found[:3]] == [
        (me, "account.created"),
        (me, "credits.granted"),
        (me, "key.created"),
    ]
    who, act, subject = found[3]
    assert who.startswith("key:cs_test_")
    assert (act, subject) == ("outputs.deleted", generation.id)
