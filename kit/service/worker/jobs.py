"""A generation's row as the task that a render process gets, and the log line of a job."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import orjson

from kit.errors import NotFoundError
from kit.service.settings import ServiceSettings
from kit.service.storage.base import Storage
from kit.service.storage.keys import upload_key

_log = logging.getLogger("kit.worker")


async def build_task(
    row: Any, files: Mapping[str, Any], storage: Storage, settings: ServiceSettings
) -> dict[str, Any]:
    """Return the task of a generation.

    Parameters
    ----------
    files : mapping of str to row
        The uploads that are left of those that it uses, by id.

    Raises
    ------
    NotFoundError
        One of its uploads was removed.
    """
    media: Mapping[str, list[str]] = orjson.loads(row.media)
    if any(upload_id not in files for group in media.values() for upload_id in group):
        raise NotFoundError("the file is gone")
    paths = {
        upload_id: str(await storage.local(upload_key(file), settings.scratch))
        for upload_id, file in files.items()
    }
    return {
        "do": "render",
        "generation_id": row.id,
        "outputs": str(storage.outputs.folder),
        "model_id": row.model_id,
        "prompt": row.prompt,
        "parameters": orjson.loads(row.parameters),
        "seed": row.seed,
        "file_metadata": bool(settings.file_metadata and row.file_metadata),
        "inputs": sorted({file.generation_id for file in files.values() if file.generation_id}),
        "media": {name: [paths[i] for i in group] for name, group in media.items()},
        "seconds": {
            name: [files[i].duration_ms / 1000 for i in group]
            for name, group in media.items()
            if all(files[i].duration_ms is not None for i in group)
        },
    }


#: What happened to a job -> the level of its log line.
_LEVELS = {"failed": logging.WARNING, "lost": logging.WARNING}


def log_job(what: str, row: Any, seconds: float) -> None:
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
