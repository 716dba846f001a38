"""A cache of finished generations as JSON: they never change, only their addresses expire.

Pollers and lists ask for the same ones again and again. A cached answer holds for the minute in
which its addresses were signed, so every answer's addresses are good for a day. Only the account
that got an answer finds it again, whatever a statement returned.
"""

from __future__ import annotations

from typing import Any

from kit.service.domain.generations import STATUSES
from kit.service.domain.keys import Caller

#: Cached answers; a full page of the list has a thousand.
_LIMIT = 4096
_PERIOD_MS = 60_000
_Key = tuple[str, int, str, str, int]


class ResponseCache:
    """The cached answers of one service.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ada, bob = (SimpleNamespace(account_id=name, sign_outs=0) for name in ("ada", "bob"))
    >>> row = SimpleNamespace(id="gen_1", state="completed", updated_at=5)
    >>> cache = ResponseCache()
    >>> cache.put(ada, "http://a", row, b"{}", now=60_000)
    >>> cache.get(ada, "http://a", row, now=119_999)
    b'{}'
    >>> cache.get(ada, "http://a", row, now=120_000)
    >>> cache.get(bob, "http://a", row, now=60_000)
    """

    def __init__(self) -> None:
        self._period = -1
        self._bodies: dict[_Key, bytes] = {}

    def get(self, caller: Caller, base: str, row: Any, now: int) -> bytes | None:
        """Return the cached answer of a version of a generation, or None.

        Parameters
        ----------
        caller : Caller
            The account that asks.
        base : str
            What its addresses begin with.
        row
            With ``id`` and ``updated_at``.
        now : int
            Milliseconds since 1970.
        """
        if now // _PERIOD_MS != self._period:
            return None
        return self._bodies.get(_cache_key(caller, base, row))

    def put(self, caller: Caller, base: str, row: Any, body: bytes, now: int) -> None:
        """Cache the answer of a generation, if it is finished."""
        if STATUSES[row.state] == "processing":
            return
        period = now // _PERIOD_MS
        if period != self._period or len(self._bodies) >= _LIMIT:
            self._bodies.clear()
            self._period = period
        self._bodies[_cache_key(caller, base, row)] = body


def _cache_key(caller: Caller, base: str, row: Any) -> _Key:
    return caller.account_id, caller.sign_outs, base, row.id, row.updated_at
