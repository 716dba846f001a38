"""Administrative acts, written down with who did what and when, in the transaction of the act."""

from __future__ import annotations

from typing import Any

import orjson

from kit.service.store import audit, ids
from kit.service.store.database import Rows, Transaction

#: The actor of what the service does by its own rules.
SERVICE = "service"


def record(act: str, subject: str, actor: str, now: int, **details: Any) -> Transaction[None]:
    """Write down an act, e.g. ``key.created``, what it was done to, and who gave the order.

    The actor is where that came from and who it was, e.g. ``cli:ada``, or a key by its prefix. The
    details are never a secret; what is None is left out.
    """
    facts = {name: value for name, value in details.items() if value is not None}
    yield audit.add(
        id=ids.new("aud", now),
        actor=actor,
        act=act,
        subject=subject,
        details=orjson.dumps(facts).decode() if facts else None,
        created_at=now,
    )


def list_acts(*, most: int) -> Transaction[Rows]:
    """Return the newest acts, the latest first."""
    return (yield audit.page(before=ids.ceiling("aud"), most=most))
