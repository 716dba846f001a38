"""Spending: one row for each thing that was paid for, in whole parts of a credit, asked in SQL.

Generations come from the history; titles and scripts only stand in the ledger, so a service
without one has none of them here. Nothing is read into memory but the answer: groups and sums are
made where the rows are. What a credit is worth in money, from a day on, is kept on this computer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import pandas as pd

from kit.errors import ConfigError
from kit.explore.filters import Moment, parse_filter
from kit.explore.frames import PARTS, grouped, pointer, split_key
from kit.parameters import suggest
from kit.private import JsonLines

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.explore.archive import Archive
    from kit.explore.filters import HistoryFilter

#: The query behind the table ``spending``; charges become whole numbers once, here: the cast
#: takes the nearest.
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
#: What costs can be grouped by -> its expression; a clock's time where the days are is put in.
_GROUPS: Mapping[str, str] = {
    "model": "model_id",
    "model_id": "model_id",
    "kind": "kind",
    "asset_type": "asset_type",
    "status": "status",
    "source": "source",
    "error": "error",
    "hour": "date_trunc('hour', {clock})",
    "day": "({clock})::date::timestamp",
    "week": "date_trunc('week', {clock})::timestamp",
    "month": "date_trunc('month', {clock})::timestamp",
    "weekday": "dayname({clock})",
}
#: Groups of time, in which a frame has instants.
PERIODS = ("hour", "day", "week", "month")
_CURRENCY = re.compile("[A-Z]{3}")
#: Decimal places of a rate; sums of money are exact to them.
_PLACES = 9


class Rate(NamedTuple):
    """What a credit is worth from a moment on; without one, always."""

    since: datetime | None
    amount: Decimal


class Rates:
    """Rates by currency; the last one that was given for a moment counts."""

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines

    def add(
        self, currency: str, amount: Decimal | float | str | None, since: Moment | None = None
    ) -> None:
        """Write a rate down; None as the amount takes that of the same moment away.

        Raises `ConfigError`: the currency is no code of three capital letters, or the amount none
        above 0 with at most nine decimal places.
        """
        if not _CURRENCY.fullmatch(currency):
            raise ConfigError(f"a currency is a code such as EUR, not {currency!r}")
        if amount is not None and _read_amount(amount) is None:
            raise ConfigError(
                f"a rate is what one credit is worth: a number above 0 with at most {_PLACES} "
                f"decimal places, not {amount!r}"
            )
        start = parse_filter(since=since).since
        text = None if amount is None else str(amount)
        at = None if start is None else start.isoformat()
        self._lines.append({"currency": currency, "amount": text, "since": at})

    def all(self) -> Mapping[str, Sequence[Rate]]:
        """Return the rates of each currency, the newest first."""
        last = {(currency, rate.since): rate for currency, rate in self._read()}
        found: dict[str, list[Rate]] = {}
        for (currency, _), rate in last.items():
            if rate.amount:
                found.setdefault(currency, []).append(rate)
        for rates in found.values():
            rates.sort(key=lambda rate: rate.since.timestamp() if rate.since else 0, reverse=True)
        return dict(sorted(found.items()))

    def _read(self) -> Iterator[tuple[str, Rate]]:
        """Yield what was written, oldest first; what is no rate is passed over."""
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


def worth(dated: Sequence[Rate]) -> str:
    """Return the expression of what a part of a credit is worth at ``created_at``."""
    cases = []
    for since, amount in dated:
        when = f"created_at >= '{since.isoformat()}'::timestamptz" if since else "true"
        cases.append(f"when {when} then {amount / PARTS:.15f}::decimal(18, 15)")
    return f"case {' '.join(cases)} end"


def _read_amount(amount: Any) -> Decimal | None:
    """Return an amount that a rate may have; None for any other."""
    try:
        value = Decimal(str(amount))
    except InvalidOperation:
        return None
    fits = value.is_finite() and 0 < value < 1000 and value == round(value, _PLACES)
    return value if fits else None


class Spending:
    """What was paid for of a choice, as the table ``spending`` of a query.

    Raises `ConfigError`: there is no such time zone.

    `timezone`: where days begin.
    `rates`: what a credit is worth, by currency; see `Rates`.
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
        if self.timezone == "UTC":  # by day over twice as fast as any other
            self._clock = "make_timestamp(epoch_us(created_at))"
        self._where = choice.where if choice else ""
        self._values = choice.values if choice else []

    def ask(self, query: str, values: Sequence[Any] = (), **tables: pa.Table) -> pd.DataFrame:
        """Return what a query finds in ``spending`` and other tables, in parts of a credit."""
        from kit.explore import arrow

        # the values of the choice come first in the text, so they come first in the list
        text = f"with spending as (select * from {self._source} {self._where}) {query}"  # noqa: S608
        return arrow.frame(self._archive.ask(text, [*self._values, *values], **tables), index=None)

    def sums(self, names: Sequence[str], kept: Iterable[str] | None = None) -> pd.DataFrame:
        """Return ``count``, ``known``, ``charged``, ``refunded`` and ``net`` of each group.

        After them comes what the net is worth in each currency; it is missing where there is no
        rate for one of the charges.

        `kept`: ids that are counted in a column of their own, ``kept``.
        """
        import pyarrow as pa

        more = {} if kept is None else {"kept": pa.table({"id": pa.array(kept, pa.string())})}
        found = self.ask(self._sums(names, kept=bool(more)), **more)
        for name in names:
            if any(split_key(name)):
                found[name] = found[name].astype("object").map(_cell)
            elif name in PERIODS:
                found[name] = instants(found[name], self.timezone)
        return found

    def keys(self, column: str) -> list[str]:
        """Return the different keys in a column of objects, in their order."""
        query = f"select distinct unnest(json_keys({column})) as key from spending order by key"  # noqa: S608
        return list(self.ask(query)["key"])

    def daily(self) -> pd.DataFrame:
        """Return the sums of each day and model: ``day``, ``model_id``, ``net``."""
        return self.sums(("day", "model_id"))

    def balance(self, until: datetime) -> Decimal | None:
        """Return what could be spent at a moment, by the ledger; None where there is none."""
        summed = f"sum((credits * {PARTS})::bigint) as total"
        found = self.ask(f"select {summed} from usage where created_at < ?", [until])  # noqa: S608
        known = found["total"].dropna()
        return Decimal(int(known.iloc[0])) / PARTS if len(known) else None

    def _sums(self, names: Sequence[str], *, kept: bool) -> str:
        """Return the query of `sums`: groups of texts of objects, which are few, then of values."""
        inner, outer = [], []
        for name in names:
            title = '"' + name.replace('"', '""') + '"'
            column, key = split_key(name)
            text = grouped(column, key)
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
            "refunded": "coalesce(sum(charged - net), 0)",  # nothing of an unknown charge
            "net": "coalesce(sum(net), 0)",
        }
        inner = [*dict.fromkeys(inner), *(f"{sum_} as {n}" for n, sum_ in amounts.items())]
        outer += [f"sum({name}) as {name}" for name in amounts]
        for c in self.currencies:  # of which a part is missing, the whole is
            whole = 'case when count("{0}") = count({1}) then coalesce(sum("{0}"), 0) end as "{0}"'
            inner.append(whole.format(c, "net"))
            outer.append(whole.format(c, "*"))
        groups = f"select {', '.join(inner)} from spending group by all"  # noqa: S608
        return f"select {', '.join(outer)} from ({groups}) group by all"  # noqa: S608


def instants(clock: pd.Series[Any], timezone: str) -> pd.Series[Any]:
    """Return what a clock showed somewhere as instants of `kit.explore.frames.TIME`'s unit.

    An hour that a clock shows twice is the first of both.
    """
    first = [True] * len(clock)
    found = clock.dt.tz_localize(timezone, ambiguous=first, nonexistent="shift_forward")
    whole: pd.Series[Any] = found.astype(f"datetime64[us, {timezone}]")
    return whole


def find_timezone(name: str) -> ZoneInfo:
    """Return the time zone of a name."""
    try:
        return ZoneInfo(str(name))  # of pandas and Python, zones are objects, too
    except (ZoneInfoNotFoundError, ValueError, OSError):
        near = suggest(name, sorted(available_timezones()))
        raise ConfigError(f"there is no time zone {name!r}{near}") from None


def credits(amounts: Any) -> Any:
    """Return parts of a credit as float credits, rounded to the sixth decimal."""
    return (amounts.astype("float64") / PARTS).round(6)


def groups(columns: Iterable[str | Sequence[str]]) -> list[str]:
    """Return columns to group by, one by one or in lists, before anything is asked of a service.

    Raises `ConfigError`: there is no such column; the message names the closest.
    """
    names = [*dict.fromkeys(chain.from_iterable([c] if isinstance(c, str) else c for c in columns))]
    for name in names:
        if name not in _GROUPS and split_key(name)[0] not in ("parameters", "tags"):
            known = [*_GROUPS, "parameters.NAME", "tag.KEY"]
            own = f"; a tag is 'tag.{name}', a parameter 'parameters.{name}'"
            near = suggest(name, known) + (own if name.isidentifier() else "")
            raise ConfigError(f"costs cannot be grouped by {name!r}{near}")
    return names


def _cell(text: Any) -> Any:
    """Return the value of a JSON text; one that is no text or number stays JSON."""
    if text is None or text is pd.NA:
        return None
    value = json.loads(text)
    return value if value is None or isinstance(value, (str, int, float)) else text
