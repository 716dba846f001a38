"""Connection pools: a connection is closed after its last request, and none is left open."""

from __future__ import annotations

import threading
from typing import Any

import httpx

from kit.client.http import ConnectionPool
from kit.client.http.sync import borrow

HERE = "http://127.0.0.1:1"


class RecordingTransport(httpx.HTTPTransport):
    """A transport that records its options and whether it was closed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.options = options
        self.closed = False

    def close(self) -> None:
        super().close()
        self.closed = True


def test_requests_to_one_origin_share_a_connection() -> None:
    pool: ConnectionPool[RecordingTransport] = ConnectionPool(RecordingTransport)

    with borrow(pool, f"{HERE}/a") as first, borrow(pool, f"{HERE}/b") as second:
        assert first is second
    with borrow(pool, "http://127.0.0.1:2/") as third:
        assert third is not first
    assert pool.close() == [first, third]


def test_certificates_are_loaded_for_https_only() -> None:
    pool: ConnectionPool[RecordingTransport] = ConnectionPool(RecordingTransport)

    with borrow(pool, HERE) as plain, borrow(pool, "https://a.test") as encrypted:
        assert isinstance(plain, RecordingTransport)
        assert isinstance(encrypted, RecordingTransport)
        assert plain.options["verify"].get_ca_certs() == []
        assert encrypted.options["verify"].get_ca_certs() != []
    for transport in pool.close():
        transport.close()


def test_a_connection_in_use_is_closed_after_its_last_request() -> None:
    pool: ConnectionPool[RecordingTransport] = ConnectionPool(RecordingTransport)
    started, end, transports = threading.Event(), threading.Event(), []

    def ask() -> None:
        with borrow(pool, HERE) as transport:
            transports.append(transport)
            started.set()
            end.wait(10)

    thread = threading.Thread(target=ask)
    thread.start()
    started.wait(10)
    assert pool.close() == []
    assert not transports[0].closed
    end.set()
    thread.join()
    assert transports[0].closed


def test_a_request_after_close_has_a_connection_of_its_own() -> None:
    pool: ConnectionPool[RecordingTransport] = ConnectionPool(RecordingTransport)
    pool.close()

    with borrow(pool, HERE) as first, borrow(pool, HERE) as second:
        assert first is not second
        assert isinstance(first, RecordingTransport)
        assert not first.closed
    assert first.closed
    assert isinstance(second, RecordingTransport)
    assert second.closed
