"""Statements about files that no row names any more and that are still to be removed."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select

from kit.service.store.database import Query
from kit.service.store.tables import removals

ADD = Query(insert(removals))
SOME = Query(select(removals).order_by(removals.c.key).limit(bindparam("most")))
DONE = Query(delete(removals).where(removals.c.key == bindparam("which")))
