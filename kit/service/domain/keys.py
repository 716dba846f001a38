"""API keys: their format, how they are created, and whose they are.

A key contains a checksum, so that a mistyped one is refused without a database query and secret
scanners can find leaked ones. Only an HMAC of it is stored.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kit.errors import BadRequestError, ConflictError, ExpiredApiKeyError, InvalidApiKeyError
from kit.pricing import credits
from kit.service.domain import audit
from kit.service.domain.credits import Payer
from kit.service.store import accounts as store
from kit.service.store import ids, keys
from kit.service.store.database import Rows, Transaction, one, require
from kit.wire import SCOPES, api_keys

#: Limit on active keys of an account. Source: API document, "Limits".
MAX_ACTIVE_KEYS = 10
_PREFIX_LENGTH = 12  # characters of a key that are not secret
_NAME_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Caller:
    """The account of a request and the permissions of its key."""

    payer: Payer
    scopes: frozenset[str]
    expires_at: int | None = None
    #: Number of sign-outs of the account; signed URLs contain it, so that a sign-out ends them.
    sign_outs: int = 0

    @property
    def account_id(self) -> str:
        """The id of the account."""
        return self.payer.account_id


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """A request for a new key."""

    account_id: str
    name: str
    #: ``read`` is always added.
    scopes: Sequence[str] = ()
    #: Milliseconds since 1970.
    expires_at: int | None = None
    #: Limit in millicredits for a calendar month.
    cap: int | None = None
    live: bool = True


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key; the only time that its text is visible."""

    text: str
    row: Any

    def __repr__(self) -> str:
        return f"<NewKey {self.row.prefix}…>"


def generate(*, live: bool) -> str:
    """Return a new key's text: a prefix, 30 random letters and a checksum of both."""
    kind = "live" if live else "test"
    body = "".join(secrets.choice(api_keys.LETTERS) for _ in range(30))
    text = f"cs_{kind}_{body}"
    return text + api_keys.checksum(text)


def digest(text: str, secret: bytes) -> str:
    """Return the HMAC of a key, which is stored instead of it."""
    return hmac.digest(secret, text.encode(), "sha256").hex()


def create(
    request: KeyRequest, secret: bytes, now: int, *, actor: str = audit.SERVICE
) -> Transaction[NewKey]:
    """Create a key."""
    _check(request, now)
    yield from require(store.lock(id=request.account_id), "account", request.account_id)
    active = yield from one(keys.active(account_id=request.account_id, now=now))
    if active.active >= MAX_ACTIVE_KEYS:
        raise ConflictError(
            f"the account has {active.active} active keys and may have {MAX_ACTIVE_KEYS}; "
            "revoke one first"
        )
    text = generate(live=request.live)
    scopes = [scope for scope in SCOPES if scope == "read" or scope in request.scopes]
    key_id = ids.new("key", now)
    step = keys.add(
        id=key_id,
        account_id=request.account_id,
        name=request.name.strip(),
        prefix=text[:_PREFIX_LENGTH],
        digest=digest(text, secret),
        scopes=" ".join(scopes),
        cap=request.cap,
        created_at=now,
        expires_at=request.expires_at,
    )
    row = yield from one(step)
    facts = {"account": row.account_id, "name": row.name, "prefix": row.prefix}
    cap = None if row.cap is None else f"{credits(row.cap):f}"
    facts |= {"scopes": row.scopes, "cap": cap, "expires": row.expires_at}
    yield from audit.record("key.created", key_id, actor, now, **facts)
    return NewKey(text, row)


def revoke(
    key_id: str, now: int, *, sign_out: bool = False, actor: str = audit.SERVICE
) -> Transaction[Any]:
    """Revoke a key and return its row; a key that is already revoked does not change.

    `sign_out` also invalidates all signed URLs of the account, which work without a key.
    """
    revoked = yield from one(keys.revoke(id=key_id, now=now))
    row = yield from require(keys.find(id=key_id), "key", key_id)
    facts = {"account": row.account_id, "name": row.name, "prefix": row.prefix}
    if revoked is not None:
        yield from audit.record("key.revoked", key_id, actor, now, **facts)
    if sign_out:
        yield store.sign_out(id=row.account_id)
        yield from audit.record("account.signed_out", row.account_id, actor, now, key=key_id)
    return row


def list_keys(account_id: str | None = None) -> Transaction[Rows]:
    """Return the keys of an account, or all of them, oldest first."""
    return (yield keys.all() if account_id is None else keys.of_account(account_id=account_id))


def find_caller(text: str, secret: bytes, now: int) -> Transaction[Caller]:
    """Return the caller that a key belongs to."""
    hashed = _check_and_digest(text, secret)
    row = yield from one(keys.by_digest(digest=hashed))
    if row is None or not hmac.compare_digest(row.digest, hashed):
        raise InvalidApiKeyError("the API key is unknown")
    _check_row(row, now)
    payer = Payer(row.account_id, row.id, row.prefix, row.cap)
    return Caller(payer, frozenset(row.scopes.split()), row.expires_at, row.sign_outs)


@lru_cache(1000)
def _check_and_digest(text: str, secret: bytes) -> str:
    """Return the digest of a well-formed key; cached, because the same keys come repeatedly."""
    if not api_keys.is_well_formed(text):
        raise InvalidApiKeyError("this is not an API key; check that it was copied as a whole")
    return digest(text, secret)


def check_valid(caller: Caller, now: int) -> Transaction[None]:
    """Raise an error if a caller's key was revoked or has expired since it was looked up."""
    _check_row((yield from one(keys.find(id=caller.payer.key_id))), now)


def state_of(row: Any, now: int) -> str:
    """Return ``active``, ``expired`` or ``revoked``."""
    expired = row.expires_at is not None and row.expires_at <= now
    return "revoked" if row.revoked_at is not None else "expired" if expired else "active"


def _check_row(row: Any, now: int) -> None:
    if row is None or row.revoked_at is not None:
        raise InvalidApiKeyError("the API key was revoked")
    if row.expires_at is not None and row.expires_at <= now:
        raise ExpiredApiKeyError("the API key is past its expiration date")


def note_use(key_id: str, now: int) -> Transaction[None]:
    """Store the time of a key's last use."""
    yield keys.touch(id=key_id, now=now)


def _check(request: KeyRequest, now: int) -> None:
    problems = []
    if not 1 <= len(request.name.strip()) <= _NAME_LIMIT:
        problems.append(("name", f"must have 1 to {_NAME_LIMIT} characters"))
    for scope in request.scopes:
        if scope not in SCOPES:
            problems.append(("scope", f"must be one of {', '.join(SCOPES)}, not {scope!r}"))
    if request.expires_at is not None and request.expires_at <= now:
        problems.append(("expires", "must be in the future"))
    if request.cap is not None and request.cap <= 0:
        problems.append(("cap", "must be more than 0 credits"))
    if problems:
        raise BadRequestError.fields(problems)
