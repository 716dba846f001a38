"""A generation's row as an order to render it, and the log line of a job."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from kit.service.settings import ServiceSettings
from kit.service.storage.keys import upload_key
from kit.service.worker.pool import JobError

_log = logging.getLogger("kit.worker")


def build_order(
    row: Any,
    files: Mapping[str, Any],
    settings: ServiceSettings,
    variables: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the order of a generation; see `kit.service.worker.renderer`.

    Parameters
    ----------
    files : mapping of str to row
        The uploads that are left of those that it uses, by id.
    variables : sequence of str
        The names of those that the engine gets from the environment of whoever renders.

    Raises
    ------
    JobError
        One of its uploads was removed.
    """
    media: Mapping[str, list[str]] = orjson.loads(row.media)
    if any(upload_id not in files for group in media.values() for upload_id in group):
        raise JobError("an input file is gone; send it again", "input_gone")
    return {
        "do": "render",
        "generation_id": row.id,
        "model_id": row.model_id,
        "prompt": row.prompt,
        "parameters": orjson.loads(row.parameters),
        "seed": row.seed,
        "file_metadata": bool(settings.file_metadata and row.file_metadata),
        "inputs": sorted({file.generation_id for file in files.values() if file.generation_id}),
        "most_seconds": settings.job_seconds,
        "environment": list(variables),
        "media": {name: [upload_key(files[i]) for i in group] for name, group in media.items()},
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
