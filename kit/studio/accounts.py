"""The account panel of a studio: what `kit.widgets.account` needs, made of a desk and a client."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from kit import wire
from kit.client import calls, flows
from kit.client.calls import Call
from kit.client.steps import Flow
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
    """Return what was spent today and this month (UTC), or None where there is no ledger."""
    now = now or datetime.now(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    month = today.replace(day=1)
    entries: list[wire.Entry] = []
    call: Call[list[wire.Entry]] = calls.list_usage(limit=1000)
    try:
        for _ in range(_PAGES):
            found = yield from flows.page(call)
            entries += found.items
            if not found.items or not found.following or found.items[-1].created_at < month:
                break
            call = found.following
    except (NotFoundError, MethodNotAllowedError, InsufficientScopeError):
        return None
    return Spent(_sum(entries, today), _sum(entries, month))


def _sum(entries: list[wire.Entry], since: datetime) -> Decimal:
    spent = (e.credits for e in entries if e.kind != "grant" and e.created_at >= since)
    return -sum(spent, Decimal(0))
