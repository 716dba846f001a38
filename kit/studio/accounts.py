"""The account panel of a studio: the interface of `kit.widgets.account`, for one session."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import answers, calls, flows, profiles
from kit.client.calls import Flow
from kit.client.settings import Settings, resolve
from kit.errors import ConfigError
from kit.internet import origin
from kit.studio.generation import Session
from kit.studio.operations import Operations
from kit.widgets.account import AccountChoice, Spent
from kit.widgets.hosts import VOILA, find_host
from kit.widgets.markup import credits

if TYPE_CHECKING:
    from kit.widgets.account.panel import AccountPanel


@dataclass(frozen=True, slots=True, eq=False)
class AccountConnection:
    """One account at one service, with the name shown in the account switcher.

    `own` is the account of the studio in the user's cells; `saved` is its profile's name, if any.
    """

    name: str
    session: Session[Any]
    own: bool = False
    saved: str = ""

    @property
    def address(self) -> str:
        """The service's address; empty for the service in this process, whose address changes."""
        operations = self.session.operations
        return "" if operations.keys is not None else operations.settings.base_url

    def account(self) -> wire.Account:
        """Return the account; blocks."""
        return self.session.client.block(flows.ask(calls.get_account()))

    def close(self) -> None:
        """Close the connections after running requests; a later call opens new ones."""
        self.session.client.disconnect()


class AccountConnections:
    """The accounts of one panel; each is opened when it is first chosen.

    A page of Voilà is seen by visitors, not by the user who runs it: they see no saved profiles,
    and nothing that they type is saved; `is_public` is whether it is one.
    """

    def __init__(self, session: Session[Any]) -> None:
        operations = session.operations
        self.is_public = is_public_page()
        settings = operations.settings
        saved = "" if self.is_public or operations.keys is not None else settings.name
        name = settings.label
        self.own = AccountConnection(name, session, own=True, saved=saved)
        self._connect = "await kit.aconnect" if session.client.awaited else "kit.connect"
        self._lock = threading.Lock()
        self._opened: dict[str, AccountConnection] = {name: self.own}

    def choices(self) -> list[AccountChoice]:
        """Return the accounts to choose from, the studio's own first."""
        with self._lock:
            opened = dict(self._opened)
        saved = {} if self.is_public else {p.name: p.base_url for p in profiles.list_profiles()}
        found = [self.describe(connection) for connection in opened.values()]
        return found + [
            self._describe(name, address, name)
            for name, address in saved.items()
            if name not in opened
        ]

    def describe(self, one: AccountConnection) -> AccountChoice:
        """Return a connection as a choice of the account switcher."""
        return self._describe(one.name, one.address, one.saved, own=one.own)

    def open(self, name: str) -> AccountConnection:
        """Return a connection after testing its key; blocks."""
        with self._lock:
            opened = self._opened.get(name)
        if opened is not None:
            return opened
        if self.is_public:
            raise ConfigError(f"there is no account {name!r} on this page")
        settings = resolve(profile=name, data=self.own.session.operations.settings.data)
        assert settings is not None  # noqa: S101 - a profile that was asked for is there or raises
        connection = self._connection(name, settings, saved=name)
        _check_key(connection)
        return self._replace(connection)

    def enter(self, address: str, key: str, name: str) -> tuple[AccountConnection, str]:
        """Test a key, and save it if a name is given; return its connection and a message."""
        if name and self.is_public:
            raise ConfigError("keys cannot be saved here: leave the name empty")
        settings = Settings(address, key, data=self.own.session.operations.settings.data, name=name)
        saved_url = next((p.base_url for p in profiles.list_profiles() if p.name == name), None)
        if name and saved_url is not None and origin(saved_url) != origin(settings.base_url):
            raise ConfigError(f"the profile {name!r} is for {saved_url}: take another name")
        connection = self._connection(
            name or f"{settings.base_url} (not saved)", settings, saved=name
        )
        account = _check_key(connection)
        if name:
            profiles.save(settings.base_url, key, name=name)
        left = "" if account.credits is None else f", {credits(account.credits)}"
        note = f"; saved as {name!r}" if name else "; not saved"
        return self._replace(connection), f"signed in as {account.name or 'an account'}{left}{note}"

    def close(self) -> None:
        """Close the connections of all but the studio's own account."""
        with self._lock:
            connections = [connection for connection in self._opened.values() if not connection.own]
        for connection in connections:
            connection.close()

    def _connection(self, name: str, settings: Settings, saved: str) -> AccountConnection:
        own = self.own.session
        client = type(own.client)(settings)
        operations = Operations(settings, temporary=not saved)
        session = Session(operations, client, own.generation).remember()
        return AccountConnection(name, session, saved=saved)

    def _replace(self, connection: AccountConnection) -> AccountConnection:
        with self._lock:
            earlier = self._opened.get(connection.name)
            self._opened[connection.name] = connection
        if earlier is not None and not earlier.own:
            earlier.close()
        return connection

    def _describe(self, name: str, address: str, saved: str, *, own: bool = False) -> AccountChoice:
        where = "" if not address or address in name else f" · {address.partition('://')[2]}"
        choice = AccountChoice(name, f"{name}{where}", address, saved, own)
        if own:
            owner = "this page" if self.is_public else "the studio in your cells"
            return replace(choice, remark=f"This is the account of {owner}.")
        if self.is_public:
            remark = f"You are using {name!r}, not the account of this page."
            return replace(choice, saved="", remark=remark)
        remark = (
            f"Only this panel uses {name!r}. The studio in your cells still uses "
            f"{self.own.name!r}, and running jobs continue. To connect a cell:"
            if name != self.own.name
            else "This panel uses a new key. The studio in your cells still uses the old one. "
            "To connect a cell:"
        )
        call = f"{self._connect}(profile={saved!r})" if saved else f"kit.login({address!r})"
        return replace(choice, remark=remark, code=f"studio = {call}")


@dataclass(slots=True)
class AccountSwitcher:
    """The account switcher of one panel, as the widgets use it.

    `switch` switches to a connection; without it, the same widget shows the new `current`.
    """

    connections: AccountConnections
    current: AccountConnection
    switch: Callable[[AccountConnection], None] | None = None

    @property
    def active(self) -> str:
        """The name of the account that is shown."""
        return self.current.name

    def list_all(self) -> list[AccountChoice]:
        """Return all accounts, the studio's own first."""
        choices = self.connections.choices()
        if self.switch is None:
            return choices
        # for another account, a banner says so
        return [choice if choice.own else replace(choice, remark="", code="") for choice in choices]

    def choose(self, name: str) -> None:
        """Switch to an account after testing its key."""
        self._switch(self.connections.open(name))

    def enter(self, address: str, key: str, name: str) -> str:
        """Test a key, save it if a name is given, switch to it, and return a message."""
        connection, sentence = self.connections.enter(address, key, name)
        self._switch(connection)
        return sentence

    def _switch(self, connection: AccountConnection) -> None:
        if self.switch is None:
            self.current = connection
        else:
            self.switch(connection)


def is_public_page() -> bool:
    """Return whether this process serves a page of Voilà, which has visitors and no user."""
    return find_host() is VOILA


def _check_key(connection: AccountConnection) -> wire.Account:
    """Return the account; a connection that fails is closed."""
    try:
        return connection.account()
    except BaseException:
        connection.close()
        raise


#: Maximum of ledger entries read to add up a month.
_MAX_ENTRIES = 20_000


def account_panel(
    session: Session[Any], *, switcher: AccountSwitcher | None = None
) -> AccountPanel:
    """Return the account panel of a service, with its keys if the session can manage them.

    Without a `switcher`, switching accounts changes this panel alone.
    """
    from kit.widgets.account.panel import AccountPanel, Facts

    connections = AccountConnections(session)
    switcher = switcher or AccountSwitcher(connections, connections.own)

    def load() -> Facts:
        connection = switcher.current
        client = connection.session.client
        return Facts(client.settings.label, connection.account(), client.block(spent_lately()))

    keys = None if connections.is_public else session.operations.keys
    return AccountPanel(
        load, keys=keys, profiles=switcher, on_close=connections.close, subscribe=session.subscribe
    )


def spent_lately(now: datetime | None = None) -> Flow[Spent | None]:
    """Return the credits spent today and this month (UTC), or None without a ledger.

    As in `studio.costs`, a refund belongs to the day of its charge.
    """
    now = now or datetime.now(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    month = today.replace(day=1)
    call = calls.list_usage(limit=1000)
    try:
        rows = yield from flows.list_all(call, _MAX_ENTRIES, is_last=lambda e: e.created_at < month)
    except answers.UNKNOWN_PATH:
        return None

    def spent(since: datetime) -> Decimal:
        recent = [e for e in rows if e.kind != "grant" and e.created_at >= since]
        paid = {e.generation_id for e in recent if e.kind != "refund"} | {None}
        amounts = (-e.credits for e in recent if e.kind != "refund" or e.generation_id in paid)
        return sum(amounts, Decimal(0))

    notice = f"Only its newest {len(rows):,} entries were read, so it may be more."
    return Spent(spent(today), spent(month), (notice,) if len(rows) == _MAX_ENTRIES else ())
