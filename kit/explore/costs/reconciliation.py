"""Reconciling: ledger, balance, receipts and generations held against each other.

All amounts are compared as whole millicredits; a difference of one is a difference. What cannot be
checked at a service is said, and counts neither as right nor as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import pandas as pd

from kit.explore.charts.spec import Chart
from kit.explore.costs.frame import CostFrame, with_chart
from kit.pricing import MILLI

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.explore.costs.spending import Tables

_COLUMNS = {
    "check": "string",
    "subject": "string",
    "expected": "float64",
    "found": "float64",
    "difference": "float64",
    "agrees": "boolean",
    "note": "string",
}
_ALL = "all"
_LINES = """
lines as (
    select id, created_at, kind, generation_id, round(credits * 1000)::bigint as units,
        round(balance_after * 1000)::bigint as after
    from usage
)"""
#: Entries that go on from a balance that no other entry has left. In which order entries were
#: written does not matter: several of the same moment may be listed in another one.
_BROKEN = f"""
with {_LINES},
steps as (
    select value, sum(step) as steps from (
        select after as value, 1 as step from lines
        union all select after - units, -1 from lines
        union all select 0, 1
        union all select (select coalesce(sum(units), 0) from lines), -1
    ) group by value having sum(step) < 0
),
ordered as (
    select *, after - units as before,
        coalesce(lag(after) over (order by created_at, id), 0) as previous
    from lines
)
select id, previous as expected, before as found from ordered join steps on value = before
qualify row_number() over (partition by before order by created_at desc, id desc) <= -steps
"""  # noqa: S608 - names of its own
#: What each side says of each generation: a row for each that differs, one for all that agree.
_COMPARED = f"""
with {_LINES},
paid as (
    select generation_id as id,
        coalesce(sum(-units) filter (where kind <> 'refund'), 0) as charged,
        coalesce(sum(units) filter (where kind = 'refund'), 0) as refunded
    from lines where generation_id is not null group by generation_id
),
said as (
    select 'receipt' as part, id, units as found from receipts
    where id in (select id from generations)  -- accounts of one service share a journal
    union all
    select 'charge', id, round(credits * 1000)::bigint from generations
    where credits_source = 'service'
    union all
    select 'refund', id, round(credits_refunded * 1000)::bigint from generations
    where credits_refunded is not null
),
compared as (
    select part, said.id, found,
        coalesce(case when part = 'refund' then refunded else charged end, 0) as expected
    from said left join paid using (id)
)
select * from (
    select part, case when expected = found then '{_ALL}' else id end as subject,
        sum(expected) as expected, sum(found) as found
    from compared group by all
)
order by array_position(['receipt', 'charge', 'refund'], part), subject
"""  # noqa: S608 - names of its own
#: The same where there is no ledger: receipts against what the service says of its generations.
_UNBOOKED = f"""
select 'receipt' as part, case when expected = units then '{_ALL}' else id end as subject,
    sum(expected) as expected, sum(units) as found
from receipts join (
    select id, round(credits * 1000)::bigint as expected from generations
    where credits_source = 'service'
) using (id) group by all order by subject
"""  # noqa: S608
Row = tuple[str, str, float | None, float | None, float | None, bool | None, str | None]


def reconcile(
    tables: Tables,
    *,
    balance: Decimal | None = None,
    receipts: Mapping[str, Decimal] | None = None,
    ledger: bool = True,
    unlisted: int = 0,
) -> CostFrame:
    """Return every check with its figures, those that do not agree first.

    Parameters
    ----------
    tables : Tables
        The archive.
    balance : Decimal or None
        What the service says can be spent.
    receipts : mapping of str to Decimal, optional
        What this computer's starts were charged, by generation id.
    ledger : bool
        Whether the service has one.
    unlisted : int
        Generations that the service does not list.

    Returns
    -------
    CostFrame
        ``check`` (``balance``: the ledger adds up to it; ``chain``: each entry goes on from
        another; ``receipt``, ``charge``, ``refund``: of one generation, against the ledger),
        ``subject``, ``expected``, ``found``, ``difference`` (credits), ``agrees`` and ``note``.
        Checks of generations that agree are one row each, under the subject ``all``. Where
        ``agrees`` is missing, the check cannot be made at this service, and ``note`` says why. The
        ``attrs`` hold ``agrees``, ``problems`` and ``unchecked``.
    """
    checks = _booked if ledger else _unbooked
    rows = list(checks(tables, balance, receipts or {}))
    if unlisted:
        rows.append(
            _unchecked(
                "history",
                f"the service lists only its newest generations: {unlisted:,} are known because "
                "this computer started them, and what was started elsewhere before is not here",
            )
        )
    rows.sort(key=lambda row: (False, None, True).index(row[5]))
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    title = "Differences between ledger, receipts and generations"
    result = with_chart(
        table, Chart(kind="bars", x="check", y="difference", title=title, unit="credits")
    )
    problems = int((~table["agrees"].fillna(True)).sum())
    unchecked = int(table["agrees"].isna().sum())
    result.attrs.update(agrees=problems == 0, problems=problems, unchecked=unchecked)
    return result


def _booked(
    tables: Tables, balance: Decimal | None, receipts: Mapping[str, Decimal]
) -> Iterable[Row]:
    """Compare everything with the ledger."""
    [whole] = tables.ask(
        "select count(*) as entries, coalesce(sum(round(credits * 1000)::bigint), 0) as total, "
        "count(*) - count(balance_after) as silent from usage"
    ).to_pylist()
    if balance is not None:
        yield _row("balance", _ALL, _units(balance), int(whole["total"]))
    if whole["silent"]:
        yield _unchecked("chain", "entries of the ledger do not say what could be spent then")
    elif whole["entries"]:
        broken = tables.ask(_BROKEN).to_pylist()
        for line in broken:
            yield _row("chain", line["id"], int(line["expected"]), int(line["found"]))
        if not broken:
            yield _row("chain", _ALL, int(whole["total"]), int(whole["total"]))
    yield from _compared(tables, _COMPARED, receipts)


def _unbooked(
    tables: Tables, balance: Decimal | None, receipts: Mapping[str, Decimal]
) -> Iterable[Row]:
    """Compare receipts with what the service says of its generations; it has no ledger."""
    found = None if balance is None else float(balance)
    note = "the service has no ledger: what the balance is made of is not known"
    yield _unchecked("balance", note, found)
    yield from _compared(tables, _UNBOOKED, receipts)
    [silent] = tables.ask(
        "select count(*) as count, sum(round(credits * 1000)::bigint) as total from generations "
        "where credits_source = 'receipt'"
    ).to_pylist()
    if silent["count"]:
        note = (
            f"the service does not say what {silent['count']:,} generations were charged: the "
            "receipts of their starts are all that is known"
        )
        yield _unchecked("charge", note, float(silent["total"]) / MILLI)
    yield _unchecked("refund", "without a ledger nothing says what was refunded")


def _compared(tables: Tables, query: str, receipts: Mapping[str, Decimal]) -> Iterable[Row]:
    for line in tables.ask(query, receipts=_table(receipts)).to_pylist():
        yield _row(line["part"], line["subject"], int(line["expected"]), int(line["found"]))


def _table(receipts: Mapping[str, Decimal]) -> pa.Table:
    import pyarrow as pa

    units = pa.array([_units(amount) for amount in receipts.values()], pa.int64())
    return pa.table({"id": pa.array(list(receipts), pa.string()), "units": units})


def _row(check: str, subject: str, expected: int, found: int) -> Row:
    figures = (expected / MILLI, found / MILLI, (found - expected) / MILLI)
    return (check, subject, *figures, expected == found, None)


def _unchecked(check: str, note: str, found: float | None = None) -> Row:
    return (check, _ALL, None, found, None, None, note)


def _units(credits: Decimal) -> int:
    """Return whole millicredits; another service may charge in finer steps."""
    return int((credits * MILLI).to_integral_value())
