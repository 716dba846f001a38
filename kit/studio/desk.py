"""The desk: what a studio does in several steps, as flows; it is the same for both faces.

Nothing here blocks or awaits. Everything a start could refuse is checked here first, so that a bad
request costs a sentence and no credits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from kit import parameters, wire
from kit.client import calls, downloads, flows, uploads
from kit.client.flows import ONCE, PATIENT, Policy
from kit.client.journal import Journal
from kit.client.settings import Settings
from kit.client.steps import Flow
from kit.errors import (
    ConflictError,
    GenerationFailedError,
    InsufficientScopeError,
    KitError,
    MethodNotAllowedError,
    NoAnswerError,
    NotFoundError,
)
from kit.studio.models import UnknownModelError
from kit.studio.orders import Order, by_default, by_rule, plain

OnUpdate = Callable[[wire.Generation], None]
_UNHEARD = (NotFoundError, MethodNotAllowedError)


class Desk:
    """The flows of one studio; those that make something take the flow that checks the order.

    Parameters
    ----------
    policy : Policy
        How patient the client is.
    """

    def __init__(self, settings: Settings, *, policy: Policy = PATIENT) -> None:
        self.settings = settings
        self.journal = Journal.of(settings)
        self.cache = downloads.Cache(settings.data / "notebook" / "outputs", settings.base_url)
        self._policy = policy
        self._models: dict[str, wire.Model] | None = None
        self._status_urls: dict[str, str] = {}

    def models(self, *, refresh: bool = False) -> Flow[dict[str, wire.Model]]:
        """Return all models by id; they are asked for once."""
        if self._models is None or refresh:
            found = yield from flows.ask(calls.list_models(), self._policy)
            self._models = {model.id: model for model in (*found.image, *found.video)}
        return self._models

    def model(self, model_id: str) -> Flow[wire.Model]:
        """Return a model, also one that is not listed."""
        known = yield from self.models()
        if model_id in known:
            return known[model_id]
        try:
            return (yield from flows.ask(calls.get_model(model_id), self._policy))
        except NotFoundError:
            raise UnknownModelError.among(model_id, known) from None

    def order(
        self, model_id: str, prompt: str | None, media: Any, given: Mapping[str, Any]
    ) -> Flow[Order]:
        """Check a request against its model.

        Raises
        ------
        ParameterError
            With one sentence for each problem; nothing was sent.
        """
        model = yield from self.model(model_id)
        files = uploads.sources(model, media)
        wanted = {name: plain(value) for name, value in given.items() if value is not None}
        text = (prompt or "").strip() or None
        checked = parameters.check(model, prompt=text, parameters=wanted, media=files)
        return Order(model, text, {name: checked[name] for name in wanted}, checked, files)

    def quote(self, wanted: Flow[Order]) -> Flow[wire.Quote]:
        """Return the price of an order: by the model's rule, else the service, else the default.

        Raises
        ------
        ConfigError
            Nobody says what it costs; an unknown price is never shown as 0.
        """
        order = yield from wanted
        quote = by_rule(order)
        if quote is None and not order.media:
            quote = yield from self._by_service(order)
        if quote is None:
            quote = by_default(order.model)
        if quote.affordable is not None:
            return quote
        balance = yield from self._balance()
        if balance is None:
            return quote
        return quote.model_copy(update={"balance": balance, "affordable": quote.total <= balance})

    def start(self, wanted: Flow[Order]) -> Flow[wire.Generation]:
        """Upload, start, write it into the journal, and return what is known so far."""
        return (yield from self._start((yield from wanted)))

    def generate(
        self,
        wanted: Flow[Order],
        *,
        again: bool = False,
        timeout: float | None = None,
        on_update: OnUpdate = lambda _: None,
    ) -> Flow[wire.Generation]:
        """Return the finished generation of a request, with its output in the cache.

        The same request is not paid for twice: what it led to before is looked up, unless `again`.
        """
        order = yield from wanted
        begun = None if again else (yield from self._before(order))
        if begun is None:
            begun = yield from self._start(order)
        on_update(begun)
        done = yield from self.wait(begun.id, timeout=timeout, on_update=on_update)
        yield from downloads.output(self.cache, done, self._policy)
        return done

    def wait(
        self,
        generation_id: str,
        *,
        timeout: float | None = None,
        on_update: OnUpdate = lambda _: None,
    ) -> Flow[wire.Generation]:
        """Wait for a generation and return it completed.

        Raises
        ------
        GenerationFailedError
            It ended without a result.
        NoAnswerError
            It still runs after `timeout` seconds.
        """
        done = yield from flows.wait(
            generation_id,
            status_url=self._status_urls.get(generation_id),
            timeout=timeout,
            on_update=on_update,
            policy=self._policy,
        )
        self._note(done)
        if done.state != "completed":
            raise _failure(done)
        return done

    def get(self, generation_id: str) -> Flow[wire.Generation]:
        """Return a generation as it is now."""
        address = self._status_urls.get(generation_id)
        call = calls.get_generation(generation_id, status_url=address)
        found = yield from flows.ask(call, self._policy)
        if found.finished:
            self._note(found)
        return found

    def cancel(self, generation_id: str) -> Flow[wire.Generation]:
        """Stop a generation and return it as it is then; a finished one stays as it is."""
        try:
            yield from flows.ask(calls.cancel_generation(generation_id), self._policy)
        except ConflictError:
            pass  # it ended before the wish arrived: the answer below says how
        except _UNHEARD as error:
            yield from self.get(generation_id)  # an unknown id is the clearer error
            raise NoAnswerError(f"this service cannot cancel a generation ({error})") from None
        return (yield from self.get(generation_id))

    def pending(self) -> Flow[list[wire.Generation]]:
        """Return what was started from here and still runs; what has ended is noted."""
        running = []
        for generation_id in self.journal.pending():
            try:
                found = yield from self.get(generation_id)
            except NotFoundError:
                continue  # started with another account's key
            if not found.finished:
                running.append(found)
        return running

    def charged(self, generation: wire.Generation) -> Decimal | None:
        """Return what a generation was charged: the service's figure, else the receipt's."""
        if generation.credits_charged is not None:
            return generation.credits_charged
        return self.journal.credits().get(generation.id)

    def _start(self, order: Order) -> Flow[wire.Generation]:
        references = yield from uploads.upload_all(order.model, order.media, self._policy)
        call = calls.start_generation(order.body(references))
        receipt = yield from flows.ask(call, self._policy)
        if receipt.status_url and self.settings.owns(receipt.status_url):
            self._status_urls[receipt.id] = receipt.status_url
        self.journal.started(receipt, request=order.digest(), model_id=order.model.id)
        return wire.Generation(
            id=receipt.id,
            status=receipt.status,
            asset_type=receipt.asset_type or order.model.asset_type,
            model_id=order.model.id,
            model_name=order.model.title,
            prompt=order.prompt,
            parameters=dict(order.settings),
            credits_charged=receipt.credits_charged,
            created_at=receipt.created_at,
        )

    def _before(self, order: Order) -> Flow[wire.Generation | None]:
        known = self.journal.latest(order.digest())
        if known is None:
            return None
        try:
            found = yield from self.get(known)
        except NotFoundError:
            return None
        return found if found.state in ("processing", "completed") else None

    def _note(self, generation: wire.Generation) -> None:
        if generation.id in self.journal.pending():
            self.journal.finished(generation)

    def _by_service(self, order: Order) -> Flow[wire.Quote | None]:
        try:
            quote = yield from flows.ask(calls.estimate(order.body({})), self._policy)
        except (*_UNHEARD, InsufficientScopeError):  # paths that nobody knows are 403 at some
            return None
        return quote.model_copy(update={"source": "service"})

    def _balance(self) -> Flow[Decimal | None]:
        try:
            return (yield from flows.ask(calls.get_account(), ONCE)).credits
        except KitError:
            return None  # a price without a balance is still a price


def _failure(generation: wire.Generation) -> GenerationFailedError:
    refund = generation.credits_refunded
    back = f"; {refund:f} credits came back" if refund else ""
    why = generation.error or "the service gives no reason"
    text = f"the generation {generation.id} {generation.state}: {why}{back}"
    if generation.state == "canceled":
        text = f"the generation {generation.id} was canceled{back}"
    error = GenerationFailedError(text, generation)
    error.generation_id = generation.id
    return error
