"""Rate limits: the generic cell rate algorithm, per key and class of request.

It keeps one number a key, knows exactly when the next request is welcome, and has no window whose
edge lets twice the rate through.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

_MINUTE = 60.0
#: Keys that are remembered before the idle ones are forgotten.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may pass.

    Parameters
    ----------
    wait : float
        Seconds until the next request is welcome; 0 when this one is.
    remaining : int
        Requests that may still come at once.
    reset : float
        Seconds until the limit is as if nothing had come.
    """

    limit: int
    wait: float
    remaining: int
    reset: float

    def raw(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of a request that passes, as they are sent."""
        left = b'"default";r=%d;t=%d' % (self.remaining, math.ceil(self.reset))
        return [
            (b"ratelimit-policy", b'"default";q=%d;w=60' % self.limit),
            (b"ratelimit", left),
        ]

    def headers(self) -> dict[str, str]:
        """Return the headers that tell a client how it stands.

        Source: draft-ietf-httpapi-ratelimit-headers.
        """
        told = {
            "RateLimit-Policy": f'"default";q={self.limit};w=60',
            "RateLimit": f'"default";r={self.remaining};t={math.ceil(self.reset)}',
        }
        if self.wait > 0:
            told["Retry-After"] = str(max(1, math.ceil(self.wait)))
        return told


class Limiter(Protocol):
    """What counts requests; this one in memory, others may share their counts."""

    def hit(self, kind: str, key: str) -> Verdict:
        """Count a request of a class by a key."""
        ...


class MemoryLimiter:
    """Counts in this process.

    Parameters
    ----------
    per_minute : mapping of str to int
        Requests a minute by class; as many may come at once.
    clock : callable
        Seconds, never going back.

    Examples
    --------
    >>> limiter = MemoryLimiter({"any": 60}, clock=lambda: 0.0)
    >>> [limiter.hit("any", "key").wait for _ in range(61)][-1]
    1.0
    """

    def __init__(
        self, per_minute: Mapping[str, int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._due: dict[tuple[str, str], float] = {}

    def hit(self, kind: str, key: str) -> Verdict:
        """Count a request, unless it comes too early."""
        limit = self._per_minute[kind]
        every = _MINUTE / limit
        now = self._clock()
        due = max(self._due.get((kind, key), now), now)
        wait = due + every - _MINUTE - now
        # Summed fractions of a minute come out a little over: that is no reason to wait.
        if wait > 1e-9:
            return Verdict(limit, wait, 0, due - now)
        self._remember(kind, key, due + every, now)
        left = int((_MINUTE - (due + every - now)) / every + 1e-9)
        return Verdict(limit, 0.0, left, due + every - now)

    def _remember(self, kind: str, key: str, due: float, now: float) -> None:
        if len(self._due) >= _MOST:
            self._due = {k: v for k, v in self._due.items() if v > now}
        self._due[kind, key] = due
