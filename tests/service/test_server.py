"""A running service, and how other processes on this machine find it."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from kit.errors import ConfigError
from kit.service import address, server, settings
from kit.service.settings import ServiceSettings
from tests.conftest import Service
from tests.rights import is_private
from tests.service.test_chaos import children
from tests.waiting import generate, until, wait_for_end


def note_path(data: Path) -> Path:
    return data / "service.json"


def test_a_running_service_is_found_by_its_note(service: Service) -> None:
    data = service.settings.data

    assert address.find(data) == service.url
    assert is_private(note_path(data))
    assert set(json.loads(note_path(data).read_text())) == {"url", "instance", "pid"}


def test_a_service_with_a_secret_elsewhere_is_found_without_its_settings(
    start_service: Callable[..., Service], tmp_path: Path
) -> None:
    (tmp_path / "own").write_bytes(b"s" * 32)
    service = start_service(secret_file=str(tmp_path / "own"))
    data = service.settings.data

    assert not (data / "secret").exists()
    assert address.find(data) == service.url
    (tmp_path / "own").write_bytes(b"x" * 32)
    assert address.find(data) is None


def test_a_stopped_service_removes_its_note(service: Service) -> None:
    service.stop()

    assert address.find(service.settings.data) is None
    assert not note_path(service.settings.data).exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(service.url, verify=False)


def test_a_stopped_service_keeps_the_note_of_a_later_one(
    start_service: Callable[..., Service],
) -> None:
    first, second = start_service(), start_service()
    first.stop()

    assert address.find(second.settings.data) == second.url


def test_a_service_is_found_again_after_a_later_one_has_stopped(
    start_service: Callable[..., Service],
) -> None:
    first, second = start_service(), start_service()
    second.stop()

    assert until(lambda: address.find(first.settings.data)) == first.url


def test_a_service_whose_folder_cannot_be_read_for_a_moment_goes_on(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    exists = Path.exists

    def fail(path: Path) -> bool:
        if path != note_path(service.settings.data):
            return exists(path)
        asked.append(path)
        raise PermissionError(errno.EACCES, "no access", str(path))

    monkeypatch.setattr(Path, "exists", fail)
    until(lambda: len(asked) > 1)
    assert httpx.get(f"{service.url}/healthz", verify=False).status_code == 200


def test_a_note_of_another_instance_is_ignored(service: Service) -> None:
    path = note_path(service.settings.data)
    path.write_text(json.dumps({**json.loads(path.read_text()), "instance": "other"}))

    assert address.find(service.settings.data) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "{}",
        '{"url": "http://127.0.0.1:9"}',
        '{"url": "nonsense", "instance": "a"}',
        '{"url": 7, "instance": "a"}',
    ],
)
def test_a_malformed_note_is_ignored(tmp_path: Path, text: str) -> None:
    note_path(tmp_path).write_text(text)

    assert address.find(tmp_path) is None


@pytest.fixture
def other_program() -> Iterator[Callable[[bytes], str]]:
    """Another program that listens on the port and sends some bytes."""
    listeners = []

    def listen(words: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(words)

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield listen
    for listener in listeners:
        listener.close()


OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"\xff\0\0\0\0\0\0\0\x01\x7f",
        b"SSH-2.0\r\n",
        OK,
        OK + b"<html>",
        OK + b"[1]",
        OK + b'"a"',
        OK + b'{"status": "ok"}',
        OK + b'{"status": "ok", "instance": "a"}',
        OK + b'{"status": "ok", "instance": "a", "proof": ""}',
        b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n",
    ],
)
def test_another_program_on_the_port_is_not_found_as_the_service(
    tmp_path: Path, other_program: Callable[[bytes], str], words: bytes
) -> None:
    settings.load({}, data=tmp_path).make_secret()
    note_path(tmp_path).write_text(json.dumps({"url": other_program(words), "instance": "a"}))

    assert address.find(tmp_path) is None


def test_an_error_about_a_port_in_use_names_the_option(service: Service) -> None:
    port = httpx.URL(service.url).port
    assert port
    with pytest.raises(ConfigError, match="give another --port"):
        server.bind("127.0.0.1", port)


def test_an_error_about_an_address_of_another_machine_names_the_option() -> None:
    with pytest.raises(ConfigError, match="--host is empty"):
        server.bind("", 0)
    with pytest.raises(ConfigError, match="give another --host"):
        server.bind("192.0.2.1", 0)


def test_a_url_contains_the_port() -> None:
    with server.bind("127.0.0.1", 0) as listener:
        assert server.url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_service_with_an_invalid_secret_does_not_start(config: ServiceSettings) -> None:
    config.data.mkdir()
    (config.data / "secret").write_bytes(b"short")
    with pytest.raises(ConfigError):
        server.start(config)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_render_process_waits_for_the_first_job(start_service: Callable[..., Service]) -> None:
    before = {*children(os.getpid())}
    service = start_service(workers=2)
    waiting = {*children(os.getpid())} - before
    http = service.client(service.key(service.account(), "creative:generate"))

    assert len(waiting) == 1
    with http:
        wait_for_end(http, generate(http))
        assert {*children(os.getpid())} - before == waiting


_SLOW_PLUGIN = {
    "slow_engine.py": "import time; time.sleep(60)",
    "slow-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: slow\nVersion: 1\n",
    "slow-1.dist-info/entry_points.txt": "[kit.engines]\nslow = slow_engine:Slow\n",
}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_signal_ends_a_start_that_takes_long(tmp_path: Path) -> None:
    for name, text in _SLOW_PLUGIN.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "kit", "serve", "--port", "0", "--data", str(tmp_path / "data")],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        renders = until(lambda: children(process.pid))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "Traceback" not in err
    until(lambda: not Path(f"/proc/{renders[0]}").exists())


_SERVED = """
import json, sys, urllib.request
from kit.commands.database import transact
from kit.commands.serve import command
from kit.service import server, settings
from kit.service.domain import accounts, keys
from kit.service.machine import clock

config = settings.load({}, data=sys.argv[1], workers=0)
account = transact(config, accounts.create("Ada", "ada@localhost", 1000, clock()), create=True)
request = keys.KeyRequest(account_id=account.id, name="a", scopes=("creative:generate",))
key = transact(config, keys.create(request, config.secret(), clock()))
running = server.start(config)
for path in ("creative-studio/models", "creative-studio/generations", "usage", "account"):
    asked = urllib.request.Request(
        f"{running.url}/v1/{path}", headers={"Authorization": f"Bearer {key.text}"}
    )
    with urllib.request.urlopen(asked) as answer:
        json.load(answer)
running.stop()
unneeded = {"asyncpg", "dask", "distributed", "prometheus_client", "websockets", "numpy", "pandas"}
print(sorted(unneeded & sys.modules.keys()))
"""


def test_a_new_service_imports_no_unneeded_library(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SERVED, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]", done.stderr
