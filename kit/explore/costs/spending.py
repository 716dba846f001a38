"""Spending: a table with one row per charge, as integers in parts of a credit, queried with SQL.

Generations come from the history; titles and scripts come from the ledger, so they are missing if
the service has none. Only results are read into memory: DuckDB computes groups and sums from the
files. The values of a credit in money are kept on this computer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from kit.errors import ConfigError
from kit.explore.filters import Moment, find_timezone, parse_filter
from kit.explore.frames import PARTS, grouping_column, pointer, split_key
from kit.parameters import suggest
from kit.private import JsonLines

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.explore.archive import Archive
    from kit.explore.filters import HistoryFilter

#: The query behind the table ``spending``; charges become integers only here: the cast rounds to
#: the nearest.
_SPENDING = f"""
select *, charged - refunded as net from (
    select id, 'generation' as kind, model_id, asset_type, status, created_at,
        (credits * {PARTS})::bigint as charged,
        coalesce((credits_refunded * {PARTS})::bigint, 0) as refunded,
        credits_source as source, prompt, error, parameters, tags, settings
    from all_generations
    union all
    select id, kind, kind, 'text', 'completed', created_at,
        -(credits * {PARTS})::bigint, 0, 'service', null, null, null, null, null
    from usage where kind in ('title', 'script')
)
"""  # noqa: S608
#: Columns to group by -> SQL expressions, into which the expression of local time is inserted.
_GROUPS: Mapping[str, str] = {
    "model": "model_id",
    "model_id": "model_id",
    "kind": "kind",
    "asset_type": "asset_type",
    "status": "status",
    "source": "source",
    "error": "error",
    "hour": "created_at - ({clock} - date_trunc('hour', {clock}))",
    "day": "({clock})::date::timestamp",
    "week": "date_trunc('week', {clock})::timestamp",
    "month": "date_trunc('month', {clock})::timestamp",
    "weekday": "dayname({clock})",
}
#: Groups of time, whose values are instants.
PERIODS = ("hour", "day", "week", "month")
_CURRENCY = re.compile("[A-Z]{3}")
#: Decimal places of a rate; sums of money are exact to them.
_DECIMALS = 9


class Rate(NamedTuple):
    """The value of a credit from a moment on; without one, for all time."""

    since: datetime | None
    amount: Decimal


class Rates:
    """Rates by currency; a later rate for the same moment replaces the earlier one."""

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines

    def add(
        self, currency: str, amount: Decimal | float | str | None, since: Moment | None = None
    ) -> None:
        """Save a rate; None as the amount removes the rate of the same moment.

        Raises `ConfigError` if the currency is not a code of three capital letters, or the amount
        is not above 0 with at most nine decimal places.
        """
        if not _CURRENCY.fullmatch(currency):
            raise ConfigError(f"a currency is a code such as EUR, not {currency!r}")
        if amount is not None and _read_amount(amount) is None:
            raise ConfigError(
                f"a rate is what one credit is worth: a number above 0 with at most {_DECIMALS} "
                f"decimal places, not {amount!r}"
            )
        start = parse_filter(since=since).since
        text = None if amount is None else str(amount)
        at = None if start is None else start.isoformat()
        self._lines.append({"currency": currency, "amount": text, "since": at})

    def all(self) -> Mapping[str, Sequence[Rate]]:
        """Return the rates of each currency, newest first."""
        last = {(currency, rate.since): rate for currency, rate in self._read()}
        found: dict[str, list[Rate]] = {}
        for (currency, _), rate in last.items():
            if rate.amount:
                found.setdefault(currency, []).append(rate)
        for rates in found.values():
            rates.sort(key=lambda rate: rate.since.timestamp() if rate.since else 0, reverse=True)
        return dict(sorted(found.items()))

    def _read(self) -> Iterator[tuple[str, Rate]]:
        """Yield the saved rates, oldest first; invalid lines are skipped."""
        for line in self._lines:
            currency, amount, since = (line.get(name) for name in ("currency", "amount", "since"))
            if not _CURRENCY.fullmatch(str(currency)):
                continue
            try:
                start = None if since is None else datetime.fromisoformat(str(since))
            except ValueError:
                continue
            value = Decimal(0) if amount is None else _read_amount(amount)
            if value is not None and (start is None or start.tzinfo):
                yield str(currency), Rate(start, value)


def worth(rates: Sequence[Rate]) -> str:
    """Return the SQL expression for the value of a part of a credit at ``created_at``."""
    cases = []
    for since, amount in rates:
        when = f"created_at >= '{since.isoformat()}'::timestamptz" if since else "true"
        cases.append(f"when {when} then {amount / PARTS:.15f}::decimal(18, 15)")
    return f"case {' '.join(cases)} end"


def _read_amount(amount: Any) -> Decimal | None:
    """Parse the amount of a rate; None if it is invalid."""
    try:
        value = Decimal(str(amount))
    except InvalidOperation:
        return None
    is_valid = value.is_finite() and 0 < value < 1000 and value == round(value, _DECIMALS)
    return value if is_valid else None


class Spending:
    """The charges that match a filter, as the table ``spending`` of a query.

    Raises `ConfigError` for an unknown time zone.

    `timezone`: time zone of days, weeks and months.
    `rates`: values of a credit by currency; see `Rates`.
    """

    def __init__(
        self,
        archive: Archive,
        choice: HistoryFilter | None = None,
        timezone: str = "UTC",
        rates: Mapping[str, Sequence[Rate]] | None = None,
    ) -> None:
        self._archive = archive
        self.rates = dict(rates or {})
        self.currencies = list(self.rates)
        worths = (f', net * {worth(d)} as "{name}"' for name, d in self.rates.items())
        self._source = f"(select *{''.join(worths)} from ({_SPENDING}))"  # noqa: S608
        self.timezone = find_timezone(timezone).key
        self._clock = f"timezone('{self.timezone}', created_at)"
        if self.timezone == "UTC":  # grouping by day is over twice as fast as in other zones
            self._clock = "make_timestamp(epoch_us(created_at))"
        self._where = choice.where if choice else ""
        self._values = choice.values if choice else []

    def ask(self, query: str, values: Sequence[Any] = (), **tables: pa.Table) -> pd.DataFrame:
        """Run a query on ``spending`` and other tables; amounts are in parts of a credit."""
        from kit.explore import arrow

        # the values of the filter come first in the text, so they come first in the list
        text = f"with spending as (select * from {self._source} {self._where}) {query}"  # noqa: S608
        return arrow.frame(self._archive.ask(text, [*self._values, *values], **tables), index=None)

    def sums(self, names: Sequence[str], kept: Iterable[str] | None = None) -> pd.DataFrame:
        """Return ``count``, ``known``, ``charged``, ``refunded`` and ``net`` of each group.

        The net in each currency follows; it is missing if there is no rate for one of the charges.

        `kept`: ids that are counted in a separate column, ``kept``.
        """
        import pyarrow as pa

        tables = {} if kept is None else {"kept": pa.table({"id": pa.array(kept, pa.string())})}
        found = self.ask(self._sums(names, kept=bool(tables)), **tables)
        for name in names:
            if any(split_key(name)):
                found[name] = _make_column([_cell(text) for text in found[name]])
            elif name == "hour":  # an instant, as an hour of the clock may come twice
                found[name] = found[name].dt.tz_convert(self.timezone)
            elif name in PERIODS:
                found[name] = instants(found[name], self.timezone)
        return found

    def keys(self, column: str) -> list[str]:
        """Return the distinct keys in a column of objects, sorted."""
        query = f"select distinct unnest(json_keys({column})) as key from spending order by key"  # noqa: S608
        return list(self.ask(query)["key"])

    def daily(self) -> pd.DataFrame:
        """Return the sums of each day and model: ``day``, ``model_id``, ``net``."""
        return self.sums(("day", "model_id"))

    def undated(self) -> int:
        """Return the number of charges without a time, which are missing in any period."""
        query = f"select count(*) as n from ({_SPENDING}) where created_at is null"  # noqa: S608
        return int(self._archive.ask(query)["n"][0].as_py()) if self._where else 0

    def balance(self, until: datetime) -> Decimal | None:
        """Return the balance at a moment according to the ledger; None if there is none."""
        summed = f"sum((credits * {PARTS})::bigint) as total"
        found = self.ask(f"select {summed} from usage where created_at < ?", [until])  # noqa: S608
        totals = found["total"].dropna()
        return Decimal(int(totals.iloc[0])) / PARTS if len(totals) else None

    def _sums(self, names: Sequence[str], *, kept: bool) -> str:
        """Return the query of `sums`: it groups by JSON texts, which are few, then by values."""
        inner, outer = [], []
        for name in names:
            title = '"' + name.replace('"', '""') + '"'
            column, key = split_key(name)
            text = grouping_column(column, key)
            path = pointer(key).replace("'", "''")
            value = f"json_extract({text}, '{path}')"
            if not column:
                value = _GROUPS[name].format(clock=self._clock)
            if column and text != "parameters":
                inner.append(text)
                outer.append(f"{value} as {title}")
            else:
                inner.append(f"{value} as {title}")
                outer.append(title)
        amounts = {
            "count": "count(*)",
            **({"kept": "count(*) filter (where id in (select id from kept))"} if kept else {}),
            "known": "count(charged)",
            "charged": "coalesce(sum(charged), 0)",
            "refunded": "coalesce(sum(charged - net), 0)",  # zero for an unknown charge
            "net": "coalesce(sum(net), 0)",
        }
        inner = [*dict.fromkeys(inner), *(f"{sum_} as {n}" for n, sum_ in amounts.items())]
        outer += [f"sum({name}) as {name}" for name in amounts]
        for c in self.currencies:  # the sum is missing if a part is
            whole = 'case when count("{0}") = count({1}) then coalesce(sum("{0}"), 0) end as "{0}"'
            inner.append(whole.format(c, "net"))
            outer.append(whole.format(c, "*"))
        groups = f"select {', '.join(inner)} from spending group by all"  # noqa: S608
        return f"select {', '.join(outer)} from ({groups}) group by all"  # noqa: S608


def instants(clock: pd.Series[Any], timezone: str) -> pd.Series[Any]:
    """Convert local times to instants in the unit of `kit.explore.frames.TIME`.

    An ambiguous hour is the earlier one.
    """
    first = [True] * len(clock)
    found = clock.dt.tz_localize(timezone, ambiguous=first, nonexistent="shift_forward")
    whole: pd.Series[Any] = found.astype(f"datetime64[us, {timezone}]")
    return whole


def credits(amounts: Any) -> Any:
    """Convert parts of a credit to float credits, rounded to six decimals."""
    return (amounts.astype("float64") / PARTS).round(6)


def groups(columns: Iterable[str | Sequence[str]]) -> list[str]:
    """Return columns to group by, given separately or in lists.

    Raises `ConfigError` for an unknown column; the message suggests the closest.
    """
    names = [*dict.fromkeys(chain.from_iterable([c] if isinstance(c, str) else c for c in columns))]
    for name in names:
        if name not in _GROUPS and split_key(name)[0] not in ("parameters", "tags"):
            known = [*_GROUPS, "parameters.NAME", "tag.KEY"]
            example = f"; a tag is 'tag.{name}', a parameter 'parameters.{name}'"
            hint = suggest(name, known) + (example if name.isidentifier() else "")
            raise ConfigError(f"costs cannot be grouped by {name!r}{hint}")
    return names


def _make_column(values: Sequence[Any]) -> pd.Series[Any]:
    """Return values as a column; integers stay exact, as in dataframes of the history."""
    known = [value for value in values if value is not None]
    if not known or any(type(value) is not int for value in known):
        return pd.Series(values)
    if max(map(abs, known)) < 2**63:
        return pd.Series(values, dtype="Int64")
    return pd.Series([None if v is None else str(v) for v in values], dtype="string")


def _cell(text: Any) -> Any:
    """Parse a JSON text; values other than texts and numbers stay JSON."""
    if text is None or text is pd.NA:
        return None
    value = json.loads(text)
    return value if value is None or isinstance(value, (str, int, float)) else text
