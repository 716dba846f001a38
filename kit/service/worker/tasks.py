"""A generation's row as a task for a render process, and what is told of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from kit.errors import NotFoundError
from kit.service.storage.base import Storage
from kit.service.storage.keys import upload_key

_log = logging.getLogger("kit.worker")


def uploads_of(row: Any) -> list[str]:
    """Return the ids of the uploads that a generation uses."""
    media: Mapping[str, list[str]] = orjson.loads(row.media)
    return [upload_id for group in media.values() for upload_id in group]


async def task_of(
    row: Any, files: Mapping[str, Any], storage: Storage, scratch: Path
) -> dict[str, Any]:
    """Return what a render process is told.

    Parameters
    ----------
    files : mapping of str to row
        The uploads that it uses, by id.
    scratch : Path
        Where inputs are put that lie elsewhere.

    Raises
    ------
    NotFoundError
        One of its uploads was removed.
    """
    media: Mapping[str, list[str]] = orjson.loads(row.media)
    if any(upload_id not in files for upload_id in uploads_of(row)):
        raise NotFoundError("the file is gone")
    paths = {
        upload_id: str(await storage.local(upload_key(file), scratch))
        for upload_id, file in files.items()
    }
    return {
        "do": "render",
        "generation_id": row.id,
        "shelf": str(storage.shelf.folder),
        "model_id": row.model_id,
        "prompt": row.prompt,
        "parameters": orjson.loads(row.parameters),
        "seed": row.seed,
        "media": {name: [paths[i] for i in group] for name, group in media.items()},
        "seconds": {
            name: [files[i].duration_ms / 1000 for i in group]
            for name, group in media.items()
            if all(files[i].duration_ms is not None for i in group)
        },
    }


#: What happened to a job -> how loud it is said.
_LEVELS = {"failed": logging.WARNING, "lost": logging.WARNING}


def note(what: str, row: Any, seconds: float) -> None:
    """Log one line for a job; never its prompt, nor what an engine said, which may repeat it."""
    level = _LEVELS.get(what, logging.INFO)
    if _log.isEnabledFor(level):
        facts = {
            "event": f"job_{what}",
            "what": what,
            "generation": row.id,
            "attempt": row.attempt,
            "model": row.model_id,
            "seconds": round(seconds, 3),
        }
        line = "%(generation)s attempt %(attempt)d of %(model)s: %(what)s after %(seconds).3f s"
        _log.log(level, line, facts)
