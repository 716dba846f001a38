"""Keys and profiles as the account panel uses them: data and operations, without widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret.

    `prefix`: the visible characters.
    `state`: ``active``, ``expired`` or ``revoked``.
    `in_use`: whether the notebook itself uses it.
    """

    id: str
    prefix: str
    name: str
    scopes: tuple[str, ...]
    state: str
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    in_use: bool = False


class Keys(Protocol):
    """The keys of an account; all calls block, and raise `KitError` with a message."""

    def list_all(self) -> list[Key]:
        """Return all keys, oldest first."""

    def create(self, name: str, scopes: Sequence[str], days: int | None) -> str:
        """Create a key valid for some days, or until it is revoked; return its text."""

    def revoke(self, key_id: str) -> None:
        """Revoke a key, effective immediately."""


@dataclass(frozen=True, slots=True)
class AccountChoice:
    """An account that the panel can show.

    `saved`: the name of its profile; empty if it is not saved.
    `own`: whether it is the account of the studio in the user's cells.
    `remark`, `code`: a sentence about it, and the statement that connects to it.
    """

    name: str
    label: str
    address: str
    saved: str = ""
    own: bool = False
    remark: str = ""
    code: str = ""


class Profiles(Protocol):
    """The accounts to choose from; calls may block, and raise `KitError` with a message."""

    @property
    def active(self) -> str:
        """The name of the account that is shown."""

    def list_all(self) -> list[AccountChoice]:
        """Return all accounts, the studio's own first."""

    def choose(self, name: str) -> None:
        """Switch to an account after testing its key."""

    def enter(self, address: str, key: str, name: str) -> str:
        """Test a key, save it if a name is given, switch to it, and return a message."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Net credits charged since midnight and since the 1st of the month (UTC), with doubts."""

    today: Decimal
    month: Decimal
    doubts: tuple[str, ...] = ()
