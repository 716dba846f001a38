"""A service is killed at work: nothing that it was doing holds anybody up, and no file is left."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from kit.service.settings import Settings
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import balance, until

TITLE = "/v1/scripts/title"
ORDER = {"topic": "SPACE"}
LABEL = {"Idempotency-Key": "one"}


@dataclass(frozen=True)
class Other:
    """A service on a data folder, in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


@contextmanager
def other(config: Settings, **environment: str) -> Iterator[Other]:
    """Start a service in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "kit", "serve", "--port", str(port), "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--data", str(config.data)],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None
        try:
            return httpx.get(f"{url}/healthz", verify=False).status_code == 200
        except httpx.TransportError:
            return False

    try:
        until(answers, seconds=60)
        yield Other(url, process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def silent() -> Iterator[dict[str, str]]:
    """Settings with a language model that is asked and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        yield {"KIT_WRITER_URL": url, "KIT_WRITER_MODEL": "silent"}


@pytest.fixture
def waiting(
    service: Service, http: httpx.Client, key: str, silent: dict[str, str]
) -> Iterator[Other]:
    """Another service on the folder, where a title waits to be written."""
    with other(service.settings, **silent) as found:
        headers = {"Authorization": f"Bearer {key}", **LABEL}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{found.url}{TITLE}", json=ORDER, headers=headers, timeout=1, verify=False)
        assert http.post(TITLE, json=ORDER, headers=LABEL).status_code == 409
        yield found


@pytest.mark.parametrize("end", [Other.kill, Other.interrupt])
def test_a_title_whose_service_ends_is_written_by_the_next(
    waiting: Other, http: httpx.Client, end: Callable[[Other], None]
) -> None:
    end(waiting)

    def asked() -> httpx.Response:
        return http.post(TITLE, json=ORDER, headers=LABEL)

    answer = until(asked, lambda it: it.status_code != 409, seconds=5)
    assert answer.status_code == 200
    assert "Idempotency-Replayed" not in answer.headers
    assert asked().headers["Idempotency-Replayed"] == "true"
    assert balance(http) == 99.95


def test_a_title_whose_service_lives_is_waited_for(waiting: Other, http: httpx.Client) -> None:
    answers = [http.post(TITLE, json=ORDER, headers=LABEL).status_code for _ in range(30)]

    assert set(answers) == {409}


def test_a_service_that_starts_after_the_kill_has_released_it_before_it_answers(
    start_service: Callable[..., Service], silent: dict[str, str]
) -> None:
    first = start_service(workers=0)
    key = first.key(first.account(), *ALL_SCOPES)
    first.stop()
    headers = {"Authorization": f"Bearer {key}", **LABEL}
    with other(first.settings, **silent) as found, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{found.url}{TITLE}", json=ORDER, headers=headers, timeout=1, verify=False)

    with start_service(workers=0).client(key) as http:
        assert http.post(TITLE, json=ORDER, headers=LABEL).status_code == 200
