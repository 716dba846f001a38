"""Seats: the accounts that a panel can work with, the studio's own and those of saved profiles.

Going over to another never touches the studio in the user's cells, nor what was started before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kit import wire
from kit.client import calls, flows, profiles
from kit.client.settings import Settings, origin, resolve
from kit.errors import ConfigError
from kit.studio.desk import Desk
from kit.widgets.cards import credits
from kit.widgets.keys import Place

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """One account at one service.

    Parameters
    ----------
    name : str
        What it is chosen by.
    own : bool
        Whether it is the one of the studio in the user's cells.
    saved : str
        The name of its profile; empty where it is not saved.
    """

    name: str
    desk: Desk
    client: Client | AsyncClient
    own: bool = False
    saved: str = ""

    @property
    def address(self) -> str:
        """Where the service is; empty for the one inside this process, which moves."""
        return "" if self.desk.keys is not None else self.desk.settings.base_url

    def account(self) -> wire.Account:
        """Return who pays; it blocks."""
        return self.client.block(flows.ask(calls.get_account()))

    def close(self) -> None:
        """Close the connections; what is under way ends first, and a later call opens its own."""
        closing = self.client.close()
        if closing is not None:
            from kit.client.bridge import bridge  # loads an event loop, which blocking code lacks

            bridge.submit(closing)


class Seats:
    """The accounts of one panel; each is opened when it is first chosen.

    Parameters
    ----------
    desk, client
        Of the studio in the user's cells.
    visitors : bool, optional
        Whether who looks at it is not who runs it: visitors are shown no saved profiles, and
        nothing that they type is saved. By default whether this is a page of Voilà's.
    """

    def __init__(
        self, desk: Desk, client: Client | AsyncClient, *, visitors: bool | None = None
    ) -> None:
        self.visitors = published() if visitors is None else visitors
        settings = desk.settings
        saved = "" if self.visitors or desk.keys is not None else settings.name
        name = settings.name or settings.base_url
        self.own = Seat(name, desk, client, own=True, saved=saved)
        awaited = hasattr(client, "__aenter__")
        self._connect = "await kit.aconnect" if awaited else "kit.connect"
        self._lock = threading.Lock()
        self._open: dict[str, Seat] = {name: self.own}

    def places(self) -> list[Place]:
        """Return what there is to choose from, the studio's own first."""
        with self._lock:
            open_now = dict(self._open)
        saved = {} if self.visitors else {p.name: p.base_url for p in profiles.known()}
        found = [self.place(seat) for seat in open_now.values()]
        return found + [
            self._described(name, address, name)
            for name, address in saved.items()
            if name not in open_now
        ]

    def place(self, seat: Seat) -> Place:
        """Return what is said of a seat."""
        if seat.own:
            label = _label(seat.name, seat.address)
            whose = "this page" if self.visitors else "the studio in your cells"
            remark = f"This is the account of {whose}."
            return Place(seat.name, label, seat.address, seat.saved, own=True, remark=remark)
        return self._described(seat.name, seat.desk.settings.base_url, seat.saved)

    def open(self, name: str) -> Seat:
        """Return a seat, having tried its key; it blocks.

        Raises
        ------
        ConfigError
            There is no such profile any more.
        InvalidApiKeyError
            The service does not know the key.
        """
        with self._lock:
            known = self._open.get(name)
        if known is not None:
            return known
        if self.visitors:
            raise ConfigError(f"there is no account {name!r} on this page")
        settings = resolve(profile=name, data=self.own.desk.settings.data)
        assert settings is not None  # noqa: S101 - a profile that was asked for is there or raises
        seat = self._seat(name, settings, saved=name)
        _tried(seat)
        return self._taken(seat)

    def enter(self, address: str, key: str, name: str) -> tuple[Seat, str]:
        """Try a key, save it where it has a name, and return its seat and a sentence; it blocks.

        Raises
        ------
        ConfigError
            The name is taken by another service, or what was given cannot be right.
        InvalidApiKeyError
            The service does not know the key; nothing was saved.
        """
        if name and self.visitors:
            raise ConfigError("this page saves no keys: leave the name empty")
        settings = Settings(address, key, data=self.own.desk.settings.data, name=name)
        _unused(name, settings.base_url)
        seat = self._seat(name or f"{settings.base_url} (not saved)", settings, saved=name)
        account = _tried(seat)
        if name:
            profiles.save(settings.base_url, key, name=name)
        left = "" if account.credits is None else f", {credits(account.credits)}"
        kept = f"; saved as {name!r}" if name else "; not saved"
        return self._taken(seat), f"signed in as {account.name or 'an account'}{left}{kept}"

    def close(self) -> None:
        """Close the connections of all but the studio's own account."""
        with self._lock:
            seats = [seat for seat in self._open.values() if not seat.own]
        for seat in seats:
            seat.close()

    def _seat(self, name: str, settings: Settings, saved: str) -> Seat:
        client = type(self.own.client)(settings)
        return Seat(name, Desk(settings, passing=not saved), client, saved=saved)

    def _taken(self, seat: Seat) -> Seat:
        with self._lock:
            earlier = self._open.get(seat.name)
            self._open[seat.name] = seat
        if earlier is not None and not earlier.own:
            earlier.close()
        return seat

    def _described(self, name: str, address: str, saved: str) -> Place:
        if self.visitors:
            remark = f"You work with {name!r}, not with the account of this page."
            return Place(name, _label(name, address), address, remark=remark)
        remark = (
            f"Only this panel works with {name!r}. The studio in your cells stays with "
            f"{self.own.name!r}, and what was started goes on. To connect a cell:"
            if name != self.own.name
            else "This panel works with a new key. The studio in your cells has the one of before. "
            "To connect a cell:"
        )
        code = (
            f"studio = {self._connect}(profile={saved!r})"
            if saved
            else f"studio = kit.login({address!r})"
        )
        return Place(name, _label(name, address), address, saved, remark=remark, code=code)


class Chair:
    """The switch of one panel as the widgets see it.

    Parameters
    ----------
    at : Seat
        The one that is shown.
    go : callable
        Goes over to a seat; None stays in the same widget, and moves `at`.
    """

    def __init__(
        self, seats: Seats, at: Seat | None = None, go: Callable[[Seat], None] | None = None
    ) -> None:
        self._seats = seats
        self.at = at or seats.own
        self._alone = go is None
        self._go = go or self._move

    @property
    def active(self) -> str:
        """The name of the one that is shown."""
        return self.at.name

    def known(self) -> list[Place]:
        """Return all of them, the studio's own first."""
        places = self._seats.places()
        if self._alone:
            return places
        # where it is another, a banner says so
        return [place if place.own else replace(place, remark="", code="") for place in places]

    def choose(self, name: str) -> None:
        """Go over to one; it is tried first."""
        self._go(self._seats.open(name))

    def enter(self, address: str, key: str, name: str) -> str:
        """Try a key, save it under the name if there is one, go over to it, and say so."""
        seat, told = self._seats.enter(address, key, name)
        self._go(seat)
        return told

    def _move(self, seat: Seat) -> None:
        self.at = seat


def published() -> bool:
    """Return whether this process serves a page of Voilà's, which has visitors and no user."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")


def _tried(seat: Seat) -> wire.Account:
    """Return who pays; a seat that nobody gets is closed."""
    try:
        return seat.account()
    except BaseException:
        seat.close()
        raise


def _unused(name: str, address: str) -> None:
    """Refuse to give the name of one service to another."""
    there = next((p.base_url for p in profiles.known() if p.name == name), None)
    if name and there is not None and origin(there) != origin(address):
        raise ConfigError(f"the profile {name!r} is for {there}: take another name")


def _label(name: str, address: str) -> str:
    """Return how a list calls an account: its name, and where it is if that does not say it."""
    where = "" if not address or address in name else f" · {address.partition('://')[2]}"
    return f"{name}{where}"
