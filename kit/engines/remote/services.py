"""Models of another service with this same API, offered here with a prefix.

Jobs are forwarded with their files, progress and cancels, too. A price here is the price there
times a factor; the operator keeps or bears the difference.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, ValidationError

from kit.engines.base import Asset, Definition, Engine, Job, Progress, model_of
from kit.engines.configured.entries import read, text_pattern
from kit.engines.remote.site import Site, SiteEntry
from kit.errors import ConfigError, EngineError
from kit.parameters import suggest
from kit.private import make_folder, write_private
from kit.wire import CATEGORIES, AssetType, Model, Models, Rule

_log = logging.getLogger(__name__)
_ID = re.compile(r"[\w.:-]{1,120}", re.ASCII)


class ServicesEntry(SiteEntry):
    """An entry ``[[services]]`` of the file; `example.toml` explains its keys."""

    prefix: Annotated[
        str,
        text_pattern(
            "[a-z0-9][a-z0-9-]{0,39}",
            "small letters, digits and dashes, at most 40, a letter or digit first",
        ),
    ]
    #: Appended to the titles of its models; if empty, a public host or the prefix.
    title: str = ""
    factor: Decimal = Field(default=Decimal(1), gt=0, le=1_000_000)
    models: list[str] = Field(default_factory=list)
    #: Time limit in seconds for the list of its models when this service starts.
    wait: float = Field(default=4.0, gt=0, le=60)


class ForwardedModel(Engine):
    """Renders with another service of this API."""

    def __init__(self, entry: ServicesEntry, model: Model) -> None:
        self._site = entry.site()
        self._model = model
        self.environment = entry.variables()
        self.definition = define(entry, model)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Forward the job, wait for it, and return its output."""
        from kit.engines.remote.forwarding import forward
        from kit.engines.remote.orders import render

        work = partial(forward, self._model)
        return render(work, self._site, self.definition.asset_type, job, progress)


def services(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engines of an entry ``[[services]]``, one per model, or raise ConfigError."""
    entry = read(ServicesEntry, data)
    found = _list_models(entry, copies / f"{entry.prefix}.json", refresh)
    # Logged when models are listed, and not again by each render process that needs one.
    level = logging.WARNING if refresh else logging.DEBUG
    models = {model.id: model for model in [*found.image, *found.video]}
    engines = []
    for model_id in entry.models or models:
        try:
            if model_id not in models:
                raise ConfigError(f"{entry.site().name} has none{suggest(model_id, models)}")
            engines.append(ForwardedModel(entry, models[model_id]))
        except ConfigError as error:
            name = f"{entry.prefix}-{model_id}"
            _log.log(level, "the model %r is left out: %s", name, error)
    return engines


def _list_models(entry: ServicesEntry, copy: Path, refresh: bool) -> Models:
    site = entry.site()
    cached = _read_copy(site, copy)
    if cached is not None and not refresh:
        return cached
    try:
        found = asyncio.run(_fetch_models(site, entry.wait))
    except EngineError as error:
        reason = error.detail or str(error)
    except TimeoutError:
        reason = f"no list within {entry.wait:g} s"
    except ValidationError:
        reason = "its answer is not a list of models"
    else:
        _write_copy(site, copy, found)
        return found
    if cached is None:
        raise ConfigError(f"what {site.name} offers is unknown: {reason}") from None
    _log.warning("the models of %s are offered from the cache: %s", site.name, reason)
    return cached


async def _fetch_models(site: Site, seconds: float) -> Models:
    # Imported here: listing other kinds of models needs no HTTP client.
    from kit.engines.remote.http import RemoteCaller, RemoteRequest

    path = "v1/creative-studio/models"
    async with asyncio.timeout(seconds), RemoteCaller(site) as caller:
        request = RemoteRequest(method="GET", path=path, tries=1, silence=seconds)
        return Models.model_validate((await caller.send(request)).json())


def _read_copy(site: Site, copy: Path) -> Models | None:
    try:
        content = json.loads(copy.read_text(encoding="utf-8"))
        # Another URL is another service, even with the same name.
        return Models.model_validate(content["models"]) if content["url"] == site.url else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_copy(site: Site, copy: Path, models: Models) -> None:
    content = {"url": site.url, "models": models.model_dump(mode="json", by_alias=True)}
    try:
        make_folder(copy.parent)
        write_private(copy, json.dumps(content))
    except OSError as error:
        _log.warning("the models of %s cannot be cached: %s", site.name, error.strerror)


def define(entry: ServicesEntry, model: Model) -> Definition:
    """Return the definition of another service's model here; ConfigError if impossible."""
    if not _ID.fullmatch(model.id):
        raise ConfigError("its id cannot be part of a URL")
    kinds: Mapping[str | None, AssetType] = {kind: kind for kind in get_args(AssetType)}
    if model.asset_type not in kinds:
        raise ConfigError(f"it generates neither pictures nor videos, but {model.asset_type!r}")
    categories = CATEGORIES[kinds[model.asset_type]]
    site = entry.site()
    sentence = f"Rendered by {site.description}, to which the prompt and the files are sent."
    definition = Definition(
        id=f"{entry.prefix}-{model.id}",
        title=f"{model.title or model.id} ({entry.title or site.public or entry.prefix})",
        asset_type=kinds[model.asset_type],
        category=model.category if model.category in categories else categories[0],
        description=f"{model.description} {sentence}".strip(),
        pricing=_price(entry, model),
        settings=tuple(model.setting_parameters),
        media=tuple(model.media_parameters),
        supports_prompt=model.supports_prompt,
        prompt_required=model.prompt_required,
    )
    model_of(definition)
    return definition


def _price(entry: ServicesEntry, model: Model) -> Rule:
    # The service's price rule if it has one, otherwise its typical price for all jobs.
    factor, rule = entry.factor, model.pricing
    if rule is not None:
        units = [u.model_copy(update={"credits": u.credits * factor}) for u in rule.units]
        return rule.model_copy(update={"base": rule.base * factor, "units": units})
    figures = (model.credits_at_defaults, model.estimated_credits, model.credits_from)
    figure = next((figure for figure in figures if figure is not None), None)
    if figure is None:
        raise ConfigError("the service reports no price for it")
    return Rule(base=figure * factor)
