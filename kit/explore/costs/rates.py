"""Rates: what a credit is worth in money, from a day on, kept on this computer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from kit.errors import ConfigError
from kit.explore.filters import Moment, parse_filter
from kit.explore.schema import PARTS
from kit.private import JsonLines

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


def money(rates: Mapping[str, Sequence[Rate]]) -> str:
    """Return columns of a query: ``net`` in each currency, null before its first rate."""
    return "".join(f', net * {worth(dated)} as "{name}"' for name, dated in rates.items())


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
