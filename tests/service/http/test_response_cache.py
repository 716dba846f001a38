"""Responses about finished generations: cached for a minute, and for one account."""

from types import SimpleNamespace
from typing import Any

from kit.service.http.context import ResponseCache


def test_a_cached_response_is_found_by_its_account_within_its_minute() -> None:
    callers: list[Any] = [SimpleNamespace(account_id=name, sign_outs=0) for name in ("ada", "bob")]
    ada, bob = callers
    done, running = (
        SimpleNamespace(id="gen_1", state=state, updated_at=5) for state in ("completed", "running")
    )
    cache = ResponseCache()
    cache.put(ada, "http://a", running, b"no", now=60_000)
    assert cache.find(ada, "http://a", [running], now=60_000) == [None]
    cache.put(ada, "http://a", done, b"{}", now=60_000)

    assert cache.find(ada, "http://a", [done], now=119_999) == [b"{}"]
    assert cache.find(ada, "http://a", [done], now=120_000) == [None]
    assert cache.find(ada, "http://b", [done], now=60_000) == [None]
    assert cache.find(bob, "http://a", [done], now=60_000) == [None]
