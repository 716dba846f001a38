"""What one account may keep and begin, over a socket."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from kit.service.domain import uploads
from kit.service.machine import clock
from tests.conftest import Service, both_databases
from tests.uploading import create_ticket, png, put_file
from tests.waiting import until


@contextmanager
def sending(told: dict[str, Any], begin: bytes) -> Iterator[socket.socket]:
    """Give a connection on which the first bytes of a file are under way."""
    url = httpx.URL(told["uploadUrl"])
    head = [f"PUT {url.raw_path.decode()} HTTP/1.1", f"Host: {url.host}", "Connection: close"]
    head += [f"{name}: {value}" for name, value in told["requiredHeaders"].items()]
    with socket.create_connection((url.host, url.port or 80)) as line:
        line.sendall("\r\n".join([*head, "", ""]).encode() + begin)
        yield line


def test_a_ticket_takes_one_file_at_a_time(http: httpx.Client, service: Service) -> None:
    told = create_ticket(http, png())
    with sending(told, png()[:-20]) as line:
        until(lambda: list(service.settings.scratch.glob("*.part")))
        second = put_file(told, png())
        line.sendall(png()[-20:])
        first = line.makefile("rb").read()

    assert (second.status_code, second.json()["error"]["code"]) == (409, "conflict")
    assert "one PUT at a time" in second.json()["error"]["message"]
    assert first.startswith(b"HTTP/1.1 200")


@both_databases
def test_a_file_that_comes_when_its_ticket_is_gone_is_not_kept(
    http: httpx.Client, service: Service
) -> None:
    told = create_ticket(http, png())
    with sending(told, png()[:-20]) as line:
        until(lambda: list(service.settings.scratch.glob("*.part")))
        assert service.write(uploads.remove_unused(clock() + uploads.UNUSED_MS + 1000)) == 1
        line.sendall(png()[-20:])
        answer = line.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 404")
    assert not (service.settings.objects / "uploads" / told["uploadId"]).exists()


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_a_ticket_whose_sender_broke_off_takes_the_next_file(
    http: httpx.Client, service: Service, cut: int
) -> None:
    told = create_ticket(http, png())
    with sending(told, png()[: len(png()) - cut - 1]):
        until(lambda: list(service.settings.scratch.glob("*.part")))

    until(lambda: not list(service.settings.scratch.glob("*.part")))
    assert not (service.settings.objects / "uploads" / told["uploadId"]).exists()
    answer = until(lambda: put_file(told, png()), lambda it: it.status_code != 409)
    assert answer.status_code == 200
