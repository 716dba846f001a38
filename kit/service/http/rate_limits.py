"""Rate limits: the generic cell rate algorithm, per key and class of request.

It stores one number per key, gives the exact time of the next allowed request, and has no window
at whose edge twice the rate is possible.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the driver of PostgreSQL is an extra
    from kit.service.store.postgresql.shared import Shared

_MINUTE = 60.0
#: Sums of fractions of a minute are slightly too large: that must not cause a wait.
_EPSILON = 1e-9
#: Maximum of stored keys before idle ones are removed.
_MAX_KEYS = 10_000


class Verdict(NamedTuple):
    """Whether a request is allowed, and the state of its limit."""

    limit: int
    #: Seconds until the next request is allowed; 0 if this one is.
    wait: float
    #: Requests that are still allowed immediately.
    remaining: int
    #: Seconds until the limit is restored in full.
    reset: float

    @classmethod
    def of(cls, limit: int, ahead: float, *, allowed: bool) -> Verdict:
        """Return the verdict on a request after which the limit is restored in `ahead` seconds."""
        interval = _MINUTE / limit
        if allowed:
            return cls(limit, 0.0, int((_MINUTE - ahead) / interval + _EPSILON), ahead)
        return cls(limit, ahead + interval - _MINUTE, 0, ahead)

    def headers(self) -> dict[str, str]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers, and ``Retry-After``."""
        headers = {
            "RateLimit-Policy": f'"default";q={self.limit};w=60',
            "RateLimit": f'"default";r={self.remaining};t={math.ceil(self.reset)}',
        }
        if self.wait > 0:
            headers["Retry-After"] = str(max(1, math.ceil(self.wait)))
        return headers


@dataclass(eq=False, slots=True)
class RateLimiter:
    """Counts requests, in this process or together with all services on a database."""

    #: Requests per minute by class; as many may come in a burst.
    per_minute: Mapping[str, int]
    shared: Shared | None = None
    clock: Callable[[], float] = time.monotonic
    #: When the full limit of each known key is restored.
    due: dict[tuple[str, str], float] = field(default_factory=dict, init=False)

    async def count(self, kind: str, key: str) -> Verdict:
        """Count a request, unless it is refused."""
        if self.shared is None:
            return self.hit(kind, key)
        limit = self.per_minute[kind]
        # The database stores seconds with six decimals.
        burst = _MINUTE + 1e-5
        allowed, ahead = await self.shared.count(f"{kind} {key}", _MINUTE / limit, burst)
        return Verdict.of(limit, min(ahead, _MINUTE), allowed=allowed)

    def hit(self, kind: str, key: str) -> Verdict:
        """Count a request of this process, unless it is refused."""
        limit = self.per_minute[kind]
        interval = _MINUTE / limit
        now = self.clock()
        due = max(self.due.get((kind, key), now), now)
        if due + interval - _MINUTE - now > _EPSILON:
            return Verdict.of(limit, due - now, allowed=False)
        if len(self.due) >= _MAX_KEYS:
            self.due = {k: v for k, v in self.due.items() if v > now}
        self.due[kind, key] = due + interval
        return Verdict.of(limit, due + interval - now, allowed=True)
