import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from kit.commands import COMMANDS, GROUPS, run
from kit.version import __version__
from tests.commands.conftest import Kit


def test_the_help_names_every_command(kit: Kit) -> None:
    listed = [line.split()[0] for line in kit("--help").out.splitlines() if line.startswith("  ")]

    assert [name for name in listed if name in (*COMMANDS, *GROUPS)] == [*COMMANDS, *GROUPS]


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_every_command_has_its_own_help(kit: Kit, name: str) -> None:
    done = kit(name, "-h")

    assert done.code == 0
    assert f" {name} " in done.out.splitlines()[1] or f" {name} " in done.out.splitlines()[0]


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_the_main_help_describes_a_command_as_its_own_help_does(kit: Kit, name: str) -> None:
    sentence = {**COMMANDS, **GROUPS}[name].removesuffix(".")

    assert sentence in " ".join(kit(name, "--help").out.split())


def test_the_version_is_printed(kit: Kit) -> None:
    assert kit("--version").out == f"kit {__version__}\n"


def test_a_closed_pipe_causes_no_error_message() -> None:
    command = [sys.executable, "-m", "kit", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()

        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    "command", ["ledger verify", "migrate", "keys revoke k", "webhooks delete w --account a"]
)
def test_a_mistyped_data_folder_is_not_created(kit: Kit, tmp_path: Path, command: str) -> None:
    done = kit(*command.split(), "--data", tmp_path / "dota")

    assert done.code == 2
    assert f"there is no database at {tmp_path / 'dota' / 'kit.db'}" in done.err
    assert not (tmp_path / "dota").exists()


def test_only_the_requested_command_is_imported() -> None:
    line = (
        "import sys; from kit.commands import build_parser; build_parser(['profiles', '--json']);"
        "print(*sorted(n for n in sys.modules if n.startswith('kit.commands.')))"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)

    assert "kit.commands.profiles" in done.stdout.split()
    assert not {"kit.commands.lab", "kit.commands.serve"} & set(done.stdout.split())


@pytest.mark.parametrize("encoding", ["cp1252", "cp1252:surrogateescape"])  # Linux, Windows
def test_an_output_without_unicode_escapes_characters(kit: Kit, encoding: str) -> None:
    kit("accounts", "create", "--name", "Zoë Зима 🎨", "--email", "zoe@example.org")
    line = [sys.executable, "-m", "kit", "accounts", "list"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}

    def out(*more: str) -> str:
        done = subprocess.run([*line, *more], capture_output=True, check=True, env=environment)
        return done.stdout.decode("cp1252")

    assert r"Zoë \u0417\u0438\u043c\u0430 \U0001f3a8" in out()
    assert json.loads(out("--json"))[0]["name"] == "Zoë Зима 🎨"


def test_bytes_of_another_encoding_are_refused(kit: Kit) -> None:
    done = kit("accounts", "create", "--name", "\udce4", "--email", "ada@example.org")

    assert done.code == 2
    assert done.err == "kit: an argument must be text in UTF-8, not '\\udce4'\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX closes streams")
def test_a_command_works_with_standard_output_closed(kit: Kit, account: str) -> None:
    line = f'exec "$0" -m kit keys create --account {account} --name shut --json >&-'
    subprocess.run(["/bin/sh", "-c", line, sys.executable], check=True)

    assert "shut" in kit("keys", "list").out


def test_an_interrupt_of_the_start_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "kit"], capture_output=True, env=environment)

    assert (done.returncode, done.stderr) == (130, b"")


def test_the_note_of_an_interrupt_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    def command() -> None:
        stop = KeyboardInterrupt()
        stop.add_note("the generation continues")
        raise stop

    with pytest.raises(SystemExit) as caught:
        run(app, [])

    assert (caught.value.code, capsys.readouterr().err) == (130, "kit: the generation continues\n")
