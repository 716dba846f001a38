"""Accounts, balances and ledger entries."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pydantic import Field

from kit.wire.base import Credits, Instant, Wire


class Account(Wire):
    """The account that pays.

    Source: API document, "Account"; contract, "Account and keys".
    """

    id: str
    name: str = ""
    email: str = ""
    created_at: Instant | None = None
    credits: Credits | None = None


class Balance(Wire):
    """Balance and spending of an account, in credits. Source: contract, "Account and keys"."""

    balance: Credits
    reserved: Credits = Decimal(0)
    # Spelled out: the alias generator would write "charged30D".
    charged30d: Credits = Field(default=Decimal(0), alias="charged30d")
    refunded30d: Credits = Field(default=Decimal(0), alias="refunded30d")


class Entry(Wire):
    """One entry of the ledger; `credits` is signed. Source: contract, "Generations"."""

    id: str
    created_at: Instant
    kind: str
    credits: Credits
    balance_after: Credits
    generation_id: str | None = None
    model_id: str | None = None
    key_prefix: str | None = None
    details: dict[str, Any] | None = None
    tags: dict[str, str] | None = None
