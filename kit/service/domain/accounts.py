"""Accounts, created and listed by the operator of the service."""

from __future__ import annotations

import re
from typing import Any

from kit.errors import BadRequestError
from kit.service.domain import audit, credits
from kit.service.store import accounts, ids
from kit.service.store.database import Rows, Transaction, one, require

_NAME_LIMIT = 200
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")


def create(
    name: str, email: str, millicredits: int, now: int, *, actor: str = audit.SERVICE
) -> Transaction[Any]:
    """Create an account, grant its initial credits and return its row."""
    name, email = name.strip(), email.strip()
    if not 1 <= len(name) <= _NAME_LIMIT:
        raise BadRequestError.fields([("name", f"must have 1 to {_NAME_LIMIT} characters")])
    if not _EMAIL.fullmatch(email):
        raise BadRequestError.fields([("email", f"{email!r} is not an e-mail address")])
    if millicredits < 0:
        raise BadRequestError.fields([("credits", "must not be negative")])
    account_id = ids.new("acc", now)
    yield accounts.add(id=account_id, name=name, email=email, created_at=now)
    yield from audit.record("account.created", account_id, actor, now, name=name)
    if millicredits:
        yield from credits.grant(account_id, millicredits, now, actor=actor)
    return (yield from get(account_id))


def get(account_id: str) -> Transaction[Any]:
    """Return an account's row."""
    return (yield from require(accounts.find(id=account_id), "account", account_id))


def count_sign_outs(owner: str) -> Transaction[int]:
    """Return the number of sign-outs of the owner of a generation or upload; 0 if unknown."""
    row = yield from one(accounts.of_file(id=owner))
    return row.sign_outs if row else 0


def list_accounts() -> Transaction[Rows]:
    """Return all accounts, oldest first."""
    return (yield accounts.all())
