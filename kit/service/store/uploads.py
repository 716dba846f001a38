"""Statements about tickets and uploads."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from kit.service.store.database import Query
from kit.service.store.tables import WAITING_STATE, uploads

_which = uploads.c.id == bindparam("which")
_unused = uploads.c.used_at.is_(None)
_waiting = uploads.c.state == WAITING_STATE

ADD = Query(insert(uploads))
FIND = Query(select(uploads).where(_which))

#: Fill a waiting ticket; no row comes back when another file was there first.
FILL = Query(
    update(uploads)
    .where(_which, uploads.c.state == "waiting")
    .values(
        state="filled",
        sha256=bindparam("digest"),
        duration_ms=bindparam("length"),
        filled_at=bindparam("now"),
    )
    .returning(uploads.c.id)
)
#: Keep a file for a generation; no row comes back when it was swept away meanwhile.
USE = Query(update(uploads).where(_which).values(used_at=bindparam("now")).returning(uploads.c.id))
#: Those whose file is here, in the order of their ids.
WITH_FILE = Query(
    select(uploads)
    .where(uploads.c.state == "filled", uploads.c.id > bindparam("after"))
    .order_by(uploads.c.id)
    .limit(bindparam("most"))
)
#: How many tickets of an account may still bring a file, and when the first of them ends.
OPEN = Query(
    select(func.count().label("tickets"), func.min(uploads.c.expires_at).label("first")).where(
        _waiting,
        uploads.c.account_id == bindparam("account"),
        uploads.c.expires_at > bindparam("now"),
    )
)
STALE = Query(
    select(uploads.c.id).where(_unused, uploads.c.created_at < bindparam("limit")).limit(100)
)
#: Those that no generation was started with since a moment, though some were before.
OLD = Query(select(uploads.c.id).where(uploads.c.used_at < bindparam("limit")).limit(100))
EXPIRED = Query(
    select(uploads.c.id).where(_waiting, uploads.c.expires_at < bindparam("limit")).limit(100)
)
#: Remove one that no generation uses, or that none was started with since a moment.
REMOVE = Query(
    delete(uploads)
    .where(_which, or_(_unused, uploads.c.used_at < bindparam("limit")))
    .returning(uploads.c.id, uploads.c.account_id, uploads.c.size_bytes)
)
