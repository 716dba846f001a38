"""The account panel of a studio: what `kit.widgets.account` needs, on one session."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import calls, flows
from kit.client.actions import Flow
from kit.client.calls import Call
from kit.errors import InsufficientScopeError, MethodNotAllowedError, NotFoundError
from kit.studio.connections import AccountConnections, AccountSwitcher
from kit.studio.session import Session
from kit.widgets.keys import Spent

if TYPE_CHECKING:
    from kit.widgets.account import AccountPanel

#: Pages of the ledger that are read at most to add up a month.
_PAGES = 20
#: Kinds of entries that take credits. Source: contract, "Generations".
_CHARGES = frozenset({"generation", "title", "script"})


def account_panel(
    session: Session[Any], *, switcher: AccountSwitcher | None = None
) -> AccountPanel:
    """Return the account panel of a service; its keys where the session can manage them.

    Parameters
    ----------
    switcher : AccountSwitcher, optional
        How to go over to another profile; by itself the panel goes over alone.
    """
    from kit.widgets.account import AccountPanel, Facts

    connections = AccountConnections(session)
    switcher = switcher or AccountSwitcher(connections)

    def look() -> Facts:
        connection = switcher.at
        settings = connection.session.operations.settings
        return Facts(
            settings.name or settings.base_url,
            connection.account(),
            connection.session.client.block(spent_lately()),
        )

    keys = None if connections.visitors else session.operations.keys
    return AccountPanel(look, keys=keys, profiles=switcher, on_close=connections.close)


def spent_lately(now: datetime | None = None) -> Flow[Spent | None]:
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
    malformed = sorted({e.kind for e in entries} - _CHARGES - {"refund", "grant"})
    if malformed:
        kinds = ", ".join(map(repr, malformed))
        yield f"It has entries of a kind not known here ({kinds}): what they took counts."
    if any(e.kind in _CHARGES and e.credits > 0 for e in entries):
        yield "Some charges have no minus sign there and count as spent all the same."
