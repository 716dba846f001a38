"""Statements about titles and scripts that were given out."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select

from kit.service.store.database import Query
from kit.service.store.tables import scripts, titles

ADD_TITLE = Query(insert(titles))
ADD_SCRIPT = Query(insert(scripts))
#: The titles of a topic that an account was given last, newest first.
TITLES = Query(
    select(titles.c.title)
    .where(titles.c.account_id == bindparam("account"), titles.c.topic == bindparam("subject"))
    .order_by(titles.c.id.desc())
    .limit(bindparam("most"))
)
