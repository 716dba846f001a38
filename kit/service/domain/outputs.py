"""Deletion of outputs, by their owner or by age; the generations stay.

One transaction marks the row and lists its files for removal. Each file is removed afterwards, and
then its entry in that list; what is left after a crash is removed in the next round.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from kit.errors import ConflictError
from kit.service.domain import audit
from kit.service.domain.credits import Payer
from kit.service.domain.generations import STATUSES, get
from kit.service.storage import Storage
from kit.service.storage.keys import owner
from kit.service.store import Database, generations, removals
from kit.service.store.database import Transaction, one

_log = logging.getLogger("kit.service")

_DAY_MS = 24 * 3600 * 1000
#: Rows that are checked, and files that are removed, at a time.
PAGE_SIZE = 500


def delete(generation_id: str, payer: Payer, now: int) -> Transaction[list[str]]:
    """Delete the outputs of a generation, if there are any; return the keys of files to remove."""
    row = yield from get(generation_id, payer.account_id)
    if STATUSES[row.state] == "processing":
        raise ConflictError("the generation is still processing; cancel it or wait for its end")
    keys = yield from _delete(row, now)
    if keys:
        yield from audit.record("outputs.deleted", generation_id, payer.actor, now)
    return keys


def delete_old(after: str, days: float, now: int, *, most: int = PAGE_SIZE) -> Transaction[str]:
    """Delete the outputs of a page of old generations and return the last id that was checked.

    It equals `after` if nothing is left to do; it stops at a generation that is still processing.
    """
    before = now - days * _DAY_MS
    deleted = []
    for row in (yield generations.oldest(after=after, most=most)):
        if row.created_at >= before or STATUSES[row.state] == "processing":
            break
        if (yield from _delete(row, now)):
            deleted.append(row.id)
        after = row.id
    if deleted:
        facts = {"generations": len(deleted), "last": deleted[-1], "days": days}
        yield from audit.record("outputs.expired", deleted[0], audit.SERVICE, now, **facts)
    return after


def find_orphans(keys: Iterable[str]) -> Transaction[list[str]]:
    """Return the keys of output files that no generation has or will have.

    A job that was canceled while rendering may have stored its files, and so may one whose service
    was killed. Files of generations that are not in this database are left alone.
    """
    found = []
    for key in keys:
        row = yield from one(generations.result(id=owner(key)))
        if row is None or STATUSES[row.state] == "processing":
            continue
        has_outputs = row.output is not None and row.outputs_deleted_at is None
        if not has_outputs or key not in keys_of(row.output):
            found.append(key)
    return found


async def remove_files(database: Database, storage: Storage, keys: Sequence[str]) -> bool:
    """Remove files that no row refers to; False if one must be tried again later."""
    removed = []
    for key in keys:
        try:
            await storage.remove(key)
        except OSError as error:  # on some systems, a file that is being read cannot be removed
            _log.warning("%s could not be removed: %s", key, error.strerror or error)
        else:
            removed.append(key)
    if removed:
        await database.write(note_removed(removed))
    return len(removed) == len(keys)


def keys_to_delete() -> Transaction[list[str]]:
    """Return the keys of some files that must be removed."""
    rows = yield removals.some(most=PAGE_SIZE)
    return [row.key for row in rows]


def note_removed(keys: Sequence[str]) -> Transaction[None]:
    """Take removed files off the list."""
    for key in keys:
        yield removals.done(key=key)


def keys_of(output: str) -> list[str]:
    """Return the keys of the files in a row's output."""
    return files_of(orjson.loads(output))


def files_of(result: Mapping[str, Any]) -> list[str]:
    """Return the keys of the files that a job stored."""
    return [key for key in (result["key"], result.get("thumbnail")) if key]


def _delete(row: Any, now: int) -> Transaction[list[str]]:
    if row.output is None or row.outputs_deleted_at is not None:
        return []
    yield generations.delete_outputs(id=row.id, now=now)
    keys = keys_of(row.output)
    for key in keys:
        yield removals.add(key=key, created_at=now)
    return keys
