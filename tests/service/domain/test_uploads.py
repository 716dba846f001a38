"""Uploads: tickets end, files come once, and what nobody uses goes."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.errors import AccessDeniedError, ConflictError, NotFoundError
from kit.service.domain import generations, uploads
from kit.service.domain.catalog import Catalog
from kit.service.domain.credits import Payer
from kit.service.store.database import Transaction
from kit.wire import RequestUpload, StartGeneration
from tests.service.domain.conftest import NOW, Write

LIMITS = {"image": 100, "audio": 100, "video": 100}
MINUTE, HOUR = 60_000, 3_600_000


@pytest.fixture
def ticket(write: Write, payer: Payer, offered: Catalog) -> Any:
    """A ticket for one picture."""
    order = RequestUpload(
        file_name="a.png", content_type="image/png", file_size_bytes=70, model_id="clay"
    )
    return write(uploads.ticket(offered, order, payer, LIMITS, NOW))


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


def test_a_ticket_lives_a_quarter_of_an_hour(write: Write, ticket: Any) -> None:
    assert write(uploads.waiting(ticket.id, NOW + 15 * MINUTE - 1)).id == ticket.id
    with pytest.raises(AccessDeniedError, match="past its time"):
        write(uploads.waiting(ticket.id, NOW + 15 * MINUTE))


def test_a_file_comes_once(write: Write, ticket: Any) -> None:
    write(uploads.fill(ticket.id, sha256="a", duration_ms=None, now=NOW))
    with pytest.raises(ConflictError):
        write(uploads.waiting(ticket.id, NOW))
    with pytest.raises(ConflictError):
        write(uploads.fill(ticket.id, sha256="b", duration_ms=None, now=NOW))

    assert write(uploads.of_generation([ticket.id]))[ticket.id].sha256 == "a"


def test_an_unknown_ticket_is_not_found(write: Write) -> None:
    with pytest.raises(NotFoundError):
        write(uploads.waiting("upl_0", NOW))


def test_what_nobody_used_in_a_day_is_swept_away(write: Write, ticket: Any) -> None:
    write(uploads.fill(ticket.id, sha256="a", duration_ms=None, now=NOW))

    assert write(uploads.sweep(NOW + 24 * HOUR)) == []
    assert write(uploads.sweep(NOW + 24 * HOUR + 1)) == [ticket.id]
    assert write(uploads.sweep(NOW + 24 * HOUR + 1)) == []
    with pytest.raises(NotFoundError):
        write(uploads.waiting(ticket.id, NOW))


def test_what_a_generation_used_is_kept(
    write: Write, ticket: Any, start: Callable[[str], str]
) -> None:
    write(uploads.fill(ticket.id, sha256="a", duration_ms=None, now=NOW))
    start(ticket.id)

    assert write(uploads.sweep(NOW + 99 * HOUR)) == []


def test_an_upload_that_is_swept_between_plan_and_start_charges_nothing(
    write: Write, ticket: Any, payer: Payer, offered: Catalog
) -> None:
    write(uploads.fill(ticket.id, sha256="a", duration_ms=None, now=NOW))
    order = StartGeneration(model_id="clay", media_uploads={"portrait": ticket.id})
    plan = write(generations.plan(offered, order, payer.account_id))
    write(uploads.sweep(NOW + 25 * HOUR))

    with pytest.raises(NotFoundError, match="was removed"):
        write(generations.start(plan, payer, NOW))
    assert write(generations.page(payer.account_id, most=10)) == []
