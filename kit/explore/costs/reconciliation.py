"""Reconciliation: checks that ledger, balance, receipts and generations agree.

Amounts are compared exactly, to a millionth of a credit. Checks that are impossible at a service
are reported as such, neither as passed nor as failed.
"""
# ruff: noqa: S608 - the queries contain only constant names

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd

from kit.explore.charts import Chart, CostFrame, with_chart
from kit.explore.frames import PARTS

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.explore.archive import Archive

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
#: Beside billions a double has no millionths, but the thousandths of our ledger.
_UNITS = f"if(abs({{0}}) < 9e9, ({{0}} * {PARTS})::bigint, ({{0}} * 1000)::bigint * 1000)"
_LINES = f"""
lines as (
    select id, created_at, kind, generation_id, {_UNITS.format("credits")} as units,
        {_UNITS.format("balance_after")} as after
    from usage
)"""
#: Totals of the ledger. Sums of hashes show in one pass, without memory, whether two sets are equal
#: in any order; only if they differ, all entries are compared one by one.
_LEDGER_TOTALS = f"""
with {_LINES}
select count(*) as entries, coalesce(sum(units), 0)::bigint as total,
    count(*) - count(after) as silent,
    sum(hash(after)) + hash(0::bigint) as reached,
    sum(hash(after - units)) + hash(sum(units)::bigint) as gone_on,
    coalesce(sum(hash(generation_id, -units)) filter (
        where kind <> 'refund' and units <> 0 and generation_id is not null), 0) as charge,
    coalesce(sum(hash(generation_id, units)) filter (
        where kind = 'refund' and units <> 0 and generation_id is not null), 0) as refund
from lines
"""
_REPORTED = f"""
said as (
    select id, (credits_refunded * {PARTS})::bigint as refund,
        case when credits_source = 'service' then (credits * {PARTS})::bigint end as charge
    from generations
)"""
#: Totals of all generations, to be compared with those of the ledger.
_GENERATION_TOTALS = f"""
with {_REPORTED}
select count(charge) as charges, coalesce(sum(charge), 0)::bigint as charge_total,
    count(refund) as refunds, coalesce(sum(refund), 0)::bigint as refund_total,
    coalesce(sum(hash(id, charge)) filter (where charge <> 0), 0) as charge,
    coalesce(sum(hash(id, refund)) filter (where refund <> 0), 0) as refund
from said
"""
#: Entries whose previous balance is not the result of another entry. The order does not matter:
#: entries of the same moment may be listed in any order.
_CHAIN_BREAKS = f"""
with {_LINES},
breaks as (
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
select id as subject, previous as expected, before as found
from ordered join breaks on value = before
qualify row_number() over (partition by before order by created_at desc, id desc) <= -steps
"""
_PAYMENTS = """
paid as (
    select generation_id as id,
        coalesce(sum(-units) filter (where kind <> 'refund'), 0) as charge,
        coalesce(sum(units) filter (where kind = 'refund'), 0) as refund
    from lines group by generation_id
)"""
#: Generations compared with the ledger: one row for each that differs, one for all that agree.
_DIFFERENCES = f"""
with {_LINES}, {_PAYMENTS}, {_REPORTED}
select case when expected = found then '{_ALL}' else id end as subject,
    sum(expected)::bigint as expected, sum(found)::bigint as found
from (
    select id, coalesce(paid.PART, 0) as expected, said.PART as found
    from said left join paid using (id) where said.PART is not null
) group by all order by subject
"""
#: Receipts of this computer compared with the ledger; accounts of a service share a journal.
_RECEIPT_DIFFERENCES = f"""
with {_LINES.replace("from usage", "from usage where generation_id in (select id from receipts)")},
{_PAYMENTS}
select case when coalesce(charge, 0) = units then '{_ALL}' else id end as subject,
    sum(coalesce(charge, 0))::bigint as expected, sum(units)::bigint as found
from receipts left join paid using (id)
where id in (select id from generations) group by all order by subject
"""
#: The same without a ledger: receipts compared with the generations of the service.
_RECEIPTS_WITHOUT_LEDGER = f"""
with {_REPORTED}
select case when charge = units then '{_ALL}' else id end as subject,
    sum(charge)::bigint as expected, sum(units)::bigint as found
from receipts join said using (id) where charge is not null group by all order by subject
"""
_UNSETTLED_NOTE = "charges were made while reading: try again when nothing is running"
Row = tuple[str, str, float | None, float | None, float | None, bool | None, str | None]


def reconcile(
    archive: Archive,
    *,
    balance: Decimal | None = None,
    receipts: Mapping[str, Decimal] | None = None,
    ledger: bool = True,
    unlisted: int = 0,
    settled: bool = True,
) -> CostFrame:
    """Return all checks with their figures, failed ones first.

    `receipts` are charges of starts on this computer, by generation id. `unlisted` is the number of
    generations that the service does not list. `settled` is whether nothing changed while the data
    was read; otherwise differences mean nothing.

    Columns: ``check`` (``balance``: the ledger adds up to it; ``chain``: each entry continues from
    another; ``receipt``, ``charge``, ``refund``: of one generation, compared with the ledger),
    ``subject``, ``expected``, ``found``, ``difference`` (credits), ``agrees`` and ``note``. Passed
    checks of generations are one row each, with the subject ``all``. If ``agrees`` is missing, the
    check is impossible at this service, and ``note`` says why. The ``attrs`` contain ``agrees``,
    ``problems`` and ``unchecked``.
    """
    checks = _check_ledger if ledger else _check_without_ledger
    rows = list(checks(archive, balance, receipts or {}))
    if not settled:
        rows = [row if row[5] is not False else (*row[:5], None, _UNSETTLED_NOTE) for row in rows]
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
    result = with_chart(table, Chart(kind="bars", x="check", y="difference", title=title))
    problems = int((~table["agrees"].fillna(True)).sum())
    unchecked = int(table["agrees"].isna().sum())
    result.attrs.update(agrees=problems == 0, problems=problems, unchecked=unchecked)
    return result


def _check_ledger(
    archive: Archive, balance: Decimal | None, receipts: Mapping[str, Decimal]
) -> Iterable[Row]:
    [ledger] = archive.ask(_LEDGER_TOTALS).to_pylist()
    if balance is not None:
        yield _row("balance", _ALL, _units(balance), ledger["total"])
    if ledger["entries"]:
        yield from _check_chain(archive, ledger)
    if receipts:
        yield from _compare(archive, "receipt", _RECEIPT_DIFFERENCES, receipts=_table(receipts))
    [reported] = archive.ask(_GENERATION_TOTALS).to_pylist()
    for part in ("charge", "refund"):
        total = reported[f"{part}_total"]
        if reported[part] != ledger[part]:
            yield from _compare(archive, part, _DIFFERENCES.replace("PART", part))
        elif reported[f"{part}s"]:
            yield _row(part, _ALL, total, total)


def _check_chain(archive: Archive, ledger: Mapping[str, Any]) -> Iterable[Row]:
    """Check that each entry continues from the balance of another entry."""
    if ledger["silent"]:
        yield _cannot_check("chain", "entries of the ledger have no balance")
    elif ledger["reached"] == ledger["gone_on"]:
        yield _row("chain", _ALL, ledger["total"], ledger["total"])
    else:
        yield from _compare(archive, "chain", _CHAIN_BREAKS)


def _check_without_ledger(
    archive: Archive, balance: Decimal | None, receipts: Mapping[str, Decimal]
) -> Iterable[Row]:
    """Compare receipts with the generations of a service without a ledger."""
    found = None if balance is None else float(balance)
    note = "without a ledger, the balance cannot be checked"
    yield _cannot_check("balance", note, found)
    yield from _compare(archive, "receipt", _RECEIPTS_WITHOUT_LEDGER, receipts=_table(receipts))
    [missing] = archive.ask(
        "select count(*) as count, count(credits) as receipts, "
        f"coalesce(sum((credits * {PARTS})::bigint), 0) as total from "
        "(select if(credits_source = 'receipt', credits, null) as credits from generations "
        "where credits_source <> 'service')"
    ).to_pylist()
    if missing["count"]:
        note = (
            f"the service does not say what {missing['count']:,} generations were charged: there "
            f"are receipts of {missing['receipts']:,} of them"
        )
        yield _cannot_check("charge", note, float(missing["total"]) / PARTS)
    yield _cannot_check("refund", "without a ledger, refunds cannot be checked")


def _compare(archive: Archive, check: str, query: str, **tables: pa.Table) -> Iterable[Row]:
    for line in archive.ask(query, **tables).to_pylist():
        yield _row(check, line["subject"], line["expected"], line["found"])


def _table(receipts: Mapping[str, Decimal]) -> pa.Table:
    import pyarrow as pa

    units = pa.array([_units(amount) for amount in receipts.values()], pa.int64())
    return pa.table({"id": pa.array(list(receipts), pa.string()), "units": units})


def _row(check: str, subject: str, expected: int, found: int) -> Row:
    figures = (expected / PARTS, found / PARTS, (found - expected) / PARTS)
    return (check, subject, *figures, expected == found, None)


def _cannot_check(check: str, note: str, found: float | None = None) -> Row:
    return (check, _ALL, None, found, None, None, note)


def _units(credits: Decimal) -> int:
    return int((credits * PARTS).to_integral_value())
