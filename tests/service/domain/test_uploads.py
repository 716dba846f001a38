"""Uploads: tickets expire, a file is uploaded once, unused files are removed."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.errors import (
    AccessDeniedError,
    ConflictError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitError,
)
from kit.service.domain import accounts, audit, generations, outputs, uploads
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.store.database import Transaction
from kit.wire import RequestUpload, StartGeneration
from tests.service.domain.conftest import NOW, Write

MOST_BYTES = 700
MINUTE, HOUR = 60_000, 3_600_000


@pytest.fixture
def issue(write: Write, payer: Payer, offered: Catalog) -> Callable[..., Any]:
    """Request a ticket for one picture."""

    def one(size: int = 70, now: int = NOW) -> Any:
        order = RequestUpload(
            file_name="a.png", content_type="image/png", file_size_bytes=size, model_id="clay"
        )
        return write(uploads.issue_ticket(offered, order, payer, MOST_BYTES, now))

    return one


@pytest.fixture
def ticket(issue: Callable[..., Any]) -> Any:
    """A ticket for one picture."""
    return issue()


@pytest.fixture
def start(write: Write, payer: Payer, offered: Catalog) -> Callable[[str], str]:
    """Start a generation that uses an upload."""

    def one(upload_id: str) -> str:
        order = StartGeneration(model_id="clay", media_uploads={"portrait": upload_id})

        def work() -> Transaction[str]:
            plan = yield from generations.plan(offered, order, payer.account_id)
            return str((yield from generations.start(plan, payer, NOW)).id)

        return str(write(work()))

    return one


def test_a_ticket_expires_after_fifteen_minutes(write: Write, ticket: Any) -> None:
    assert write(uploads.get_open_ticket(ticket.id, NOW + 15 * MINUTE - 1)).id == ticket.id
    with pytest.raises(AccessDeniedError, match="has expired"):
        write(uploads.get_open_ticket(ticket.id, NOW + 15 * MINUTE))


def test_a_ticket_accepts_one_file(write: Write, ticket: Any) -> None:
    write(uploads.mark_filled(ticket.id, sha256="a", duration_ms=None, now=NOW))
    with pytest.raises(ConflictError):
        write(uploads.get_open_ticket(ticket.id, NOW))
    with pytest.raises(ConflictError):
        write(uploads.mark_filled(ticket.id, sha256="b", duration_ms=None, now=NOW))

    assert write(uploads.find([ticket.id]))[ticket.id].sha256 == "a"


def test_an_upload_that_is_not_used_within_a_day_is_removed(write: Write, ticket: Any) -> None:
    write(uploads.mark_filled(ticket.id, sha256="a", duration_ms=None, now=NOW))

    assert write(uploads.remove_unused(NOW + 24 * HOUR)) == 0
    assert write(uploads.remove_unused(NOW + 24 * HOUR + 1)) == 1
    assert write(uploads.remove_unused(NOW + 24 * HOUR + 1)) == 0
    assert write(outputs.keys_to_delete()) == [f"uploads/{ticket.id}"]
    with pytest.raises(NotFoundError):
        write(uploads.get_open_ticket(ticket.id, NOW))


def test_an_upload_is_removed_some_days_after_its_last_generation(
    write: Write, payer: Payer, ticket: Any, issue: Callable[..., Any], start: Callable[[str], str]
) -> None:
    unused = issue()
    for row in (ticket, unused):
        write(uploads.mark_filled(row.id, sha256="a", duration_ms=None, now=NOW))
    start(ticket.id)

    assert write(uploads.remove_old(2, NOW + 48 * HOUR)) == 0
    assert write(uploads.remove_old(2, NOW + 48 * HOUR + 1)) == 1
    assert write(uploads.remove_old(2, NOW + 48 * HOUR + 1)) == 0

    assert write(outputs.keys_to_delete()) == [f"uploads/{ticket.id}"]
    assert write(uploads.find([ticket.id, unused.id])).keys() == {unused.id}
    assert write(accounts.get(payer.account_id)).upload_bytes == 70
    [line] = [it for it in write(audit.list_acts(most=9)) if it.act == "uploads.expired"]
    assert (line.actor, line.subject) == ("service", ticket.id)
    with pytest.raises(NotFoundError, match="there is no upload"):
        start(ticket.id)


def test_an_upload_that_a_generation_used_is_kept(
    write: Write, ticket: Any, start: Callable[[str], str]
) -> None:
    write(uploads.mark_filled(ticket.id, sha256="a", duration_ms=None, now=NOW))
    start(ticket.id)

    assert write(uploads.remove_unused(NOW + 99 * HOUR)) == 0


def test_an_upload_that_is_removed_between_plan_and_start_charges_nothing(
    write: Write, ticket: Any, payer: Payer, offered: Catalog
) -> None:
    write(uploads.mark_filled(ticket.id, sha256="a", duration_ms=None, now=NOW))
    order = StartGeneration(model_id="clay", media_uploads={"portrait": ticket.id})
    plan = write(generations.plan(offered, order, payer.account_id))
    write(uploads.remove_unused(NOW + 25 * HOUR))

    with pytest.raises(NotFoundError, match="was removed"):
        write(generations.start(plan, payer, NOW))
    assert write(generations.page(payer.account_id, most=10)) == []


def test_a_ticket_without_a_file_is_removed_an_hour_after_it_expired(
    write: Write, ticket: Any
) -> None:
    late = NOW + 75 * MINUTE + 1

    assert write(uploads.remove_unused(late - 1)) == 0
    assert write(uploads.remove_unused(late)) == 1
    with pytest.raises(NotFoundError):
        write(uploads.mark_filled(ticket.id, sha256="a", duration_ms=None, now=late))


def test_open_tickets_of_an_account_are_limited(issue: Callable[..., Any], write: Write) -> None:
    first = issue(1)
    for _ in range(uploads.MAX_OPEN_TICKETS - 1):
        issue(1, NOW + MINUTE)
    with pytest.raises(RateLimitError, match="100 tickets are open") as caught:
        issue(1, NOW + 10 * MINUTE)
    assert caught.value.headers == {"Retry-After": "300"}

    write(uploads.mark_filled(first.id, sha256="a", duration_ms=None, now=NOW))
    issue(1, NOW + 10 * MINUTE)
    with pytest.raises(RateLimitError):
        issue(1, NOW + 10 * MINUTE)
    issue(1, NOW + 16 * MINUTE)


def test_the_upload_bytes_of_an_account_are_limited_and_freed_again(
    issue: Callable[..., Any], write: Write, start: Callable[[str], str]
) -> None:
    used, *others = (issue(100) for _ in range(7))
    write(uploads.mark_filled(used.id, sha256="a", duration_ms=None, now=NOW))
    start(used.id)
    with pytest.raises(PayloadTooLargeError, match="take 700 bytes"):
        issue(1)

    assert write(uploads.remove_unused(NOW + 2 * HOUR)) == len(others)
    for _ in others:
        issue(100, NOW + 2 * HOUR)
    with pytest.raises(PayloadTooLargeError, match="more than the 700 that they may"):
        issue(1, NOW + 2 * HOUR)
