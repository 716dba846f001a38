"""Webhooks: endpoints, signatures and retries of messages about finished generations.

The end of a generation is queued in the transaction that settles it, and delivered at least once,
always with the same id. Secrets are derived from the service's own secret and not stored.

Source: contract, "Webhooks"; Standard Webhooks 1.0, github.com/standard-webhooks.
"""

from __future__ import annotations

import base64
import hmac
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from kit.errors import BadRequestError, ConflictError, NotFoundError
from kit.internet import LOOPBACK, is_public
from kit.parameters import shorten
from kit.service.domain import accounts, audit
from kit.service.store import generations, ids, webhooks
from kit.service.store.database import Rows, Transaction, one

#: Used instead of a webhook's id for the webhooks of single requests.
REQUESTS = "requests"
#: Limits of an account: endpoints and pending deliveries.
MAX_WEBHOOKS, MAX_PENDING = 20, 1000
#: Seconds to the next attempt after each failed one. Source: contract, "Webhooks".
RETRIES = (5, 300, 1800, 7200, 18_000, 36_000)
#: Milliseconds that a claim is valid, that an old secret stays valid, that deliveries are kept.
_LEASE_MS, _OVERLAP_MS, _KEPT_MS = 60_000, 24 * 3_600_000, 30 * 24 * 3_600_000
_MAX_WAIT = 24 * 3600.0


def check_url(url: str, field: str, *, loopback: bool) -> str:
    """Return the URL of a receiver; `loopback` allows this machine, also with http.

    Raises `BadRequestError` if the URL is invalid. The addresses of a host name are checked at each
    connection.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        local = loopback and host in LOOPBACK
        plain = host and "@" not in parts.netloc and url.isascii() and url.isprintable()
        if not plain or " " in url or parts.scheme not in ("https", *(["http"] if local else [])):
            raise ValueError
    except ValueError:
        sentence = "must be like https://host/path, without a user or a password"
        raise BadRequestError.fields([(field, sentence)]) from None
    if not local and _is_private(host):
        raise BadRequestError.fields([(field, "must not lead to a private network")])
    return url


def _is_private(host: str) -> bool:
    try:
        return not is_public(str(ip_address(host)))
    except ValueError:
        return host == "localhost"


def create(account_id: str, url: str, now: int, *, actor: str = audit.SERVICE) -> Transaction[Any]:
    """Create an endpoint of an account, up to the maximum, and return its row."""
    if len((yield from list_webhooks(account_id))) >= MAX_WEBHOOKS:
        raise ConflictError(f"an account has at most {MAX_WEBHOOKS} webhooks; delete one first")
    hook = ids.new("whk", now)
    yield from audit.record("webhook.created", hook, actor, now, account=account_id)
    step = webhooks.add(id=hook, account_id=account_id, generation_id="", url=url, now=now)
    return (yield from one(step))


def list_webhooks(account_id: str) -> Transaction[Rows]:
    """Return the endpoints of an account, oldest first."""
    yield from accounts.get(account_id)  # an unknown account is an error, not an empty list
    return (yield webhooks.of_account(account_id=account_id))


def get(webhook_id: str, account_id: str) -> Transaction[Any]:
    """Return an endpoint's row; one of another account is not found."""
    row = yield from one(webhooks.find(id=webhook_id, account_id=account_id))
    if row is None or row.generation_id:
        raise NotFoundError(f"there is no webhook {shorten(webhook_id)}")
    return row


def rotate(
    webhook_id: str, account_id: str, now: int, *, actor: str = audit.SERVICE
) -> Transaction[Any]:
    """Rotate the secret of a webhook or of `REQUESTS`, return its row; the old works for a day."""
    if webhook_id == REQUESTS:
        webhook_id = _requests_id((yield from accounts.get(account_id)).id)
    else:
        yield from get(webhook_id, account_id)
    yield from audit.record("webhook.rotated", webhook_id, actor, now, account=account_id)
    return (yield from one(webhooks.rotate(id=webhook_id, account_id=account_id, now=now)))


def delete(
    webhook_id: str, account_id: str, now: int, *, actor: str = audit.SERVICE
) -> Transaction[None]:
    """Remove an endpoint with all its deliveries."""
    yield from get(webhook_id, account_id)
    yield webhooks.remove_deliveries(id=webhook_id)
    yield webhooks.remove(id=webhook_id)
    yield from audit.record("webhook.deleted", webhook_id, actor, now, account=account_id)


def resend(webhook_id: str, account_id: str, now: int) -> Transaction[int]:
    """Retry the failed deliveries from the start, and return how many there are."""
    yield from get(webhook_id, account_id)
    return len((yield webhooks.resend(id=webhook_id, now=now)))


def count_pending() -> Transaction[int]:
    """Return how many deliveries of all accounts are pending."""
    row = yield from one(webhooks.pending())
    return int(row.number)


def count_deliveries(webhook_id: str) -> Transaction[dict[str, int]]:
    """Return how many deliveries of a webhook are in each state."""
    rows = yield webhooks.counts(id=webhook_id)
    return {row.state: row.number for row in rows}


def add_request(generation_id: str, account_id: str, url: str, now: int) -> Transaction[None]:
    """Add a webhook for a single generation."""
    yield webhooks.add(
        id=ids.new("whk", now), account_id=account_id, generation_id=generation_id, url=url, now=now
    )


def announce(row: Any, now: int) -> Transaction[None]:
    """Queue the end of a generation for its webhooks."""
    yield webhooks.announce(
        generation_id=row.id, account_id=row.account_id, now=now, most=MAX_PENDING
    )


def next_due() -> Transaction[int | None]:
    """Return when the next delivery is due, in milliseconds since 1970; None if none is pending."""
    row = yield from one(webhooks.next())
    return row and int(row.due_at)


def claim(others: list[str], now: int) -> Transaction[tuple[Any, Any, Any, Any] | None]:
    """Claim a due delivery, skipping accounts; return it, its webhook, generation and signer."""
    busy = f",{','.join(others)}," if others else ""
    row = yield from one(webhooks.claim(now=now, lease_until=now + _LEASE_MS, others=busy))
    if row is None:
        return None
    hook = yield from one(webhooks.find(id=row.webhook_id, account_id=row.account_id))
    signer = hook
    if hook and hook.generation_id:
        own = _requests_id(row.account_id)
        signer = (yield from one(webhooks.find(id=own, account_id=row.account_id))) or hook
    generation = yield from one(generations.find(id=row.generation_id, account_id=row.account_id))
    return row, hook, generation, signer


def settle(
    row: Any, now: int, error: str | None, *, wait: float = 0.0, gone: bool = False
) -> Transaction[tuple[str, int]]:
    """Store the result of an attempt; return the new state, and of how many deliveries it is.

    `wait` counts up to a day; `gone` disables the webhook and fails all its pending deliveries.
    """
    if gone:
        yield webhooks.disable(id=row.webhook_id, now=now)
        return "failed", len((yield webhooks.fail(id=row.webhook_id, error=error)))
    is_last = row.attempts > len(RETRIES)
    state = "delivered" if error is None else "failed" if is_last else "pending"
    pause = 0.0 if state != "pending" else max(RETRIES[row.attempts - 1], min(wait, _MAX_WAIT))
    due = now + int(pause * 1000)
    settled = yield webhooks.settle(
        id=row.id, attempts=row.attempts, state=state, due_at=due, error=error
    )
    return state, len(settled)


def prune(now: int) -> Transaction[bool]:
    """Remove some deliveries of generations that were started more than a month ago.

    Deliveries that a wrong clock has scheduled too far ahead become due. Returns whether there may
    be more to remove.
    """
    yield webhooks.recall(now=now, latest=now + int(_MAX_WAIT * 1000))
    before = ids.floor("gen", now - _KEPT_MS)
    removed = yield webhooks.prune(before=before)
    return bool((yield webhooks.prune_requests(before=before)) or removed)


def secret_of(row: Any, secret: bytes) -> str:
    """Return the secret of a webhook, derived from the service's secret."""
    return f"whsec_{base64.b64encode(_key(row, secret)).decode()}"


def sign(row: Any, secret: bytes, message_id: str, body: bytes, now: int) -> dict[str, str]:
    """Return the signed headers of a message; for a day after a rotation with both secrets."""
    seconds = now // 1000
    signed = b"%s.%d.%s" % (message_id.encode(), seconds, body)
    is_rotated = row.secret_number > 0 and now - row.rotated_at < _OVERLAP_MS
    signatures = (
        base64.b64encode(hmac.digest(_key(row, secret, age), signed, "sha256")).decode()
        for age in ((0, 1) if is_rotated else (0,))
    )
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _key(row: Any, secret: bytes, age: int = 0) -> bytes:
    return hmac.digest(secret, f"webhook {row.id} {row.secret_number - age}".encode(), "sha256")


def _requests_id(account_id: str) -> str:
    return f"whk_{account_id.partition('_')[2]}"
