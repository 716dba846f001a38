"""The audit log: who did what and when, recorded in the transaction of the act itself."""

from __future__ import annotations

from typing import Any

import orjson

from kit.service.store import audit, ids
from kit.service.store.database import Rows, Transaction

#: The actor of automatic acts of the service.
SERVICE = "service"


def record(act: str, subject: str, actor: str, now: int, **details: Any) -> Transaction[None]:
    """Record an act, e.g. ``key.created``, with its subject and its actor.

    The actor is an origin and a user, e.g. ``cli:ada``, or the prefix of a key. Details must not
    contain secrets; details that are None are omitted.
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
    """Return the newest acts, latest first."""
    return (yield audit.page(before=ids.ceiling("aud"), most=most))
