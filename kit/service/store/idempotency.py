"""Statements about answers that are kept for replay."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, update

from kit.service.store.database import Query
from kit.service.store.tables import idempotency

_which = (
    idempotency.c.account_id == bindparam("account"),
    idempotency.c.key == bindparam("label"),
)

ADD = Query(insert(idempotency))
FIND = Query(select(idempotency).where(*_which))
KEEP = Query(
    update(idempotency)
    .where(*_which)
    .values(status=bindparam("code"), headers=bindparam("fields"), body=bindparam("answer"))
)
FORGET = Query(delete(idempotency).where(*_which))
#: Forget a request only while it has no answer: what was charged stays said.
RELEASE = Query(delete(idempotency).where(*_which, idempotency.c.status.is_(None)))
PRUNE = Query(delete(idempotency).where(idempotency.c.created_at < bindparam("limit")))
#: Requests that were running when the process ended: a charge would have left an answer.
ABANDONED = Query(
    delete(idempotency).where(
        idempotency.c.status.is_(None), idempotency.c.created_at < bindparam("limit")
    )
)
