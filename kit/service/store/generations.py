"""Statements about generations; the table is also the queue.

What a worker may write is fenced by the attempt that it claimed: a stale worker changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    String,
    Text,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    or_,
    select,
    union_all,
    update,
)

from kit.service.store.database import Query
from kit.service.store.tables import QUEUED_STATE, RUNNING_STATE
from kit.service.store.tables import generations as table

_now: BindParameter[int] = bindparam("now")
_which = table.c.id == bindparam("which")
_of_account = table.c.account_id == bindparam("account")
_running = table.c.state == RUNNING_STATE
_queued = table.c.state == QUEUED_STATE
_has_files = (table.c.output.is_not(None), table.c.outputs_deleted_at.is_(None))
_fenced = (_which, table.c.attempt == bindparam("fence"), _running)

ADD = Query(insert(table))
FIND = Query(select(table).where(_which, _of_account))
#: What tells whether an answer that was written before still holds.
VERSION = Query(
    select(table.c.id, table.c.state, table.c.updated_at, table.c.progress).where(
        _which, _of_account
    )
)


#: What tells which files a generation has.
RESULT = Query(
    select(table.c.id, table.c.state, table.c.output, table.c.outputs_deleted_at).where(_which)
)

_waiting = table.alias("waiting")
#: The first round that something waits in; none where nothing waits.
_first_round = (
    select(_waiting.c.queue_round)
    .where(_waiting.c.state == QUEUED_STATE)
    .order_by(_waiting.c.queue_round)
    .limit(1)
    .scalar_subquery()
)
_STATES = ("queued", "running", "completed", "failed", "canceled")
_ASSET_TYPES = ("image", "video")


def _values(column: Column[str], known: Sequence[str], *, given: bool) -> list[ColumnElement[bool]]:
    """Return the condition for a given value of a column, or those for each that it can have."""
    if given:
        return [column == bindparam(column.name)]
    return [column == literal_column(f"'{value}'", Text) for value in known]


_newest = (
    select(table.c.queue_round)
    .where(_of_account, _queued, by_type)
    .order_by(table.c.id.desc())
    .limit(1)
    .scalar_subquery()
    for by_type in _values(table.c.asset_type, _ASSET_TYPES, given=False)
)
#: The same, and the rounds of an account's newest that wait, one of each type.
ROUNDS = Query(
    select(
        _first_round.label("first"),
        *(newest.label(f"own_{name}") for name, newest in zip(_ASSET_TYPES, _newest, strict=True)),
    )
)


def _claim(*which: ColumnElement[bool]) -> Query:
    """Take the first one of the queue. On PostgreSQL, rows another is taking are skipped.

    One and not several: a list of them costs SQLite a temporary table, four times the work.
    """
    first = (
        select(table.c.id)
        .where(_queued, *which)
        .order_by(table.c.queue_round, table.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    return Query(
        update(table)
        .where(table.c.id == first)
        .values(
            state="running",
            attempt=table.c.attempt + 1,
            owner=bindparam("worker"),
            lease_until=bindparam("lease"),
            started_at=func.coalesce(table.c.started_at, _now),
            updated_at=_now,
        )
        .returning(table)
    )


CLAIM = _claim()
#: The same but for some models: a text of their ids, each between two commas.
CLAIM_OTHERS = _claim(bindparam("later", type_=String).not_like("%," + table.c.model_id + ",%"))
RENEW = Query(
    update(table).where(*_fenced).values(lease_until=bindparam("lease")).returning(table.c.id)
)
REPORT = Query(
    update(table).where(*_fenced).values(progress=bindparam("fraction"), updated_at=_now)
)
COMPLETE = Query(
    update(table)
    .where(*_fenced)
    .values(
        state="completed",
        progress=1.0,
        output=bindparam("result"),
        owner=None,
        lease_until=None,
        updated_at=_now,
        completed_at=_now,
    )
    .returning(table)
)
FAIL = Query(
    update(table)
    .where(*_fenced)
    .values(
        state="failed",
        error=bindparam("sentence"),
        error_code=bindparam("code"),
        refunded=table.c.millicredits,
        owner=None,
        lease_until=None,
        updated_at=_now,
        completed_at=_now,
    )
    .returning(table)
)
#: Put one back at the head of the queue; `lost` is 1 when its worker vanished and 0 when it was
#: handed back. Its old round may be long past: those that came since would get ahead through it.
RETURN = Query(
    update(table)
    .where(*_fenced)
    .values(
        state="queued",
        owner=None,
        lease_until=None,
        progress=0.0,
        losses=table.c.losses + bindparam("lost"),
        queue_round=func.coalesce(_first_round, 0),
        updated_at=_now,
    )
    .returning(table.c.id)
)

#: Running ones whose worker has not been heard of in time.
LOST = Query(
    select(table.c.id, table.c.attempt, table.c.losses, table.c.model_id)
    .where(_running, table.c.lease_until < _now)
    .limit(100)
)

#: Cancel one that waits (its credits come back) or one that runs (they do not).
CANCEL = Query(
    update(table)
    .where(_which, _of_account, table.c.state == bindparam("as_seen"))
    .values(
        state="canceled",
        refunded=bindparam("back"),
        owner=None,
        lease_until=None,
        updated_at=_now,
        completed_at=_now,
    )
    .returning(table)
)

#: Note that the files of one that is finished are deleted. What was written out of it before must
#: not hold any more, even if that was in the same millisecond.
DELETE_OUTPUTS = Query(
    update(table)
    .where(_which, *_has_files)
    .values(
        outputs_deleted_at=_now,
        updated_at=case((table.c.updated_at < _now, _now), else_=table.c.updated_at + 1),
    )
)
DELETED = Query(
    select(table.c.outputs_deleted_at).where(_which, table.c.outputs_deleted_at.is_not(None))
)
#: All from an id on, oldest first: which of them are old and have files is looked at afterwards, so
#: that each page takes the same time.
OLDEST = Query(
    select(
        table.c.id, table.c.state, table.c.output, table.c.created_at, table.c.outputs_deleted_at
    )
    .where(table.c.id > bindparam("after"))
    .order_by(table.c.id)
    .limit(bindparam("most"))
)

#: Which of a worker's claims still stand; those that are missing were canceled or taken away.
HELD = Query(
    select(table.c.id, table.c.attempt, table.c.losses, table.c.model_id, table.c.progress).where(
        _running, table.c.owner == bindparam("worker")
    )
)
OWNERS = Query(select(table.c.owner).where(_running).distinct())
QUEUED = Query(select(func.count().label("waiting")).where(_queued))
RUNNING = Query(select(func.count().label("number")).where(_running))

#: What is charged for those that are not settled.
RESERVED = Query(
    select(func.coalesce(func.sum(table.c.millicredits), 0).label("total")).where(
        _of_account, or_(_queued, _running)
    )
)
#: Those that have files, in the order of their ids.
WITH_OUTPUT = Query(
    select(table.c.id, table.c.state, table.c.output)
    .where(*_has_files, table.c.id > bindparam("after"))
    .order_by(table.c.id)
    .limit(bindparam("most"))
)
_last = (
    select(table.c.millicredits)
    .where(table.c.model_id == bindparam("model"))
    .order_by(table.c.id.desc())
    .limit(100)
    .subquery()
)
RECENT_CHARGES = Query(
    select(
        func.count().label("number"),
        func.coalesce(func.sum(_last.c.millicredits), 0).label("total"),
    )
)

#: Filters of the list operation; `processing` is two states, the others have a value.
FILTERS = ("state", "processing", "asset_type", "model")


@cache
def page(filters: frozenset[str], *, whole: bool = True) -> Query:
    """Return the statement for a page of an account's generations between two ids, newest first.

    Where an index has a column before the id that no filter fixes, one select for each of its
    values reads in the order of the ids and the database merges them. So a page costs the same
    however many rows there are that it leaves out.

    Parameters
    ----------
    whole : bool
        Whole rows, or only their versions.
    """
    columns = [table] if whole else [table.c.id, table.c.state, table.c.updated_at]
    between = (table.c.id >= bindparam("after"), table.c.id < bindparam("until"))
    selects = [select(*columns).where(_of_account, *which, *between) for which in _runs(filters)]
    if len(selects) == 1:
        return Query(selects[0].order_by(table.c.id.desc()).limit(bindparam("most")))
    merged = union_all(*selects)
    return Query(merged.order_by(merged.selected_columns.id.desc()).limit(bindparam("most")))


def _runs(filters: frozenset[str]) -> Iterator[list[ColumnElement[bool]]]:
    """Yield what fixes every column of an index before the id, once for each run of ids in it."""
    if not filters:
        yield []
        return
    model = [table.c.model_id == bindparam("model")] if "model" in filters else []
    states = ("queued", "running") if "processing" in filters else _STATES
    for by_state in _values(table.c.state, states, given="state" in filters):
        for by_type in _values(table.c.asset_type, _ASSET_TYPES, given="asset_type" in filters):
            yield [*model, by_state, by_type]
