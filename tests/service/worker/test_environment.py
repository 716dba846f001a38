"""The environment variables and the network access of render and inspection processes."""

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from demo_engines import _PIXEL

from kit.service.worker.environment import set_variables
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import generate, until, wait_for_end

PLUGINS = Path(__file__).parent / "plugins"
SECRETS = {
    "OPENAI_API_KEY": "sk-1",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "AWS_PROFILE": "work",
    "HF_TOKEN": "hf",
    "HUGGING_FACE_HUB_TOKEN": "hf",
    "GOOGLE_APPLICATION_CREDENTIALS": "/gcp.json",
    "DATABASE_URL": "postgres://me:pw@host",
    "KIT_API_KEY": "cs",
    "KIT_WRITER_KEY": "w",
    "JUPYTER_TOKEN": "j",
    "NOSY_KEY": "for one model only",
}
USEFUL = {
    "LC_ALL": "C.UTF-8",
    "HF_HOME": "/hf",
    "CUDA_VISIBLE_DEVICES": "0",
    "HTTPS_PROXY" if os.name == "nt" else "https_proxy": "http://proxy:3128",
    "TORCH_HOME": "/torch",
    "TOKENIZERS_PARALLELISM": "false",
    "TMPDIR": "/tmp",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, plugins: None) -> None:
    """Set secrets and useful variables, and let the engines be found."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(PLUGINS), os.environ["PYTHONPATH"])))
    for name, value in (SECRETS | USEFUL).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def http(start_service: Callable[..., Service]) -> Iterator[httpx.Client]:
    """A client of a service with one render process."""
    service = start_service(workers=1)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as caller:
        yield caller


def render_facts(http: httpx.Client, model: str) -> dict[str, Any]:
    """Render with a model that reports its variables, and return its metadata."""
    done = wait_for_end(http, generate(http, modelId=model, parameters={}))
    facts: dict[str, Any] = done["output"]["metadata"]
    return facts


def test_a_job_gets_useful_variables_and_the_secret_that_its_model_names(
    http: httpx.Client,
) -> None:
    first, second, third = (render_facts(http, model) for model in ("nosier", "nosy", "nosier"))

    assert first["process"] == second["process"] == third["process"]
    for seen in (first["seen"], second["seen"], third["seen"]):
        assert {name: seen.get(name) for name in USEFUL} == USEFUL
    assert SECRETS.keys() & first["seen"].keys() == set()
    assert SECRETS.keys() & second["seen"].keys() == {"NOSY_KEY"}
    assert SECRETS.keys() & third["seen"].keys() == set()


def test_an_overwritten_variable_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    with set_variables({"LC_ALL": "other", "NOSY_NEW": "new"}):
        assert (os.environ["LC_ALL"], os.environ["NOSY_NEW"]) == ("other", "new")
    assert os.environ["LC_ALL"] == "C"
    assert "NOSY_NEW" not in os.environ


def children() -> list[Path]:
    """Return the folders of this process's render processes in /proc."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes()
            status = (place / "status").read_text()
        except OSError:  # it has ended
            continue
        if b"kit.service.worker.child" in command and f"PPid:\t{os.getpid()}\n" in status:
            found.append(place)
    return found


def is_inspector(process: Path) -> bool:
    """Return whether a process was started without a network, by its last argument."""
    return (process / "cmdline").read_bytes().split(b"\0")[-2] == b"1"


def is_filtered(process: Path) -> bool:
    """Return whether all threads of a process are under a seccomp filter."""
    threads = [thread.read_text() for thread in process.glob("task/*/status")]
    return bool(threads) and all("Seccomp:\t2\n" in status for status in threads)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_the_inspector_has_no_secret_and_no_network(http: httpx.Client) -> None:
    order = {"modelId": "clay", "fileName": "a.png", "contentType": "image/png"}
    before = {*children()}
    ticket = http.post("/v1/creative-studio/media-uploads", json={**order, "fileSizeBytes": 5})
    assert ticket.status_code == 201, ticket.text
    sent = httpx.put(
        ticket.json()["uploadUrl"],
        content=b"12345",
        headers=ticket.json()["requiredHeaders"],
        verify=False,
    )
    assert sent.status_code == 400  # it was inspected
    # The inspector and a spare one; a renderer may have started, too.
    inspectors = {place for place in {*children()} - before if is_inspector(place)}

    assert inspectors
    for place in inspectors:
        environ = (place / "environ").read_bytes()
        assert not any(f"{name}=".encode() in environ for name in (*SECRETS, "https_proxy"))
    filtered = until(lambda: [one for one in inspectors if is_filtered(one)])
    until(lambda: all(is_filtered(one) or not one.exists() for one in inspectors))
    assert filtered


_TRY = """
import socket, sys, threading
ours, theirs = socket.socketpair()
from kit.service.worker.sandbox import block_network
print(block_network())
def attempt():
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        try:
            socket.socket(family)
            print("made one")
        except PermissionError:
            print("refused")
attempt()
thread = threading.Thread(target=attempt)
thread.start()
thread.join()
ours.send(b"still here")
print(theirs.recv(100).decode())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_a_process_without_network_opens_no_socket_and_keeps_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", _TRY], capture_output=True, text=True, check=True)

    assert done.stdout.split("\n")[:-1] == ["True", *["refused"] * 6, "still here"]


class _ImageEndpoint(BaseHTTPRequestHandler):
    """An image endpoint that records the key of each request."""

    keys: list[str | None]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.keys.append(self.headers["Authorization"])
        picture = base64.b64encode(_PIXEL).decode()
        body = json.dumps({"data": [{"b64_json": picture}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_configured_model_gets_the_key_that_it_names(
    start_service: Callable[..., Service], tmp_path: Path
) -> None:
    handler = type("Handler", (_ImageEndpoint,), {"keys": []})
    entry = '[[images]]\nid = "lab"\nmodel = "m"\nprice = 0.2\nkey_env = "NOSY_KEY"\n'
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as lab:
        threading.Thread(target=lab.serve_forever, args=(0.01,), daemon=True).start()
        file = tmp_path / "engines.toml"
        file.write_text(f'{entry}url = "http://127.0.0.1:{lab.server_port}"\n')
        service = start_service(engines=str(file))
        with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
            done = wait_for_end(http, generate(http, modelId="lab", parameters={}))
        lab.shutdown()

    assert done["error"] is None
    assert handler.keys == [f"Bearer {SECRETS['NOSY_KEY']}"]
