"""The account panel of a studio: what `kit.widgets.account` needs, made of a desk and a client."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from kit import wire
from kit.client import calls, flows
from kit.client.actions import Flow
from kit.client.calls import Call
from kit.errors import InsufficientScopeError, MethodNotAllowedError, NotFoundError
from kit.studio.accounts_seats import Chair, Seats
from kit.studio.desk import Desk
from kit.widgets.keys import Spent

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client
    from kit.widgets.account import AccountPanel

#: Pages of the ledger that are read at most to add up a month.
_PAGES = 20
#: Kinds of entries that take credits. Source: contract, "Generations".
_CHARGES = frozenset({"generation", "title", "script"})


def panel(desk: Desk, client: Client | AsyncClient, *, chair: Chair | None = None) -> AccountPanel:
    """Return the account panel of a service; its keys where the desk can manage them.

    Parameters
    ----------
    chair : Chair, optional
        How to go over to another profile; by itself the panel goes over alone.
    """
    from kit.widgets.account import AccountPanel, Facts

    seats = Seats(desk, client)
    sitting = chair or Chair(seats)

    def look() -> Facts:
        seat = sitting.at
        settings = seat.desk.settings
        return Facts(settings.name or settings.base_url, seat.account(), seat.client.block(spent()))

    keys = None if seats.visitors else desk.keys
    return AccountPanel(look, keys=keys, profiles=sitting, on_close=seats.close)


def spent(now: datetime | None = None) -> Flow[Spent | None]:
    """Return what was spent today and this month (UTC), or None where there is no ledger.

    A ledger of another making may hold what is not known here; what was made of that is said.
    """
    now = now or datetime.now(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    month = today.replace(day=1)
    entries: list[wire.Entry] = []
    call: Call[list[wire.Entry]] = calls.list_usage(limit=1000)
    whole = False
    try:
        for _ in range(_PAGES):
            found = yield from flows.page(call)
            entries += found.items
            whole = not found.items or not found.following or found.items[-1].created_at < month
            if whole or not found.following:
                break
            call = found.following
    except (NotFoundError, MethodNotAllowedError, InsufficientScopeError):
        return None
    counted = [e for e in entries if e.created_at >= month]
    return Spent(_sum(counted, today), _sum(counted, month), tuple(_doubts(counted, whole)))


def _sum(entries: list[wire.Entry], since: datetime) -> Decimal:
    return sum((_taken(e) for e in entries if e.created_at >= since), Decimal(0))


def _taken(entry: wire.Entry) -> Decimal:
    """Return what an entry took; less than nothing where it gave some of that back."""
    if entry.kind in _CHARGES:
        return abs(entry.credits)
    if entry.kind == "refund":
        return -abs(entry.credits)
    return Decimal(0) if entry.kind == "grant" else max(-entry.credits, Decimal(0))


def _doubts(entries: list[wire.Entry], whole: bool) -> Iterator[str]:
    """Yield why the sum may be wrong."""
    if not whole:
        yield f"Only its newest {len(entries):,} entries were read, so it may be more."
    odd = sorted({e.kind for e in entries} - _CHARGES - {"refund", "grant"})
    if odd:
        kinds = ", ".join(map(repr, odd))
        yield f"It has entries of a kind not known here ({kinds}): what they took counts."
    if any(e.kind in _CHARGES and e.credits > 0 for e in entries):
        yield "Some charges have no minus sign there and count as spent all the same."
