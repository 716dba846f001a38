"""Finished generations as they were last written out: they never change, only their addresses age.

Pollers and lists ask for the same ones again and again. A kept answer holds for the minute in which
its addresses were signed, so every answer's addresses are good for a day. It is found by the
account that was answered and by no other, whatever a statement returned.
"""

from __future__ import annotations

from typing import Any

from kit.service.domain.generations import STATUSES
from kit.service.domain.keys import Caller

#: Answers that are kept; a full page of the list is a thousand.
_MOST = 4096
_PERIOD_MS = 60_000


class Written:
    """Answers of one service, as bytes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ada, bob = (SimpleNamespace(account_id=name, sign_outs=0) for name in ("ada", "bob"))
    >>> row = SimpleNamespace(id="gen_1", state="completed", updated_at=5)
    >>> written = Written()
    >>> written.keep(ada, "http://a", row, b"{}", now=60_000)
    >>> written.recall(ada, "http://a", row, now=119_999)
    b'{}'
    >>> written.recall(ada, "http://a", row, now=120_000)
    >>> written.recall(bob, "http://a", row, now=60_000)
    """

    def __init__(self) -> None:
        self._period = -1
        self._kept: dict[tuple[str, int, str, str], tuple[int, bytes]] = {}

    def recall(self, caller: Caller, base: str, row: Any, now: int) -> bytes | None:
        """Return what was written for a version of a generation, or None.

        Parameters
        ----------
        caller : Caller
            Who asks.
        base : str
            What its addresses begin with.
        row
            With ``id`` and ``updated_at``.
        now : int
            Milliseconds since 1970.
        """
        if now // _PERIOD_MS != self._period:
            return None
        updated_at, body = self._kept.get(_label(caller, base, row), (-1, b""))
        return body if updated_at == row.updated_at else None

    def keep(self, caller: Caller, base: str, row: Any, body: bytes, now: int) -> None:
        """Keep what was written for a generation, if it is finished."""
        if STATUSES[row.state] == "processing":
            return
        period = now // _PERIOD_MS
        if period != self._period or len(self._kept) >= _MOST:
            self._kept.clear()
            self._period = period
        self._kept[_label(caller, base, row)] = (row.updated_at, body)


def _label(caller: Caller, base: str, row: Any) -> tuple[str, int, str, str]:
    return caller.account_id, caller.sign_outs, base, row.id
