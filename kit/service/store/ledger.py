"""Statements about the credit ledger: entries are added, never changed."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, case, func, insert, or_, select

from kit.service.store.database import Query
from kit.service.store.tables import accounts, ledger

_of_account = ledger.c.account_id == bindparam("account")
_since = ledger.c.created_at >= bindparam("since")
_refund = ledger.c.kind == "refund"

ADD = Query(insert(ledger))
#: What a key has spent since a moment; negative figures are spending. Refunds are taken off, if
#: what they give back was spent since then too: `first` is the least id of such a generation.
SPENT_BY_KEY = Query(
    select(func.coalesce(func.sum(ledger.c.millicredits), 0).label("total")).where(
        ledger.c.key_id == bindparam("key"),
        _since,
        or_(~_refund, ledger.c.generation_id >= bindparam("first")),
    )
)

#: Charged and refunded since a moment, both positive.
TURNOVER = Query(
    select(
        func.coalesce(
            func.sum(case((ledger.c.millicredits < 0, -ledger.c.millicredits), else_=0)), 0
        ).label("charged"),
        func.coalesce(func.sum(case((_refund, ledger.c.millicredits), else_=0)), 0).label(
            "refunded"
        ),
    ).where(_of_account, ledger.c.id >= bindparam("since"))
)

_span = (
    select(ledger.c.id, ledger.c.kind, ledger.c.millicredits)
    .where(ledger.c.id > bindparam("after"), ledger.c.id < bindparam("until"))
    .order_by(ledger.c.id)
    .limit(bindparam("most"))
    .subquery()
)
#: Sums of all accounts by kind between two ids, with the last id that is in them.
SUMS = Query(
    select(
        _span.c.kind,
        func.sum(_span.c.millicredits).label("total"),
        func.max(_span.c.id).label("last"),
    ).group_by(_span.c.kind)
)

#: Accounts whose balance is not the sum of their entries; there are none, ever.
UNBALANCED = Query(
    select(
        accounts.c.id,
        accounts.c.balance,
        func.coalesce(func.sum(ledger.c.millicredits), 0).label("total"),
    )
    .select_from(accounts.outerjoin(ledger, ledger.c.account_id == accounts.c.id))
    .group_by(accounts.c.id, accounts.c.balance)
    .having(accounts.c.balance != func.coalesce(func.sum(ledger.c.millicredits), 0))
)


@cache
def page(*, before: bool) -> Query:
    """Return the statement for a page of an account's entries, newest first."""
    statement = select(ledger).where(_of_account)
    if before:
        statement = statement.where(ledger.c.id < bindparam("before"))
    return Query(statement.order_by(ledger.c.id.desc()).limit(bindparam("most")))
