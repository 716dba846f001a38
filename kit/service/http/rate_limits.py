"""Rate limits: the generic cell rate algorithm, per key and class of request.

It keeps one number a key, knows exactly when the next request is allowed, and has no window whose
edge lets twice the rate through.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # its driver is an extra
    from kit.service.store.postgresql.shared import Shared

_MINUTE = 60.0
#: Summed fractions of a minute come out a little over: that is no reason to wait.
_EPSILON = 1e-9
#: Keys that are remembered before the idle ones are forgotten.
_MAX_KEYS = 10_000


class Verdict(NamedTuple):
    """Whether a request is allowed."""

    limit: int
    #: Seconds until the next request is allowed; 0 when this one is.
    wait: float
    #: Requests that are still allowed at once.
    remaining: int
    #: Seconds until the limit is restored in full.
    reset: float

    @classmethod
    def of(cls, limit: int, ahead: float, *, allowed: bool) -> Verdict:
        """Return the verdict on a request after which the limit is restored in `ahead` seconds."""
        every = _MINUTE / limit
        if allowed:
            return cls(limit, 0.0, int((_MINUTE - ahead) / every + _EPSILON), ahead)
        return cls(limit, ahead + every - _MINUTE, 0, ahead)

    def headers(self) -> dict[str, str]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers, and when to come again."""
        headers = {
            "RateLimit-Policy": f'"default";q={self.limit};w=60',
            "RateLimit": f'"default";r={self.remaining};t={math.ceil(self.reset)}',
        }
        if self.wait > 0:
            headers["Retry-After"] = str(max(1, math.ceil(self.wait)))
        return headers


@dataclass(eq=False, slots=True)
class RateLimiter:
    """Counts requests: those that this process gets, or all services on a database together."""

    #: Class -> requests a minute; as many may come at once.
    per_minute: Mapping[str, int]
    shared: Shared | None = None
    clock: Callable[[], float] = time.monotonic
    #: When each key that was seen is back at its full allowance.
    due: dict[tuple[str, str], float] = field(default_factory=dict, init=False)

    async def count(self, kind: str, key: str) -> Verdict:
        """Count a request, unless it comes too early."""
        if self.shared is None:
            return self.hit(kind, key)
        limit = self.per_minute[kind]
        # The database's seconds have six places.
        burst = _MINUTE + 1e-5
        allowed, ahead = await self.shared.count(f"{kind} {key}", _MINUTE / limit, burst)
        return Verdict.of(limit, min(ahead, _MINUTE), allowed=allowed)

    def hit(self, kind: str, key: str) -> Verdict:
        """Count a request of this process, unless it comes too early."""
        limit = self.per_minute[kind]
        every = _MINUTE / limit
        now = self.clock()
        due = max(self.due.get((kind, key), now), now)
        if due + every - _MINUTE - now > _EPSILON:
            return Verdict.of(limit, due - now, allowed=False)
        if len(self.due) >= _MAX_KEYS:
            self.due = {k: v for k, v in self.due.items() if v > now}
        self.due[kind, key] = due + every
        return Verdict.of(limit, due + every - now, allowed=True)
