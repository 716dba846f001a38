"""Statements about answers that are kept for replay."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, update

from kit.service.store.database import Query
from kit.service.store.tables import idempotency

_which = (
    idempotency.c.account_id == bindparam("account"),
    idempotency.c.key == bindparam("label"),
)

_unanswered = idempotency.c.status.is_(None)

ADD = Query(insert(idempotency))
FIND = Query(select(idempotency).where(*_which))
KEEP = Query(
    update(idempotency)
    .where(*_which)
    .values(status=bindparam("code"), headers=bindparam("fields"), body=bindparam("answer"))
)
FORGET = Query(delete(idempotency).where(*_which))
#: Forget a request only while it has no answer: what was charged stays said.
RELEASE = Query(delete(idempotency).where(*_which, _unanswered))
PRUNE = Query(delete(idempotency).where(idempotency.c.created_at < bindparam("limit")))
#: Requests that were running when their process ended: a charge would have left an answer.
ABANDONED = Query(
    delete(idempotency).where(_unanswered, idempotency.c.created_at < bindparam("limit"))
)
DISOWNED = Query(delete(idempotency).where(_unanswered, idempotency.c.owner == bindparam("worker")))
OWNERS = Query(select(idempotency.c.owner).where(_unanswered).distinct())
