import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from tests.commands.conftest import Kit


def test_the_service_answers_and_stops_on_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kit", "serve", "--port", "0", "--data", str(tmp_path / "d")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        url = process.stdout.readline().split()[3]
        with urlopen(f"{url}/openapi.json", timeout=30) as answer:
            assert json.load(answer)["info"]["title"] == "Creative Studio"
    finally:
        process.send_signal(signal.SIGINT)
        # Not `communicate`: it loses what came along with the first line.
        with process:
            rest = process.stdout.read() if process.stdout else ""

    assert "kit accounts create" in rest
    assert process.returncode == 0
    assert not (tmp_path / "d" / "service.json").exists()


def test_a_port_that_is_taken_is_said(kit: Kit) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = kit("serve", "--port", taken.getsockname()[1])

    assert done.code == 2
    assert "give another --port" in done.err


def test_a_database_that_is_unknown_is_said(kit: Kit) -> None:
    done = kit("serve", "--database", "oracle://x")

    assert done.code == 2
    assert "'oracle'" in done.err


def test_help_names_every_command(kit: Kit) -> None:
    listed = kit("--help").out

    for command in ("lab", "serve", "accounts", "credits", "keys", "models", "generate", "doctor"):
        assert command in listed
        assert kit(command, "--help").code == 0


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kit", "nothing"], capture_output=True, text=True, env=os.environ
    )

    assert done.returncode == 2
    assert "No such command 'nothing'" in done.stderr
