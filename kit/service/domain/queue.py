"""The queue: generations are claimed, renewed and settled; each step is one transaction.

Reports of a worker count only for the attempt that it claimed; stale reports change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from kit.service.domain import credits, webhooks
from kit.service.store import generations, ids
from kit.service.store.database import Rows, Transaction, one

#: How long a generation waits for a service with its model, and a limit above any valid claim.
_STALE_MS = 24 * 3600 * 1000


def claim(
    worker: str,
    most: int,
    *,
    lease: int,
    now: int,
    skipped: Collection[str] = (),
    served: Collection[str] | None = None,
) -> Transaction[Rows]:
    """Claim queued generations for a worker until `lease`, in queue order.

    Those of the models `skipped` wait; if `served` is given, those of other models are
    skipped for a day, because another service or worker may have these models.
    """
    others = f",{','.join(sorted(skipped))}," if skipped else ""
    served_text = "" if served is None else f",{','.join(sorted(served))},"
    rows: Rows = []
    while remaining := most - len(rows):
        found = yield generations.claim(
            owner=worker,
            lease_until=lease,
            now=now,
            others=others,
            served=served_text,
            stale=ids.floor("gen", now - _STALE_MS),
            most=remaining,
        )
        if not found:
            break
        rows += found
    return sorted(rows, key=lambda row: (row.queue_round, row.id))


def next_round(account_id: str) -> Transaction[int]:
    """Return the round in which an account's next generation is queued.

    It is the round that is being claimed, or the next one if the account has had a job in it, or
    the one after the account's last that waits: accounts take turns, however many jobs each starts
    at once or one after the other. (Rounds of the past may be higher: the queue was empty since.)

    Source: start-time fair queueing, Goyal, Vin and Cheng, SIGCOMM 1996; every job weighs the same.
    """
    first, newest, *own = yield from one(generations.rounds(account_id=account_id))
    current = int(first or 0) + (newest is not None and newest >= (first or 0))
    return max(current, *(int(last) + 1 for last in own if last is not None), 0)


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of an idle render process on a generation that is about to start."""

    worker: str
    #: Expiry without a heartbeat, in milliseconds since 1970.
    lease: int


def renew(claims: Sequence[tuple[str, int]], *, lease: int) -> Transaction[None]:
    """Extend the claims of a worker that are still valid."""
    for generation_id, attempt in claims:
        yield generations.renew(id=generation_id, attempt=attempt, lease_until=lease)


def report(generation_id: str, attempt: int, fraction: float, now: int) -> Transaction[None]:
    """Store the progress of an attempt, 0 to 1."""
    yield generations.report(id=generation_id, attempt=attempt, progress=fraction, now=now)


def finish(
    generation_id: str, attempt: int, output: Mapping[str, Any], now: int
) -> Transaction[bool]:
    """Complete an attempt with its output; False if the attempt no longer counts."""
    result = orjson.dumps(output).decode()
    row = yield from one(
        generations.complete(id=generation_id, attempt=attempt, output=result, now=now)
    )
    if row is not None:
        yield from webhooks.announce(row, now)
    return row is not None


def fail(generation_id: str, attempt: int, sentence: str, code: str, now: int) -> Transaction[bool]:
    """Fail an attempt and refund the credits in full; False if it no longer counts."""
    row = yield from one(
        generations.fail(
            id=generation_id, attempt=attempt, error=sentence, error_code=code, now=now
        )
    )
    if row is not None and row.millicredits:
        yield from credits.refund(row, sentence, now)
    if row is not None:
        yield from webhooks.announce(row, now)
    return row is not None


def requeue_lost(
    generation_id: str, attempt: int, losses: int, *, attempts: int, now: int, reason: str = ""
) -> Transaction[bool]:
    """Requeue an attempt whose worker was lost, or fail it after the last attempt.

    False if the attempt no longer counts; `losses` is the number of losses before this one.
    """
    if losses + 1 >= attempts:
        sentence = f"the render process was lost {attempts} times{reason and ': '}{reason}"
        return (yield from fail(generation_id, attempt, sentence, "worker_lost", now))
    row = yield from one(generations.hand_back(id=generation_id, attempt=attempt, lost=1, now=now))
    return row is not None


def release(generation_id: str, attempt: int, now: int) -> Transaction[None]:
    """Requeue an attempt that its worker has no time for; it does not count as a loss."""
    yield generations.hand_back(id=generation_id, attempt=attempt, lost=0, now=now)


def requeue_expired(*, attempts: int, now: int, lease: int = 0) -> Transaction[Rows]:
    """Requeue generations whose claims have expired and return their previous rows.

    Claims that expire more than a day after `now` and `lease` come from a wrong clock; expired too.
    """
    lost = yield generations.lost(now=now, latest=max(now, lease) + _STALE_MS)
    return (yield from _requeue(lost, attempts, now))


def requeue_worker(worker: str, *, attempts: int, now: int) -> Transaction[Rows]:
    """Requeue the generations of a worker that died and return their previous rows."""
    return (yield from _requeue((yield generations.held(owner=worker)), attempts, now))


def _requeue(lost: Rows, attempts: int, now: int) -> Transaction[Rows]:
    for row in lost:
        yield from requeue_lost(row.id, row.attempt, row.losses, attempts=attempts, now=now)
    return lost


def list_owners() -> Transaction[list[str]]:
    """Return the ids of workers that have claims."""
    return [row.owner for row in (yield generations.owners())]


def running_claims(worker: str) -> Transaction[dict[tuple[str, int], float]]:
    """Return the valid claims of a worker as (id, attempt), with their stored progress."""
    return {(it.id, it.attempt): it.progress for it in (yield generations.held(owner=worker))}


def count_states() -> Transaction[dict[str, int]]:
    """Return how many generations are queued and how many are running, on all workers."""
    row = yield from one(generations.counts())
    return {"queued": row.queued, "running": row.running}
