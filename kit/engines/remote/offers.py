"""What another service offers, asked for when models are listed and kept as a copy on disk.

The copy is what render processes read, and what is offered while the service does not answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path

from pydantic import ValidationError

from kit.engines.remote.site import Site
from kit.errors import ConfigError, EngineError
from kit.private import make_folder
from kit.wire import Models

_log = logging.getLogger(__name__)


def offered(site: Site, copy: Path, *, refresh: bool, seconds: float) -> Models:
    """Return the models of a service: as it lists them now, else as they were listed last.

    Parameters
    ----------
    copy : Path
        File that holds the copy.
    refresh : bool
        Whether to ask the service although there is a copy.
    seconds : float
        How long the service may take to answer.

    Raises
    ------
    ConfigError
        It does not answer, and there is no copy.
    """
    kept = _kept(site, copy)
    if kept is not None and not refresh:
        return kept
    try:
        found = asyncio.run(_asked(site, seconds))
    except (EngineError, TimeoutError, ValidationError) as error:
        why = _why(error, seconds)
        if kept is None:
            raise ConfigError(f"what {site.name} offers is not known: {why}") from None
        _log.warning("the models of %s are offered as last seen: %s", site.name, why)
        return kept
    _keep(site, copy, found)
    return found


async def _asked(site: Site, seconds: float) -> Models:
    # Imported here: whoever configures no service does not load an HTTP client to list models.
    from kit.engines.remote.exchange import Ask
    from kit.engines.remote.http import Caller

    async with asyncio.timeout(seconds), Caller(site) as caller:
        reply = await caller.ask(
            Ask(method="GET", path="v1/creative-studio/models", once=True, quiet=seconds)
        )
        return Models.model_validate(reply.json())


def _why(error: Exception, seconds: float) -> str:
    """Return why there is no list, for whoever runs this service."""
    if isinstance(error, EngineError):
        return error.detail or str(error)
    if isinstance(error, TimeoutError):
        return f"no list within {seconds:g} s"
    return "its answer is no list of models"


def _kept(site: Site, copy: Path) -> Models | None:
    try:
        content = json.loads(copy.read_text(encoding="utf-8"))
        # Another address is another service, whatever it is called.
        return Models.model_validate(content["models"]) if content["url"] == site.url else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(site: Site, copy: Path, models: Models) -> None:
    content = {"url": site.url, "models": models.model_dump(mode="json", by_alias=True)}
    draft = copy.with_name(f"{copy.name}.{os.getpid()}")
    try:
        make_folder(copy.parent)
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(copy)
    except OSError as error:
        _log.warning("what %s offers cannot be kept: %s", site.name, error.strerror)
