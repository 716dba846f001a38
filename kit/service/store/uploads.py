"""Statements about tickets and uploads."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, update

from kit.service.store.database import Query
from kit.service.store.tables import uploads

_which = uploads.c.id == bindparam("which")
_unused = uploads.c.used_at.is_(None)

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
STALE = Query(
    select(uploads.c.id).where(_unused, uploads.c.created_at < bindparam("limit")).limit(100)
)
REMOVE = Query(delete(uploads).where(_which, _unused).returning(uploads.c.id))
