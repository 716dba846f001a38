import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.commands.conftest import Kit


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a word")
def test_the_service_responds_and_stops_on_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kit", "serve", "--port", "0", "--data", str(tmp_path / "d")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        url = process.stdout.readline().split()[3]
        with urlopen(f"{url}/openapi.json", timeout=30) as answer:
            assert json.load(answer)["info"]["title"] == "Creative Studio"
    finally:
        process.send_signal(signal.SIGINT)
        # Not `communicate`: it loses text that was read with the first line.
        with process:
            rest = process.stdout.read() if process.stdout else ""

    assert "kit accounts create" in rest
    assert process.returncode == 0
    assert not (tmp_path / "d" / "service.json").exists()


def test_serve_reports_a_port_that_is_in_use(kit: Kit) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = kit("serve", "--port", taken.getsockname()[1])

    assert done.code == 2
    assert "give another --port" in done.err


def test_serve_reports_an_unreachable_bucket(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    monkeypatch.setenv("KIT_STORAGE_URL", "s3://media?endpoint=http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AK")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    done = kit("serve", "--port", 0)

    assert done.code == 2
    assert "kit: the storage s3://media cannot be written" in done.err
    assert "Traceback" not in done.err


def test_serve_reports_a_storage_and_a_database_that_cannot_be_used(
    kit: Kit, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    folder = kit("serve", "--port", 0, "--storage", f"file://{tmp_path}/file/below")
    database = kit("serve", "--database", "oracle://x")

    assert (folder.code, database.code) == (1, 2)
    assert folder.err.splitlines()[-1].startswith(f"kit: {tmp_path / 'file'}")
    assert "'oracle'" in database.err


def test_settings_are_printed_as_variables_without_secrets(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_WRITER_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KIT_WRITER_MODEL", "words")
    monkeypatch.setenv("KIT_WRITER_KEY", "sk-secret")
    monkeypatch.setenv("KIT_KEEP_OUTPUTS_DAYS", "30")

    printed = kit("serve", "--print-config", "--workers", "3").out

    assert "KIT_WORKERS=3\nKIT_REQUESTS_PER_MINUTE=600\n" in printed
    assert "KIT_KEEP_OUTPUTS_DAYS=30.0\n" in printed
    assert "KIT_WRITER_KEY=(set)\n" in printed
    assert "sk-secret" not in printed


def test_mistyped_variables_are_reported(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_STORAGE_ULR", "s3://media")
    monkeypatch.setenv("KIT_BASE_URL", "https://studio.example.org")  # the client's

    done = kit("serve", "--print-config")

    assert done.err == "KIT_STORAGE_ULR is not a setting; did you mean KIT_STORAGE_URL?\n"
    assert "KIT_STORAGE_URL=\n" in done.out


def test_python_m_kit_runs_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kit", "nothing"], capture_output=True, text=True, env=os.environ
    )

    assert done.returncode == 2
    assert "No such command 'nothing'" in done.stderr
