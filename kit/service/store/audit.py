"""Statements about administrative acts: lines are added, never changed."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, insert, select

from kit.service.store.database import Query
from kit.service.store.tables import audit

ADD = Query(insert(audit))


@cache
def page(*, before: bool) -> Query:
    """Return the statement for a page of lines, newest first."""
    statement = select(audit)
    if before:
        statement = statement.where(audit.c.id < bindparam("before"))
    return Query(statement.order_by(audit.c.id.desc()).limit(bindparam("most")))
