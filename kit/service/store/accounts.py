"""Statements about accounts."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

from kit.service.store.database import Query
from kit.service.store.tables import accounts

_which = accounts.c.id == bindparam("which")
_added = accounts.c.balance + bindparam("amount")

ADD = Query(insert(accounts))
FIND = Query(select(accounts).where(_which))
ALL = Query(select(accounts).order_by(accounts.c.id))

#: Move a balance by a signed amount, unless it would fall below zero: then no row comes back.
MOVE = Query(
    update(accounts).where(_which, _added >= 0).values(balance=_added).returning(accounts.c.balance)
)
