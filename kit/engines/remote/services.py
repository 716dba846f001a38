"""Models of another service of this same API, offered here under a prefix.

Jobs are forwarded with their files; progress and cancels are passed on. A price here is the price
there times a factor; the difference is whoever runs this service's to keep or to bear.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

from pydantic import Field, ValidationError

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.configured.entries import checked, read
from kit.engines.remote.site import Site, SiteEntry
from kit.errors import ConfigError, EngineError
from kit.parameters import suggest
from kit.private import make_folder
from kit.wire import CATEGORIES, AssetType, Model, Models, Rule

_offers_log = logging.getLogger(__name__)


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
        _offers_log.warning("the models of %s are offered as last seen: %s", site.name, why)
        return kept
    _keep(site, copy, found)
    return found


async def _asked(site: Site, seconds: float) -> Models:
    # Imported here: whoever configures no service does not load an HTTP client to list models.
    from kit.engines.remote.exchange import Ask
    from kit.engines.remote.http import RemoteCaller

    async with asyncio.timeout(seconds), RemoteCaller(site) as caller:
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
        _offers_log.warning("what %s offers cannot be kept: %s", site.name, error.strerror)


_log = logging.getLogger(__name__)
_ID = re.compile(r"[\w.:-]{1,120}", re.ASCII)


class ServicesEntry(SiteEntry):
    """An entry ``[[services]]`` of the file.

    Parameters
    ----------
    prefix : str
        What the ids of its models begin with here, before a dash.
    title : str
        What stands behind the titles of its models, in brackets; when empty its host, or the
        prefix where the host is none that the public knows.
    factor : number
        Credits here for one credit there.
    models : list of str
        Which of its models to offer, by their ids there; empty for all of them.
    wait : float
        Seconds that it may take to list its models when this service starts.
    """

    prefix: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,39}$")
    title: str = ""
    factor: Decimal = Field(default=Decimal(1), gt=0, le=1_000_000)
    models: list[str] = Field(default_factory=list)
    wait: float = Field(default=4.0, gt=0, le=60)


class Forwarded(Engine):
    """Has its jobs rendered by another service of this API."""

    def __init__(self, entry: ServicesEntry, model: Model) -> None:
        self._entry = entry
        self.environment = entry.variables()
        self._model = model
        self.definition = _definition(entry, model)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Send the job on, follow it, and take its output."""
        from kit.engines.remote.forwarding import forward

        return forward(self._entry.site(), self._model, job, progress)


def engines(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engines of one entry ``[[services]]``, one for each of its models.

    Raises
    ------
    ConfigError
        The entry makes no sense, or nothing is known of the service.
    """
    entry = read(ServicesEntry, data)
    copy = copies / f"{entry.prefix}.json"
    found = offered(entry.site(), copy, refresh=refresh, seconds=entry.wait)
    # Said when models are listed, and not again by each render process that looks for one.
    level = logging.WARNING if refresh else logging.DEBUG
    return tuple(_made(entry, {model.id: model for model in [*found.image, *found.video]}, level))


def _made(entry: ServicesEntry, models: Mapping[str, Model], level: int) -> Iterator[Engine]:
    for model_id in entry.models or models:
        name = f"{entry.prefix}-{model_id}"
        if model_id not in models:
            hint = suggest(model_id, models)
            there = entry.site().name
            _log.log(level, "the model %r is left out: %s has none%s", name, there, hint)
            continue
        try:
            yield Forwarded(entry, models[model_id])
        except ConfigError as error:
            _log.log(level, "the model %r is left out: %s", name, error)


def _definition(entry: ServicesEntry, model: Model) -> Definition:
    if not _ID.fullmatch(model.id):
        raise ConfigError("its id cannot be part of an address")
    asset_type = _asset_type(model)
    known = CATEGORIES[asset_type]
    site = entry.site()
    sent = f"Rendered by {site.described}, to which the prompt and the files are sent."
    return checked(
        Definition(
            id=f"{entry.prefix}-{model.id}",
            title=f"{model.title or model.id} ({entry.title or site.public or entry.prefix})",
            asset_type=asset_type,
            category=model.category if model.category in known else known[0],
            description=f"{model.description} {sent}".strip(),
            pricing=_price(entry, model),
            settings=tuple(model.setting_parameters),
            media=tuple(model.media_parameters),
            supports_prompt=model.supports_prompt,
            prompt_required=model.prompt_required,
        )
    )


def _asset_type(model: Model) -> AssetType:
    for known in get_args(AssetType):
        if model.asset_type == known:
            found: AssetType = known
            return found
    raise ConfigError(f"it makes neither pictures nor video, but {model.asset_type!r}")


def _price(entry: ServicesEntry, model: Model) -> Rule:
    """Return the price here: the rule there if it says it, else its usual figure for every job."""
    if model.pricing is not None:
        units = [
            unit.model_copy(update={"credits": unit.credits * entry.factor})
            for unit in model.pricing.units
        ]
        changes = {"base": model.pricing.base * entry.factor, "units": units}
        return model.pricing.model_copy(update=changes)
    figures = (model.credits_at_defaults, model.estimated_credits, model.credits_from)
    figure = next((figure for figure in figures if figure is not None), None)
    if figure is None:
        raise ConfigError("the service says no price for it")
    return Rule(base=figure * entry.factor)
