"""Statements about API keys."""

from __future__ import annotations

from sqlalchemy import BindParameter, bindparam, case, func, insert, or_, select, update

from kit.service.store.database import Query
from kit.service.store.tables import accounts, keys

_now: BindParameter[int] = bindparam("now")
_of_account = keys.c.account_id == bindparam("account")

ADD = Query(insert(keys))
BY_DIGEST = Query(
    # Not a join, which SQLite takes three times as long for: it plans it anew at each call.
    select(
        keys,
        select(accounts.c.sign_outs)
        .where(accounts.c.id == keys.c.account_id)
        .scalar_subquery()
        .label("sign_outs"),
    ).where(keys.c.digest == bindparam("digest"))
)
FIND = Query(select(keys).where(keys.c.id == bindparam("which")))
ALL = Query(select(keys).order_by(keys.c.id))
OF_ACCOUNT = Query(select(keys).where(_of_account).order_by(keys.c.id))

#: How many keys of an account work just now.
ACTIVE = Query(
    select(func.count().label("active")).where(
        _of_account,
        keys.c.revoked_at.is_(None),
        or_(keys.c.expires_at.is_(None), keys.c.expires_at > _now),
    )
)
REVOKE = Query(
    update(keys)
    .where(keys.c.id == bindparam("which"), keys.c.revoked_at.is_(None))
    .values(revoked_at=_now)
    .returning(keys.c.id)
)
TOUCH = Query(update(keys).where(keys.c.id == bindparam("which")).values(last_used_at=_now))

_month: BindParameter[int] = bindparam("month")
_this_month = keys.c.spent_since >= _month
_spent = case((_this_month, keys.c.spent), else_=0) + bindparam("amount")
#: Count what a key spends in a month that began then; no row comes back when its cap is below that.
SPEND = Query(
    update(keys)
    .where(keys.c.id == bindparam("which"), _spent <= keys.c.cap)
    .values(spent=_spent, spent_since=case((_this_month, keys.c.spent_since), else_=_month))
    .returning(keys.c.spent)
)
#: Take off what is given back.
UNSPEND = Query(
    update(keys)
    .where(keys.c.id == bindparam("which"))
    .values(spent=keys.c.spent - bindparam("amount"))
)
