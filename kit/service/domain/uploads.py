"""Uploads: tickets are issued, files received, and unused ones removed.

Open tickets and bytes of an account are limited. Bytes are reserved with the ticket and released
with its row, in the same transactions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from kit import pricing
from kit.errors import (
    AccessDeniedError,
    BadRequestError,
    ConflictError,
    PayloadTooLargeError,
    RateLimitError,
)
from kit.parameters import file_name_problems, shorten
from kit.pictures import HEIC, NO_HEIC, has_heic
from kit.service.domain import audit, credits
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.storage.keys import UPLOADS
from kit.service.store import accounts, generations, ids, removals, uploads
from kit.service.store.database import Transaction, one, require
from kit.wire import CONTENT_TYPES, Model, RequestUpload

#: How long a ticket is valid, and how long a file may stay unused by a generation.
TICKET_MS = 15 * 60 * 1000
_DAY_MS = 24 * 3600 * 1000
UNUSED_MS = _DAY_MS
#: Maximum size in bytes of a file of each kind.
MAX_BYTES = {"image": 50_000_000, "audio": 100_000_000, "video": 1_000_000_000}
#: Maximum of open tickets of an account, and how long an expired ticket is kept for a file whose
#: transfer has already begun.
MAX_OPEN_TICKETS = 100
GRACE_MS = 3600 * 1000


def issue_ticket(
    catalog: Catalog, order: RequestUpload, payer: Payer, max_bytes: int, now: int
) -> Transaction[Any]:
    """Issue a ticket for one file, if credits and quotas allow it, and return its row.

    `max_bytes` limits the bytes of all uploads of the account. Source: contract, "Uploads".
    """
    model = catalog.get(order.model_id)
    kind = _check_order(order, model)
    yield from credits.check(payer, pricing.millicredits(pricing.lowest_price(model)), now)
    # First, because it locks the account: concurrent requests count each other's tickets.
    yield from _reserve(payer.account_id, order.file_size_bytes, max_bytes)
    yield from _check_open_tickets(payer.account_id, now)
    ticket = uploads.add(
        id=ids.new("upl", now),
        account_id=payer.account_id,
        model_id=model.id,
        kind=kind,
        file_name=order.file_name,
        content_type=order.content_type,
        size_bytes=order.file_size_bytes,
        created_at=now,
        expires_at=now + TICKET_MS,
    )
    return (yield from one(ticket))


def get_open_ticket(upload_id: str, now: int) -> Transaction[Any]:
    """Return a ticket's row if it can still receive a file."""
    row = yield from require(uploads.find(id=upload_id), "upload", upload_id)
    if row.state == "filled":
        raise ConflictError("this ticket has received its file already; request a new ticket")
    if row.expires_at <= now:
        raise AccessDeniedError("the upload URL has expired; request a new ticket")
    return row


def mark_filled(
    upload_id: str, *, sha256: str, duration_ms: int | None, made_by: str | None = None, now: int
) -> Transaction[None]:
    """Mark a ticket as filled with what is known about its file, unless it is filled already.

    The generation named in the file's metadata is stored only if it belongs to the account.
    """
    if made_by is not None:
        ticket = yield from one(uploads.find(id=upload_id))
        owner = ticket and ticket.account_id
        generation = owner and (yield from one(generations.find(id=made_by, account_id=owner)))
        made_by = generation and generation.id
    row = yield from one(
        uploads.fill(
            id=upload_id, sha256=sha256, duration_ms=duration_ms, generation_id=made_by, now=now
        )
    )
    if row is None:
        yield from get_open_ticket(upload_id, now)


def of_generations(rows: Iterable[Any]) -> Transaction[dict[str, Any]]:
    """Return the rows of the input files of generations by id; removed ones are left out."""
    groups = (group for row in rows for group in orjson.loads(row.media).values())
    return (yield from find(upload_id for group in groups for upload_id in group))


def find(upload_ids: Iterable[str]) -> Transaction[dict[str, Any]]:
    """Return the rows of uploads by id; removed ones are left out."""
    rows = {}
    for upload_id in upload_ids:
        row = yield from one(uploads.find(id=upload_id))
        if row is not None:
            rows[upload_id] = row
    return rows


def remove_unused(now: int, *, grace: int = GRACE_MS) -> Transaction[int]:
    """Remove some uploads unused for a day and tickets without a file; return how many.

    Their files are listed for removal, see `kit.service.domain.outputs.keys_to_delete`.
    """
    stale = yield uploads.stale(before=now - UNUSED_MS)
    expired = yield uploads.expired(before=now - grace)
    removed = yield from _remove_all(dict.fromkeys(row.id for row in (*stale, *expired)), 0, now)
    return len(removed)


def remove_old(days: float, now: int) -> Transaction[int]:
    """Remove some uploads that no generation used for `days`; return how many."""
    limit = now - round(days * _DAY_MS)
    old = yield uploads.old(before=limit)
    removed = yield from _remove_all([row.id for row in old], limit, now)
    if removed:
        facts = {"uploads": len(removed), "last": removed[-1], "days": days}
        yield from audit.record("uploads.expired", removed[0], audit.SERVICE, now, **facts)
    return len(removed)


def remove(upload_id: str, limit: int = 0) -> Transaction[bool]:
    """Remove an upload that no generation has used since `limit`; False if one has."""
    row = yield from one(uploads.remove(id=upload_id, before=limit))
    if row is not None:
        yield accounts.release(id=row.account_id, size=row.size_bytes)
    return row is not None


def _remove_all(upload_ids: Iterable[str], limit: int, now: int) -> Transaction[list[str]]:
    removed = []
    for upload_id in upload_ids:
        if (yield from remove(upload_id, limit)):
            yield removals.add(key=UPLOADS + upload_id, created_at=now)
            removed.append(upload_id)
    return removed


def _check_open_tickets(account_id: str, now: int) -> Transaction[None]:
    found = yield from one(uploads.open(account_id=account_id, now=now))
    if found.tickets >= MAX_OPEN_TICKETS:
        wait = max(1, -(-(found.first - now) // 1000))
        raise RateLimitError(
            f"{MAX_OPEN_TICKETS} tickets are open, which is the most for one account: send their "
            f"files, or try again in {wait} s, when the first of them ends",
            headers={"Retry-After": str(wait)},
        )


def _reserve(account_id: str, size: int, max_bytes: int) -> Transaction[None]:
    if (yield from one(accounts.reserve(id=account_id, size=size, most=max_bytes))) is None:
        account = yield from one(accounts.find(id=account_id))
        raise PayloadTooLargeError(
            f"the uploads of the account take {account.upload_bytes:,} bytes, and with this one "
            f"they would take more than the {max_bytes:,} that they may; files that no generation "
            "uses are removed after 24 hours"
        )


def _check_order(order: RequestUpload, model: Model) -> str:
    problems = list(file_name_problems(order.file_name))
    kind = CONTENT_TYPES.get(order.content_type)
    if order.content_type == HEIC:
        kind = "image"
        if not has_heic():
            problems.append(("contentType", f"{NO_HEIC} where the service runs, or send a JPEG"))
    accepted = sorted({p.type for p in model.media_parameters})
    if kind is None:
        allowed = ", ".join(CONTENT_TYPES)
        problems.append(
            ("contentType", f"must be one of {allowed}, not {shorten(order.content_type)}")
        )
    elif kind not in accepted:
        what = f"takes {' and '.join(accepted)}, not {kind}" if accepted else "takes no media"
        problems.append(("contentType", f"the model {model.id!r} {what}"))
    if order.file_size_bytes < 1:
        problems.append(("fileSizeBytes", "must be at least 1"))
    elif kind is not None and order.file_size_bytes > MAX_BYTES[kind]:
        most = f"{MAX_BYTES[kind]:,}"
        sentence = f"must be at most {most} for {kind} files, not {shorten(order.file_size_bytes)}"
        problems.append(("fileSizeBytes", sentence))
    if problems or kind is None:
        raise BadRequestError.fields(problems)
    return kind
