"""Reconciling: ledger, balance, receipts and generations held against each other.

All amounts are compared as whole millicredits; a difference of one is a difference. What cannot be
checked at a service is said, and counts neither as right nor as wrong.
"""
# ruff: noqa: S608 - the queries are made of names of their own

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
#: Balances that entries go on from and that no other entry has left. In which order entries were
#: written does not matter: several of the same moment may be listed in another one.
_BREAKS = f"""
with {_LINES}
select value, sum(step) as steps from (
    select after as value, 1 as step from lines
    union all select after - units, -1 from lines
    union all select 0, 1
    union all select (select coalesce(sum(units), 0) from lines), -1
) group by value having sum(step) < 0
"""
#: The entries that go on from these.
_BROKEN = f"""
with {_LINES},
ordered as (
    select *, after - units as before,
        coalesce(lag(after) over (order by created_at, id), 0) as previous
    from lines
)
select 'chain' as part, id as subject, previous as expected, before as found
from ordered join breaks on value = before
qualify row_number() over (partition by before order by created_at desc, id desc) <= -steps
"""
#: What the service says of each generation, beside what the ledger says.
_JOINED = f"""
with {_LINES},
paid as (
    select generation_id as id,
        coalesce(sum(-units) filter (where kind <> 'refund'), 0) as charged,
        coalesce(sum(units) filter (where kind = 'refund'), 0) as refunded
    from lines where generation_id is not null group by generation_id
),
joined as (
    select id, coalesce(charged, 0) as charged, coalesce(refunded, 0) as refunded,
        case when credits_source = 'service' then round(credits * 1000)::bigint end as charge,
        round(credits_refunded * 1000)::bigint as refund
    from generations left join paid using (id)
)"""
#: How many agree and what they come to, and how many do not: one look at everything.
_TALLIES = f"""{_JOINED}
select count_if(charge = charged) as charges, sum(charge) filter (where charge = charged) as charge,
    count_if(charge <> charged) as wrong_charges,
    count_if(refund = refunded) as refunds, sum(refund) filter (where refund = refunded) as refund,
    count_if(refund <> refunded) as wrong_refunds
from joined
"""
_DIFFERENT = f"""{_JOINED}
select 'charge' as part, id as subject, charged as expected, charge as found
from joined where charge <> charged
union all
select 'refund', id, refunded, refund from joined where refund <> refunded
order by part, subject
"""
#: Receipts of this computer against the ledger; accounts of one service share a journal.
_RECEIPTS = f"""{_JOINED}
select 'receipt' as part, case when charged = units then '{_ALL}' else id end as subject,
    sum(charged) as expected, sum(units) as found
from receipts join joined using (id) group by all order by subject
"""
#: The same where there is no ledger: receipts against what the service says of its generations.
_UNBOOKED = f"""
select 'receipt' as part, case when expected = units then '{_ALL}' else id end as subject,
    sum(expected) as expected, sum(units) as found
from receipts join (
    select id, round(credits * 1000)::bigint as expected from generations
    where credits_source = 'service'
) using (id) group by all order by subject
"""
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
    checks = _check_ledger if ledger else _check_without_ledger
    rows = list(checks(tables, balance, receipts or {}))
    if unlisted:
        rows.append(
            _cannot_check(
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


def _check_ledger(
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
        yield _cannot_check("chain", "entries of the ledger do not say what could be spent then")
    elif whole["entries"]:
        breaks = tables.ask(_BREAKS)
        if breaks.num_rows:
            yield from _compare(tables, _BROKEN, breaks=breaks)
        else:
            yield _row("chain", _ALL, int(whole["total"]), int(whole["total"]))
    if receipts:
        yield from _compare(tables, _RECEIPTS, receipts=_table(receipts))
    yield from _compare_generations(tables)


def _compare_generations(tables: Tables) -> Iterable[Row]:
    [tally] = tables.ask(_TALLIES).to_pylist()
    if tally["wrong_charges"] or tally["wrong_refunds"]:
        yield from _compare(tables, _DIFFERENT)
    for part in ("charge", "refund"):
        if tally[f"{part}s"]:
            yield _row(part, _ALL, int(tally[part]), int(tally[part]))


def _check_without_ledger(
    tables: Tables, balance: Decimal | None, receipts: Mapping[str, Decimal]
) -> Iterable[Row]:
    """Compare receipts with what the service says of its generations; it has no ledger."""
    found = None if balance is None else float(balance)
    note = "the service has no ledger: what the balance is made of is not known"
    yield _cannot_check("balance", note, found)
    yield from _compare(tables, _UNBOOKED, receipts=_table(receipts))
    [silent] = tables.ask(
        "select count(*) as count, sum(round(credits * 1000)::bigint) as total from generations "
        "where credits_source = 'receipt'"
    ).to_pylist()
    if silent["count"]:
        note = (
            f"the service does not say what {silent['count']:,} generations were charged: the "
            "receipts of their starts are all that is known"
        )
        yield _cannot_check("charge", note, float(silent["total"]) / MILLI)
    yield _cannot_check("refund", "without a ledger nothing says what was refunded")


def _compare(tables: Tables, query: str, **more: pa.Table) -> Iterable[Row]:
    for line in tables.ask(query, **more).to_pylist():
        yield _row(line["part"], line["subject"], int(line["expected"]), int(line["found"]))


def _table(receipts: Mapping[str, Decimal]) -> pa.Table:
    import pyarrow as pa

    units = pa.array([_units(amount) for amount in receipts.values()], pa.int64())
    return pa.table({"id": pa.array(list(receipts), pa.string()), "units": units})


def _row(check: str, subject: str, expected: int, found: int) -> Row:
    figures = (expected / MILLI, found / MILLI, (found - expected) / MILLI)
    return (check, subject, *figures, expected == found, None)


def _cannot_check(check: str, note: str, found: float | None = None) -> Row:
    return (check, _ALL, None, found, None, None, note)


def _units(credits: Decimal) -> int:
    """Return whole millicredits; another service may charge in finer steps."""
    return int((credits * MILLI).to_integral_value())
