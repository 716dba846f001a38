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
from kit.client.waiting import Board
from kit.errors import ConflictError, KitError, MethodNotAllowedError, NoAnswerError, NotFoundError
from kit.studio import outcomes
from kit.studio.models import UnknownModelError
from kit.studio.orders import Order, plain, resolved
from kit.studio.till import Till
from kit.widgets.keys import Keys

OnUpdate = Callable[[wire.Generation], None]
References = dict[str, str | list[str]]
OnSent = Callable[[str, float], None]
_UNHEARD = (NotFoundError, MethodNotAllowedError)
#: How many generations of an equal request are looked at before it is made anew.
_LOOKED_AT = 3


class Desk:
    """The flows of one studio; those that make something take the flow that checks the order.

    Parameters
    ----------
    policy : Policy
        How patient the client is.
    keys : Keys, optional
        Manages the account's keys, where that can be done from here.
    passing : bool
        Whether somebody signed in here and saved nothing: no cell has such a studio.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy = PATIENT,
        keys: Keys | None = None,
        passing: bool = False,
    ) -> None:
        self.settings = settings
        self.keys = keys
        self.passing = passing
        self.journal = Journal.of(settings)
        self.cache = downloads.Cache(settings.data / "notebook" / "outputs", settings.base_url)
        self._policy = policy
        self.till = Till(settings, policy=policy)
        self._board = Board(policy)
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
        files = uploads.sources(model, (yield from resolved(media)))
        wanted = {name: plain(value) for name, value in given.items() if value is not None}
        text = (prompt or "").strip() or None
        checked = parameters.check(model, prompt=text, parameters=wanted, media=files)
        return Order(model, text, {name: checked[name] for name in wanted}, checked, files)

    def quote(self, wanted: Flow[Order]) -> Flow[wire.Quote]:
        """Return the price of an order and whether the balance allows it; see `Till.price`.

        Raises
        ------
        ConfigError
            Nobody says what it costs; an unknown price is never shown as 0.
        """
        order = yield from wanted
        quote = yield from self.till.price(order)
        if quote.affordable is not None:
            return quote
        balance = yield from self._balance()
        if balance is None:
            return quote
        return quote.model_copy(update={"balance": balance, "affordable": quote.total <= balance})

    def start(self, wanted: Flow[Order]) -> Flow[wire.Generation]:
        """Upload, start, write it into the journal, and return what is known so far."""
        return (yield from self.begin((yield from wanted)))

    def generate(
        self,
        wanted: Flow[Order],
        *,
        again: bool = False,
        timeout: float | None = None,
        on_update: OnUpdate = lambda _: None,
        on_sent: OnSent = lambda _name, _share: None,
        on_known: Callable[[str], object] = lambda _: None,
    ) -> Flow[wire.Generation]:
        """Return the finished generation of a request, with its output in the cache.

        The same request is not paid for twice: what it led to before is looked up, unless `again`.

        Parameters
        ----------
        timeout : float or None
            Seconds for all of it but the download. A pause that would pass them, because the
            service is busy for instance, is not begun.
        on_known : callable
            Called with the id where the generation was there before.
        """
        clock = self._policy.clock
        began = clock()
        starting = self._started(wanted, again=again, on_sent=on_sent, on_known=on_known)
        ends = None if timeout is None else began + timeout
        begun = yield from flows.within(starting, ends, clock)
        on_update(begun)
        if not begun.finished:
            begun = yield from self.wait(
                begun.id, timeout=timeout, began=began, on_update=on_update
            )
        yield from downloads.output(self.cache, begun, self._policy)
        return begun

    def _started(
        self,
        wanted: Flow[Order],
        *,
        again: bool,
        on_sent: OnSent,
        on_known: Callable[[str], object],
    ) -> Flow[wire.Generation]:
        order = yield from wanted
        begun = None if again else (yield from self._before(order))
        if begun is not None:
            on_known(begun.id)
            return begun
        return (yield from self.begin(order, on_sent=on_sent))

    def wait(
        self,
        generation_id: str,
        *,
        timeout: float | None = None,
        began: float | None = None,
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
        done = yield from self._board.wait(
            generation_id,
            status_url=self._status_urls.get(generation_id),
            timeout=timeout,
            began=began,
            on_update=on_update,
        )
        self._note(done)
        if done.state != "completed":
            raise outcomes.failure(done)
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
        """Return what was started from here and was not seen to end; an end is told once."""
        known = self.journal.pending()
        found = yield from self._board.look({key: self._status_urls.get(key) for key in known})
        for generation in found.values():
            if generation.finished:
                self._note(generation)
        return list(found.values())

    def charged(self, generation: wire.Generation) -> Decimal | None:
        """Return what a generation was charged: the service's figure, else the receipt's."""
        if generation.credits_charged is not None:
            return generation.credits_charged
        return self.journal.charged(generation.id)

    def begin(
        self,
        order: Order,
        *,
        key: str | None = None,
        request: str | None = None,
        references: References | None = None,
        on_sent: OnSent = lambda _name, _share: None,
    ) -> Flow[wire.Generation]:
        """Start what was checked, if the open budgets allow it; see `start`.

        Parameters
        ----------
        key : str, optional
            The idempotency key, for starts that may be repeated after a restart of the kernel.
        request : str, optional
            What the journal knows the request by; its hash by default.
        references : mapping, optional
            Ids of files that were uploaded before.
        """
        request = request or order.digest()
        with (yield from self.till.hold(order)) as hold:
            if references is None:
                references = yield from self.uploaded(order, on_sent)
            call = calls.start_generation(order.body(references), key=key)
            hold.sending()
            receipt = yield from flows.ask(call, self._policy)
            # first of all: whatever goes wrong from here on, the generation can be found
            self.journal.started(receipt, request=request, model_id=order.model.id)
            self.till.paid(order, receipt, hold)
        if receipt.status_url and self.settings.owns(receipt.status_url):
            self._status_urls[receipt.id] = receipt.status_url
        return outcomes.begun(order, receipt)

    def uploaded(
        self, order: Order, on_sent: OnSent = lambda _name, _share: None
    ) -> Flow[References]:
        """Send the files of an order and return their ids."""
        return (yield from uploads.upload_all(order.model, order.media, self._policy, on_sent))

    def _before(self, order: Order) -> Flow[wire.Generation | None]:
        for known in self.journal.earlier(order.digest())[:_LOOKED_AT]:
            try:
                found = yield from self.get(known)
            except NotFoundError:
                continue  # another account's, or removed
            if found.state in ("processing", "completed"):
                return found
        return None

    def _note(self, generation: wire.Generation) -> None:
        self.till.settled(generation)
        if generation.id in self.journal.pending():
            self.journal.finished(generation)

    def _balance(self) -> Flow[Decimal | None]:
        try:
            return (yield from flows.ask(calls.get_account(), ONCE)).credits
        except KitError:
            return None  # a price without a balance is still a price
