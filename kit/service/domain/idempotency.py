"""Idempotency: stored responses, so that a request repeated with its key is executed only once.

For operations of one transaction, the response is stored in it. Where a text is written between
check and charge, the request is first marked as running, then its response stored or the mark
removed. Source: contract, "Conventions".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from kit.errors import BadRequestError, ConflictError, IdempotencyMismatchError
from kit.service.store import idempotency
from kit.service.store.database import Transaction, one

RETENTION_MS = 24 * 3600 * 1000
#: A request that runs longer than this is considered interrupted by the end of its process; it is
#: removed at once if that process is known to have ended.
_RUNNING_MS = 10 * 60 * 1000
_MAX_KEY_LENGTH = 255
_RETRY_SECONDS = "1"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body and headers of a response."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class RequestLabel:
    """Identifies a request of an account by its idempotency key and its content."""

    account_id: str
    key: str
    #: Digest of method, path and body.
    fingerprint: str


def check_key(key: str) -> None:
    """Raise `BadRequestError` for a key that is not 1 to 255 visible ASCII characters."""
    if not 1 <= len(key) <= _MAX_KEY_LENGTH or any(not "!" <= letter <= "~" for letter in key):
        sentence = f"must be 1 to {_MAX_KEY_LENGTH} visible ASCII characters"
        raise BadRequestError.fields([("Idempotency-Key", sentence)])


def find_answer(label: RequestLabel, now: int) -> Transaction[Answer | None]:
    """Return the stored response of a request, or None if the request is new."""
    row = yield from one(idempotency.find(account_id=label.account_id, key=label.key))
    age = now - row.created_at if row else 0
    if row is None or age > RETENTION_MS or (row.status is None and age > _RUNNING_MS):
        return None
    if row.fingerprint != label.fingerprint:
        raise IdempotencyMismatchError(
            "this Idempotency-Key was used for another request; take a new one"
        )
    if row.status is None:
        raise ConflictError(
            "the first request with this Idempotency-Key is still running",
            headers={"Retry-After": _RETRY_SECONDS},
        )
    return Answer(row.status, row.body.encode(), orjson.loads(row.headers), replayed=True)


def run_once(
    label: RequestLabel | None, work: Transaction[Answer], now: int
) -> Transaction[Answer]:
    """Run the work and store its response in this transaction, or return the stored response."""
    if label is None:
        return (yield from work)
    stored = yield from begin(label, now)
    if stored is not None:
        work.close()
        return stored
    return (yield from run_and_store(label, work))


def begin(label: RequestLabel, now: int, owner: str | None = None) -> Transaction[Answer | None]:
    """Mark a request as running, or return its stored response."""
    mark = idempotency.begin(
        account_id=label.account_id,
        key=label.key,
        fingerprint=label.fingerprint,
        now=now,
        owner=owner,
        kept_since=now - RETENTION_MS,
        running_since=now - _RUNNING_MS,
    )
    stored = None
    # Retry: the row that was found may have been removed meanwhile.
    while stored is None and (yield from one(mark)) is None:
        stored = yield from find_answer(label, now)
    return stored


def run_and_store(label: RequestLabel | None, work: Transaction[Answer]) -> Transaction[Answer]:
    """Run the work and store its response if its request was marked as running."""
    answer = yield from work
    if label:
        yield idempotency.keep(
            account_id=label.account_id,
            key=label.key,
            status=answer.status,
            headers=orjson.dumps(dict(answer.headers)).decode(),
            body=answer.body.decode(),
        )
    return answer


def release(label: RequestLabel) -> Transaction[None]:
    """Remove a request that failed without a charge, so that its key can be used again."""
    yield idempotency.release(account_id=label.account_id, key=label.key)


def list_owners() -> Transaction[list[str]]:
    """Return the ids of service processes that have running requests."""
    rows = yield idempotency.owners()
    return [row.owner for row in rows if row.owner]


def release_worker(owner: str) -> Transaction[None]:
    """Remove running requests of a service process that has ended: nothing was charged."""
    yield idempotency.disowned(owner=owner)


def prune(now: int) -> Transaction[bool]:
    """Remove interrupted requests and some responses of a day ago; False if none are left."""
    yield idempotency.abandoned(before=now - _RUNNING_MS)
    return bool((yield idempotency.prune(before=now - RETENTION_MS)))
