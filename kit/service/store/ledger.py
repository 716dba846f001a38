"""Statements about the credit ledger: entries are added, never changed."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    or_,
    select,
    union_all,
)

from kit.service.store.database import Query
from kit.service.store.tables import accounts, generations, ledger, scripts, titles

_of_account = ledger.c.account_id == bindparam("account")
_refund = ledger.c.kind == "refund"

ADD = Query(insert(ledger))
#: The totals after an account's last entry before an id.
TOTALS_BEFORE = Query(
    select(ledger.c.charged_after, ledger.c.refunded_after)
    .where(_of_account, ledger.c.id < bindparam("since"))
    .order_by(ledger.c.id.desc())
    .limit(1)
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

_debits = func.coalesce(
    func.sum(case((ledger.c.millicredits < 0, -ledger.c.millicredits), else_=0)), 0
)
_refunds = func.coalesce(func.sum(case((_refund, ledger.c.millicredits), else_=0)), 0)
_total = func.coalesce(func.sum(ledger.c.millicredits), 0)
#: Accounts whose balance or totals are not the sums of their entries; there are none, ever.
UNBALANCED = Query(
    select(
        accounts.c.id,
        accounts.c.balance,
        accounts.c.charged,
        accounts.c.refunded,
        _total.label("total"),
        _debits.label("debits"),
        _refunds.label("refunds"),
    )
    .select_from(accounts.outerjoin(ledger, ledger.c.account_id == accounts.c.id))
    .group_by(accounts.c.id, accounts.c.balance, accounts.c.charged, accounts.c.refunded)
    .having(
        or_(
            accounts.c.balance != _total,
            accounts.c.charged != _debits,
            accounts.c.refunded != _refunds,
        )
    )
)


def _balance(table: Table, column: ColumnElement[str], value: Any, step: int) -> Select[Any]:
    return select(
        column.label("account_id"), value.label("value"), literal_column(str(step)).label("step")
    ).select_from(table)


_before = ledger.c.balance_after - ledger.c.millicredits
_balances = union_all(
    _balance(accounts, accounts.c.id, literal_column("0"), 1),
    _balance(ledger, ledger.c.account_id, ledger.c.balance_after, 1),
    _balance(ledger, ledger.c.account_id, _before, -1),
    _balance(accounts, accounts.c.id, accounts.c.balance, -1),
).subquery()
#: Balances that an account came to and not from, or the other way about. Each entry goes on from
#: what another one left, from nothing to today's balance; in which order does not matter, because
#: two processes may number their entries otherwise than they write them.
BROKEN = Query(
    select(_balances.c.account_id, _balances.c.value, func.sum(_balances.c.step).label("steps"))
    .group_by(_balances.c.account_id, _balances.c.value)
    .having(func.sum(_balances.c.step) != 0)
    .order_by(_balances.c.account_id, _balances.c.value)
)

_charge = ledger.c.kind == "generation"
# Summed before they are joined: an account's entries would be read anew for each generation.
_sums = (
    select(
        ledger.c.generation_id,
        ledger.c.account_id,
        func.sum(case((_charge, -ledger.c.millicredits), else_=0)).label("charged"),
        func.sum(case((_refund, ledger.c.millicredits), else_=0)).label("given"),
    )
    .where(ledger.c.generation_id.is_not(None))
    .group_by(ledger.c.generation_id, ledger.c.account_id)
    .subquery()
)
_charged = func.coalesce(_sums.c.charged, 0)
_given = func.coalesce(_sums.c.given, 0)
_unpaid = and_(
    generations.c.state == "failed", generations.c.refunded != generations.c.millicredits
)
#: Generations that were charged or refunded other than their row says, and failed ones that were
#: not refunded in full.
MISCHARGED = Query(
    select(
        generations.c.id,
        generations.c.account_id,
        generations.c.millicredits,
        generations.c.refunded,
        generations.c.state,
        _charged.label("charged"),
        _given.label("given"),
    )
    .select_from(
        generations.outerjoin(
            _sums,
            and_(
                _sums.c.generation_id == generations.c.id,
                _sums.c.account_id == generations.c.account_id,
            ),
        )
    )
    .where(or_(_charged != generations.c.millicredits, _given != generations.c.refunded, _unpaid))
    .order_by(generations.c.id)
)

_made = select(generations.c.id).where(
    generations.c.id == ledger.c.generation_id, generations.c.account_id == ledger.c.account_id
)
_titled = select(titles.c.id).where(
    titles.c.id == ledger.c.subject, titles.c.account_id == ledger.c.account_id
)
#: Entries for what the account never got: an order of another account, or none at all.
UNFOUNDED = Query(
    select(ledger.c.id, ledger.c.account_id, ledger.c.kind, ledger.c.subject)
    .where(
        or_(
            and_(or_(_charge, _refund), ~_made.exists()),
            and_(ledger.c.kind == "title", ~_titled.exists()),
            and_(ledger.c.kind == "script", ledger.c.subject.not_in(select(scripts.c.batch_id))),
        )
    )
    .order_by(ledger.c.id)
)


@cache
def page(*, before: bool) -> Query:
    """Return the statement for a page of an account's entries, newest first."""
    statement = select(ledger).where(_of_account)
    if before:
        statement = statement.where(ledger.c.id < bindparam("before"))
    return Query(statement.order_by(ledger.c.id.desc()).limit(bindparam("most")))
