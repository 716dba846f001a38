"""Statements about the checks of the database itself."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

from kit.service.store.database import Query
from kit.service.store.tables import checks

_which = checks.c.name == bindparam("which")

ADD = Query(insert(checks))
FIND = Query(select(checks).where(_which))
#: Note when a check was made; no row comes back when it is the first of its name.
MARK = Query(update(checks).where(_which).values(at=bindparam("now")).returning(checks.c.name))
