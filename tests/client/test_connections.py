"""Connection pools: lent to requests, never closed under one, never left behind."""

from __future__ import annotations

import threading
from typing import Any

import httpx

from kit.client.http import ConnectionPool
from kit.client.http.sync import borrow

HERE = "http://127.0.0.1:1"


class Line(httpx.HTTPTransport):
    """A transport that remembers how it was made and whether it was closed."""

    def __init__(self, **made: Any) -> None:
        super().__init__(**made)
        self.made = made
        self.closed = False

    def close(self) -> None:
        super().close()
        self.closed = True


def test_requests_to_one_origin_share_a_line() -> None:
    pool: ConnectionPool[Line] = ConnectionPool(Line)

    with borrow(pool, f"{HERE}/a") as first, borrow(pool, f"{HERE}/b") as second:
        assert first is second
    with borrow(pool, "http://127.0.0.1:2/") as third:
        assert third is not first
    assert pool.close() == [first, third]


def test_certificates_are_loaded_for_https_only() -> None:
    pool: ConnectionPool[Line] = ConnectionPool(Line)

    with borrow(pool, HERE) as plain, borrow(pool, "https://a.test") as secret:
        assert isinstance(plain, Line)
        assert isinstance(secret, Line)
        assert plain.made["verify"].get_ca_certs() == []
        assert secret.made["verify"].get_ca_certs() != []
    for line in pool.close():
        line.close()


def test_a_line_in_use_is_closed_by_its_last_user() -> None:
    pool: ConnectionPool[Line] = ConnectionPool(Line)
    borrowed, end, seen = threading.Event(), threading.Event(), []

    def ask() -> None:
        with borrow(pool, HERE) as line:
            seen.append(line)
            borrowed.set()
            end.wait(10)

    thread = threading.Thread(target=ask)
    thread.start()
    borrowed.wait(10)
    assert pool.close() == []
    assert not seen[0].closed
    end.set()
    thread.join()
    assert seen[0].closed


def test_a_request_after_the_closing_has_a_line_of_its_own() -> None:
    pool: ConnectionPool[Line] = ConnectionPool(Line)
    pool.close()

    with borrow(pool, HERE) as late, borrow(pool, HERE) as later:
        assert late is not later
        assert isinstance(late, Line)
        assert not late.closed
    assert late.closed
    assert isinstance(later, Line)
    assert later.closed
