import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import Kit
from tests.waiting import until


def test_a_backup_can_be_restored(kit: Kit, account: str, tmp_path: Path) -> None:
    backup = kit("backup", tmp_path / "copy.tar.gz")
    restored = kit("restore", tmp_path / "copy.tar.gz", "--data", tmp_path / "back")
    listed = kit("accounts", "list", "--data", tmp_path / "back", "--json").json

    assert backup.out == f"{tmp_path / 'copy.tar.gz'}: 0 files, 0 bytes\n"
    assert restored.out == f"{tmp_path / 'back'}: 0 files, 0 bytes; balances and files verified\n"
    assert [(one["id"], one["credits"]) for one in listed] == [(account, 5)]


def test_backup_and_restore_print_json(kit: Kit, account: str, tmp_path: Path) -> None:
    facts = {"files": 0, "size_bytes": 0, "unfinished": 0, "missing": []}

    assert account
    assert kit("backup", tmp_path / "copy", "--json").json == facts
    assert kit("restore", tmp_path / "copy", "--data", tmp_path / "b", "--json").json == facts


def test_invalid_paths_are_refused(kit: Kit, account: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert account
    kit("backup", tmp_path / "copy")
    cases = {
        ("backup", tmp_path / "copy"): "exists already",
        ("backup", tmp_path / "none" / "copy"): "cannot be written",
        ("backup", tmp_path / "copy.zip"): "copy.zip must be a folder or end in .tar.gz or .tgz",
        ("backup", tmp_path / "x", "--data", tmp_path / "nothing"): "there is no database",
        ("restore", tmp_path / "copy", "--data", tmp_path / "full"): "is not empty",
        ("restore", tmp_path / "nothing", "--data", tmp_path / "b"): "there is no backup at",
        ("restore", tmp_path / "full" / "file", "--data", tmp_path / "b"): "must be a folder or",
    }

    for arguments, sentence in cases.items():
        done = kit(*arguments)
        assert (done.code, sentence in done.err) == (2, True), done


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a word")
def test_a_terminated_backup_leaves_no_file(kit: Kit, account: str, tmp_path: Path) -> None:
    (tmp_path / "data" / "notebook").mkdir()
    with (tmp_path / "data" / "notebook" / "large").open("wb") as file:
        file.truncate(10 << 30)
    folder = tmp_path / "backups"
    folder.mkdir()
    command = [sys.executable, "-m", "kit", "backup", str(folder / "a.tar.gz")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        # while the large file is written, not during the preparation
        until(lambda: any(it.stat().st_size > 50_000 for it in folder.glob("*/archive")))
        process.terminate()
        errors = process.communicate()[1]

    assert (process.returncode, errors, [*folder.iterdir()]) == (130, b"", [])


@pytest.mark.parametrize("existing", [True, False])
def test_a_restore_removes_what_a_killed_one_left(
    kit: Kit, account: str, tmp_path: Path, existing: bool
) -> None:
    source, back = tmp_path / "copy", tmp_path / "back" / "data"
    (back if existing else back.parent).mkdir(parents=True)
    kit("backup", source)
    large = source / "notebook" / "large"
    large.parent.mkdir()
    with large.open("wb") as file:
        file.truncate(10 << 30)
    command = [sys.executable, "-m", "kit", "restore", str(source), "--data", str(back)]
    with subprocess.Popen(command) as process:
        until(lambda: [*back.parent.glob("**/notebook/large")])
        process.kill()
    large.unlink()

    assert kit("restore", source, "--data", back).code == 0
    assert [*back.parent.iterdir()] == [back]
    assert {path.name for path in back.iterdir()} >= {"kit.db", "objects", "secret"}
    assert not [*back.glob(".*")]
