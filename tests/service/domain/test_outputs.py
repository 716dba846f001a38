"""Outputs: deleted by their owner or by age, and recorded in the audit log."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from kit.service.domain import audit, generations, outputs, queue
from kit.service.domain.credits import Payer
from kit.service.store import ids
from tests.moments import moment_of
from tests.service.domain.conftest import NOW, Write

DAY = 24 * 3600 * 1000
#: Ids continue from the latest time that was used, so tests advance by milliseconds.
MS = 1 / DAY
FILES = {"key": "outputs/a/b.png", "thumbnail": "outputs/a/c.jpg"}


@pytest.fixture
def finish(write: Write, queue_up: Callable[..., str]) -> Callable[..., str]:
    """Make a completed generation with two files of its own, and return its id."""

    def make(now: int = NOW) -> str:
        name = queue_up(now)
        claimed = write(queue.claim("w", 9, lease=now + 1000, now=now))
        files = {kind: f"{key}-{name}" for kind, key in FILES.items()}
        for row in claimed:
            assert write(queue.finish(row.id, row.attempt, files, now))
        return name

    return make


def row(write: Write, payer: Payer, name: str) -> Any:
    return write(generations.get(name, payer.account_id))


def test_files_of_deleted_outputs_are_listed_until_they_are_removed(
    write: Write, payer: Payer, finish: Callable[..., str]
) -> None:
    name = finish()
    before = row(write, payer, name)

    keys = write(outputs.delete(name, payer, NOW))

    assert keys == [f"{key}-{name}" for key in FILES.values()]
    assert sorted(write(outputs.keys_to_delete())) == sorted(keys)
    write(outputs.note_removed(keys[:1]))
    assert write(outputs.keys_to_delete()) == keys[1:]
    after = row(write, payer, name)
    assert after.outputs_deleted_at == NOW
    # Although the clock stood still: a page that was cached before must become invalid.
    assert after.updated_at > before.updated_at


def test_deleting_outputs_again_lists_nothing_and_adds_no_audit_entry(
    write: Write, payer: Payer, finish: Callable[..., str]
) -> None:
    name = finish()
    write(outputs.delete(name, Payer(payer.account_id, "key_1", "cs_live_abcd"), NOW))

    assert write(outputs.delete(name, payer, NOW + 5)) == []
    assert row(write, payer, name).outputs_deleted_at == NOW
    acts = [it for it in write(audit.list_acts(most=99)) if it.act == "outputs.deleted"]
    assert [(it.actor, it.subject) for it in acts] == [("key:cs_live_abcd", name)]


def delete_all_old(write: Write, days: float, now: int, after: str = "") -> str:
    """Delete old outputs of all pages as the sweeper does and return the last id."""
    while (seen := write(outputs.delete_old(after, days, now))) != after:
        after = seen
    return after


@pytest.fixture
def later() -> int:
    """A time after all generations of this process."""
    return moment_of(ids.new("gen", NOW)) + 1


def test_old_outputs_are_deleted_and_recent_ones_are_kept(
    write: Write, payer: Payer, finish: Callable[..., str], later: int
) -> None:
    old, recent = finish(later), finish(later + 20)

    last = delete_all_old(write, 15 * MS, later + 30)

    assert last == old
    assert row(write, payer, old).outputs_deleted_at == later + 30
    assert row(write, payer, recent).outputs_deleted_at is None
    assert len(write(outputs.keys_to_delete())) == 2
    [line] = [it for it in write(audit.list_acts(most=99)) if it.act == "outputs.expired"]
    assert (line.actor, line.subject) == ("service", old)
    assert orjson.loads(line.details) == {"generations": 1, "last": old, "days": 15 * MS}


def test_old_outputs_are_deleted_page_by_page_and_once(
    write: Write, payer: Payer, finish: Callable[..., str], later: int
) -> None:
    names = [finish(later + number) for number in range(5)]

    assert write(outputs.delete_old("", MS, later + 20, most=2)) == names[1]
    assert write(outputs.delete_old(names[1], MS, later + 20, most=2)) == names[3]
    assert row(write, payer, names[4]).outputs_deleted_at is None
    assert delete_all_old(write, MS, later + 20, names[3]) == names[4]
    assert all(row(write, payer, name).outputs_deleted_at for name in names)
    assert len(write(outputs.keys_to_delete())) == 10


def test_a_generation_that_is_not_finished_stops_the_deletion_of_later_ones(
    write: Write, payer: Payer, finish: Callable[..., str], queue_up: Callable[..., str], later: int
) -> None:
    first, waiting = finish(later), queue_up(later + 1)

    assert delete_all_old(write, MS, later + 20) == first
    write(generations.cancel(waiting, payer, later + 20))
    assert delete_all_old(write, MS, later + 20, first) == waiting
