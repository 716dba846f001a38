"""Answers kept for replay: the same request under the same key is done once.

Where an operation is one transaction, the kept answer is part of it. Where text is written between
looking and charging, the request is first noted as running, then kept or released.

Source: contract, "Conventions".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from kit.errors import BadRequestError, ConflictError, IdempotencyMismatchError
from kit.service.store import idempotency
from kit.service.store.database import Transaction, one

KEPT_MS = 24 * 3600 * 1000
#: A request that runs longer than this was cut off by the end of its process; where that process is
#: known to be gone, it is forgotten at once.
_RUNNING_MS = 10 * 60 * 1000
_LONGEST = 255
_RETRY_SECONDS = "1"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, a body and headers, as they were or will be sent."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class RequestLabel:
    """One request of an account: its idempotency key and what it asked."""

    account_id: str
    key: str
    #: Digest of method, path and body.
    fingerprint: str


def check_key(key: str) -> None:
    """Refuse a key that is not 1 to 255 visible ASCII characters."""
    if not 1 <= len(key) <= _LONGEST or any(not "!" <= letter <= "~" for letter in key):
        sentence = f"must be 1 to {_LONGEST} visible ASCII characters"
        raise BadRequestError.fields([("Idempotency-Key", sentence)])


def find_answer(label: RequestLabel, now: int) -> Transaction[Answer | None]:
    """Return the answer that is kept for a request, or None when it is new."""
    row = yield from one(idempotency.find(account_id=label.account_id, key=label.key))
    age = now - row.created_at if row else 0
    if row is None or age > KEPT_MS or (row.status is None and age > _RUNNING_MS):
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
    headers = orjson.loads(row.headers)
    return Answer(row.status, row.body.encode(), headers, replayed=True)


def run_once(
    label: RequestLabel | None, work: Transaction[Answer], now: int
) -> Transaction[Answer]:
    """Do a piece of work and keep its answer, all in this transaction, or return the kept one."""
    if label is None:
        return (yield from work)
    known = yield from begin(label, now)
    if known is not None:
        work.close()
        return known
    return (yield from keep(label, work))


def begin(label: RequestLabel, now: int, owner: str | None = None) -> Transaction[Answer | None]:
    """Note a request as running, or return the answer that is kept for it."""
    note = idempotency.begin(
        account_id=label.account_id,
        key=label.key,
        fingerprint=label.fingerprint,
        now=now,
        owner=owner,
        kept_since=now - KEPT_MS,
        running_since=now - _RUNNING_MS,
    )
    known = None
    # Again, should the one that was there be forgotten just now.
    while known is None and (yield from one(note)) is None:
        known = yield from find_answer(label, now)
    return known


def keep(label: RequestLabel | None, work: Transaction[Answer]) -> Transaction[Answer]:
    """Do a piece of work and keep its answer, if its request was noted as running."""
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
    """Forget a request that failed without a charge: it may be tried again under its key."""
    yield idempotency.release(account_id=label.account_id, key=label.key)


def list_owners() -> Transaction[list[str]]:
    """Return the runs of the service that work at requests."""
    rows = yield idempotency.owners()
    return [row.owner for row in rows if row.owner]


def release_worker(owner: str) -> Transaction[None]:
    """Forget what a run of the service was working at that has ended: nothing was charged."""
    yield idempotency.disowned(owner=owner)


def prune(now: int) -> Transaction[None]:
    """Forget answers that are older than a day and requests that were cut off."""
    yield idempotency.prune(before=now - KEPT_MS)
    yield idempotency.abandoned(before=now - _RUNNING_MS)
