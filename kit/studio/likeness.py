"""More like this: which pictures of a history are compared with one, and where their files are."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import downloads, uploads
from kit.client.calls import Flow, Sleep
from kit.errors import ConfigError, NotFoundError
from kit.explore.filters import ALL, HistoryFilter
from kit.studio.generation import BaseGeneration
from kit.studio.operations import Operations
from kit.studio.requests import is_id, resolve_media
from kit.widgets.progress import ProgressUpdates

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.archive import Archive

_log = logging.getLogger("kit")
#: Generations that a comparison asks for at most, with a small picture of each.
FETCHED = 100
#: Pictures of which hashes are kept at a time, so that an interruption loses no more.
_PORTION = 100
_NOT_COMPARED = (
    "%s pictures of the history were not looked at yet and are not compared: each call looks at up"
    " to %d, the newest first, and fetch= says how many"
)


def find_similar(
    operations: Operations,
    archive: Archive,
    picture: Any,
    limit: int | None = None,
    choice: HistoryFilter = ALL,
    fetch: int = FETCHED,
) -> Flow[pd.DataFrame]:
    """Return the generations that look most like a picture; see `History.similar`."""
    wanted = yield from _hash(operations, archive, picture)
    missing = archive.without_hash(choice)
    if missing:
        with operations.progress("pictures") as line:
            here = yield from _find_files(operations, missing, fetch, line)
            names = list(here)
            for start in range(0, len(names), _PORTION):
                line.saying(f"looking at {start:,} of {len(names):,} new pictures")
                portion = names[start : start + _PORTION]
                archive.add_hashes({name: here[name] for name in portion})
                yield Sleep(0)  # so that others get their turn
        if left := len(missing) - len(here):
            _log.warning(_NOT_COMPARED, f"{left:,}", fetch)
    return archive.similar(wanted, limit, choice)


def _hash(operations: Operations, archive: Archive, picture: Any) -> Flow[bytes]:
    """Return the hash of a generation, of the one of an id, or of any picture."""
    from kit.explore.search import hash_picture

    facts = picture.facts if isinstance(picture, BaseGeneration) else None
    if is_id(picture):
        facts = wire.Generation(id=picture)
    if facts is not None:
        if known := archive.store.hash_of(facts.id):
            return known
        if not isinstance(picture, BaseGeneration):
            facts = yield from operations.get(facts.id)
        small = yield from downloads.poster(operations.cache, facts)
        picture = small or (yield from downloads.output(operations.cache, facts))
    file = uploads.source((yield from resolve_media(picture)))
    try:
        with file.open() as opened:
            return hash_picture(opened)
    except Exception:  # noqa: BLE001 - a file may be broken in any way
        raise ConfigError(f"similar() compares pictures, and {file.name} is none") from None


def _find_files(
    operations: Operations, missing: Sequence[str], fetch: int, line: ProgressUpdates
) -> Flow[dict[str, Path | None]]:
    """Return picture files of generations: what is here, and the newest that are asked for now.

    None for what has none and never will.
    """
    cache = operations.cache
    small = {name: cache.path(wire.Generation(id=name), poster=True) for name in missing}
    here: dict[str, Path | None] = {name: path for name, path in small.items() if path.exists()}
    new = [name for name in missing if name not in here][:fetch]
    for number, name in enumerate(new):
        line.saying(f"asking for {number:,} of {len(new):,} pictures")
        try:
            facts = yield from operations.get(name)
        except NotFoundError:
            here[name] = None
            continue
        path = cache.path(facts)
        if not (facts.asset_type == "image" and path.exists()):
            path = small[name]
            yield from downloads.poster(cache, facts)
        if path.exists() or not facts.output_url:
            here[name] = path if path.exists() else None
    return here
