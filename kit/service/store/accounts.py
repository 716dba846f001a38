"""Statements about accounts."""

from __future__ import annotations

from sqlalchemy import Select, Table, bindparam, insert, select, update

from kit.service.store.database import Query
from kit.service.store.tables import accounts, generations, uploads

_which = accounts.c.id == bindparam("which")
_added = accounts.c.balance + bindparam("amount")


def _sign_outs_of(owned: Table) -> Select[tuple[int]]:
    account = select(owned.c.account_id).where(owned.c.id == bindparam("which"))
    return select(accounts.c.sign_outs).where(accounts.c.id == account.scalar_subquery())


ADD = Query(insert(accounts))
FIND = Query(select(accounts).where(_which))
ALL = Query(select(accounts).order_by(accounts.c.id))

SIGN_OUT = Query(
    update(accounts)
    .where(_which)
    .values(sign_outs=accounts.c.sign_outs + 1)
    .returning(accounts.c.id)
)
#: How often the account of a generation, or of an upload, was signed out.
OF_GENERATION = Query(_sign_outs_of(generations))
OF_UPLOAD = Query(_sign_outs_of(uploads))
#: Set bytes aside for an upload, unless the account would keep more than `most`: then no row comes.
RESERVE = Query(
    update(accounts)
    .where(_which, accounts.c.upload_bytes + bindparam("size") <= bindparam("most"))
    .values(upload_bytes=accounts.c.upload_bytes + bindparam("size"))
    .returning(accounts.c.upload_bytes)
)
RELEASE = Query(
    update(accounts)
    .where(_which)
    .values(upload_bytes=accounts.c.upload_bytes - bindparam("size"))
    .returning(accounts.c.upload_bytes)
)
#: Move a balance by a signed amount, unless it would fall below zero: then no row comes back.
#: `charge` and `back` are how much of it was charged or given back.
MOVE = Query(
    update(accounts)
    .where(_which, _added >= 0)
    .values(
        balance=_added,
        charged=accounts.c.charged + bindparam("charge"),
        refunded=accounts.c.refunded + bindparam("back"),
    )
    .returning(accounts.c.balance, accounts.c.charged, accounts.c.refunded)
)
