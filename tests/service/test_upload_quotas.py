"""Tickets and their uploads, over a socket."""

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
def start_upload(ticket: dict[str, Any], begin: bytes) -> Iterator[socket.socket]:
    """Yield a connection on which the first bytes of a file were sent."""
    url = httpx.URL(ticket["uploadUrl"])
    head = [f"PUT {url.raw_path.decode()} HTTP/1.1", f"Host: {url.host}", "Connection: close"]
    head += [f"{name}: {value}" for name, value in ticket["requiredHeaders"].items()]
    with socket.create_connection((url.host, url.port or 80)) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + begin)
        yield connection


def test_a_ticket_accepts_one_upload_at_a_time(http: httpx.Client, service: Service) -> None:
    ticket = create_ticket(http, png())
    with start_upload(ticket, png()[:-20]) as connection:
        until(lambda: list(service.settings.scratch.glob("*.part")))
        second = put_file(ticket, png())
        connection.sendall(png()[-20:])
        first = connection.makefile("rb").read()

    assert (second.status_code, second.json()["error"]["code"]) == (409, "conflict")
    assert "one PUT at a time" in second.json()["error"]["message"]
    assert first.startswith(b"HTTP/1.1 200")


@both_databases
def test_an_upload_whose_ticket_was_removed_meanwhile_is_not_kept(
    http: httpx.Client, service: Service
) -> None:
    ticket = create_ticket(http, png())
    with start_upload(ticket, png()[:-20]) as connection:
        until(lambda: list(service.settings.scratch.glob("*.part")))
        assert service.write(uploads.remove_unused(clock() + uploads.UNUSED_MS + 1000)) == 1
        connection.sendall(png()[-20:])
        answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 404")
    assert not (service.settings.objects / "uploads" / ticket["uploadId"]).exists()


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_a_ticket_accepts_another_upload_after_an_interrupted_one(
    http: httpx.Client, service: Service, cut: int
) -> None:
    ticket = create_ticket(http, png())
    with start_upload(ticket, png()[: len(png()) - cut - 1]):
        until(lambda: list(service.settings.scratch.glob("*.part")))

    until(lambda: not list(service.settings.scratch.glob("*.part")))
    assert not (service.settings.objects / "uploads" / ticket["uploadId"]).exists()
    answer = until(lambda: put_file(ticket, png()), lambda it: it.status_code != 409)
    assert answer.status_code == 200
