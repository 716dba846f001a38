"""Keys and profiles as the account panel sees them: data and operations. It loads no widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret.

    `prefix`: the characters that may be seen.
    `state`: ``active``, ``expired`` or ``revoked``.
    `in_use`: whether the notebook itself works with it.
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
    """The keys of an account; every call blocks, and raises a `KitError` with a sentence."""

    def known(self) -> list[Key]:
        """Return all keys, oldest first."""

    def create(self, name: str, scopes: Sequence[str], days: int | None) -> str:
        """Make a key that works for so many days, or until it is revoked; return its text."""

    def revoke(self, key_id: str) -> None:
        """Make a key useless from now on."""


@dataclass(frozen=True, slots=True)
class AccountChoice:
    """An account that the panel can show.

    `saved`: the name of its profile; empty where it is not saved.
    `own`: whether it is the one of the studio in the user's cells.
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
    """The accounts to choose from; a call may block, and raises a `KitError` with a sentence."""

    @property
    def active(self) -> str:
        """The name of the one that is shown."""

    def known(self) -> list[AccountChoice]:
        """Return all of them, the studio's own first."""

    def choose(self, name: str) -> None:
        """Go over to one; it is tried first."""

    def enter(self, address: str, key: str, name: str) -> str:
        """Try a key, save it under the name if there is one, go over to it, and say so."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Credits charged and not refunded, since midnight and the 1st (UTC); and what is doubtful."""

    today: Decimal
    month: Decimal
    doubts: tuple[str, ...] = ()
