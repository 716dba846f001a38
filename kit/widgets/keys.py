"""Keys as the account panel sees them: facts, and what can be done. It loads no widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret.

    Parameters
    ----------
    prefix : str
        The characters that may be seen.
    state : str
        ``active``, ``expired`` or ``revoked``.
    in_use : bool
        Whether the notebook itself works with it.
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
class Spent:
    """Credits that were charged and did not come back, since midnight and since the 1st (UTC)."""

    today: Decimal
    month: Decimal
