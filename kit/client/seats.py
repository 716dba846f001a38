"""Those who wait for generations, and what the board that they share says."""

from __future__ import annotations

from dataclasses import dataclass, field

from kit import wire
from kit.client.outages import Outage
from kit.errors import KitError

#: An ETag that no generation has: the first answer comes at once.
_UNSEEN = '"unseen"'


@dataclass(slots=True)
class Seat:
    """Somebody who waits for a generation, and what they have seen of it."""

    id: str
    status_url: str | None
    since: float
    ends: float | None
    outage: Outage
    asked: float = 0.0
    etag: str = _UNSEEN
    latest: wire.Generation | None = None

    def left(self, now: float) -> float | None:
        """Return the seconds that are left, or None where there is no end to them."""
        return None if self.ends is None else self.ends - now


@dataclass(slots=True)
class News:
    """What the board says: generations by id, or why nothing can be said."""

    found: dict[str, wire.Generation] = field(default_factory=dict)
    lost: dict[str, KitError] = field(default_factory=dict)

    def forget(self, generation_id: str) -> None:
        """Say nothing of a generation any more."""
        self.found.pop(generation_id, None)
        self.lost.pop(generation_id, None)
