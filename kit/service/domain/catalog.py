"""The catalog: the models of all engines, with prices, as the API shows them."""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from typing import TypeAlias

from kit import pricing
from kit.engines.base import Definition, Engine, Order, Problem, model_of
from kit.errors import MAX_SHOWN, BadRequestError, NotFoundError
from kit.parameters import shorten, suggest
from kit.service.store import generations
from kit.service.store.database import Transaction, one
from kit.wire import CATEGORIES, Model

_MILLI = Decimal("0.001")
#: Maximum length in characters of a problem in a response.
_MAX_PROBLEM_LENGTH = 500
_log = logging.getLogger("kit.service")

#: The problems that an engine reports, or the exception that it raised.
_Outcome: TypeAlias = "tuple[list[Problem], BaseException | None]"


@dataclass(frozen=True, slots=True)
class Catalog:
    """All models by id, images first, and the engines that check orders.

    Engines are not trusted. Checks run in the process that answers all requests, so each runs in
    its own thread with a time limit. If the engine does not answer, the order is accepted: it may
    still work. An engine that exceeded the limit is not asked again until that check has ended, so
    that it delays one order and not all of them.
    """

    models: Mapping[str, Model]
    #: Engines by model id; see `Engine.check`.
    engines: Mapping[str, Engine] = field(default_factory=dict)
    #: Time limit of a check in seconds; a check should be too fast for a user to notice.
    timeout: float = 1.0
    _overdue_checks: dict[str, threading.Thread] = field(default_factory=dict, init=False)

    def get(self, model_id: str) -> Model:
        """Return a model's definition."""
        model = self.models.get(model_id)
        if model is None:
            hint = suggest(model_id, self.models)
            raise NotFoundError(f"there is no model {shorten(model_id)}{hint}")
        return model

    async def problems(self, model: Model, order: Order) -> list[Problem]:
        """Return why an order cannot work, as (field, sentence) pairs of its engine."""
        engine, overdue = self.engines.get(model.id), self._overdue_checks.get(model.id)
        if engine is None or type(engine).check is Engine.check or (overdue and overdue.is_alive()):
            return []
        outcome: Future[_Outcome] = Future()
        outcome.set_running_or_notify_cancel()  # set_result must work even after a timeout
        run = lambda: outcome.set_result(_check(engine, order))  # noqa: E731
        # No thread pool: the service would wait for its threads when it stops.
        thread = threading.Thread(target=run, name="check", daemon=True)
        thread.start()
        try:
            async with asyncio.timeout(self.timeout):
                found, error = await asyncio.wrap_future(outcome)
        except TimeoutError:
            self._overdue_checks[model.id] = thread
            sentence = "the engine of %r takes longer than %g s to check an order: until it ends, "
            _log.warning(f"{sentence}others are not checked", model.id, self.timeout)
            return []
        if error is not None:
            # The message is not logged: it may contain the prompt.
            reason = type(error).__name__, *traceback.extract_tb(error.__traceback__)[-1][:2]
            sentence = "the engine of %r could not check an order (%s in %s, line %d)"
            _log.warning(sentence, model.id, *reason)
        return [(_field(model, name), reason) for name, reason in found]


def load(definitions: Iterable[Definition]) -> Catalog:
    """Return a catalog of definitions, without engines that check orders."""
    models = [model_of(definition) for definition in definitions]
    models.sort(key=lambda model: (model.asset_type, model.title))
    return Catalog({model.id: model for model in models})


def load_engines(engines: Mapping[str, Engine], timeout: float = 1.0) -> Catalog:
    """Return a catalog of engines that check orders, with a time limit in seconds."""
    return Catalog(load(engine.definition for engine in engines.values()).models, engines, timeout)


def select_models(
    catalog: Catalog, *, asset_type: str | None, alias: str | None, category: str | None
) -> list[Model]:
    """Return the models of an asset type and a category. Source: contract, "Models"."""
    if asset_type and alias and asset_type != alias:
        sentence = f"is {shorten(alias)} while assetType is {shorten(asset_type)}; give one of them"
        raise BadRequestError.fields([("type", sentence)])
    field, requested = ("assetType", asset_type) if asset_type else ("type", alias)
    if requested and requested not in CATEGORIES:
        sentence = f"must be 'image' or 'video', not {shorten(requested)}"
        raise BadRequestError.fields([(field, sentence)])
    types = [requested] if requested else list(CATEGORIES)
    valid = sorted({name for kind in types for name in CATEGORIES[kind]})
    if category and category != "All" and category not in valid:
        names = ", ".join(["All", *valid])
        raise BadRequestError.fields(
            [("category", f"must be one of {names}, not {shorten(category)}")]
        )
    return [
        model
        for model in catalog.models.values()
        if model.asset_type in types and category in (None, "", "All", model.category)
    ]


def add_estimate(model: Model) -> Transaction[Model]:
    """Return a model with the mean charge of its last 100 generations as its estimate."""
    recent = yield from one(generations.recent_charges(model_id=model.id))
    if not recent.number:
        return model
    mean = Decimal(int(recent.total)) / int(recent.number) / pricing.UNITS_PER_CREDIT
    rounded = mean.quantize(_MILLI, ROUND_HALF_UP).normalize()
    return model.model_copy(update={"estimated_credits": rounded})


def generation_type(model: Model, media: Iterable[str]) -> str:
    """Return the type, e.g. ``image-to-video``, by input media. Source: contract, "Generations"."""
    kinds = {p.name: p.type for p in model.media_parameters}
    used = {kinds[name] for name in media}
    if model.category == "Lip syncing":
        return "lip-sync"
    source = next((kind for kind in ("video", "image") if kind in used), "text")
    return f"{source}-to-{model.asset_type}"


def _field(model: Model, name: str) -> str:
    """Return the path of a parameter or medium in the request body."""
    if any(p.name == name for p in model.media_parameters):
        return f"mediaUploads.{name}"
    return f"parameters.{name}" if any(p.name == name for p in model.setting_parameters) else name


def _check(engine: Engine, order: Order) -> _Outcome:
    try:
        found = [
            (_make_printable(name), _make_printable(reason))
            for name, reason in islice(engine.check(order), MAX_SHOWN)
        ]
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        return [], error
    return found, None


def _make_printable(text: object) -> str:
    return "".join(c if c.isprintable() else " " for c in str(text)[:_MAX_PROBLEM_LENGTH])
