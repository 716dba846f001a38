"""Billing: the price of a request, whether open budgets allow it, and the charges.

All starts of a studio pass here: those of forms, sweeps and cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from kit import errors, parameters, pricing, wire
from kit.client import calls, flows
from kit.client.calls import Call, Flow
from kit.client.flows import ONCE, Policy
from kit.client.journal import Notices
from kit.client.settings import Settings
from kit.explore.budgets import Budgets, Hold
from kit.explore.price_book import MAX_USED, LearnedQuote, PriceBook, make_samples, priced_settings
from kit.parameters import Request
from kit.studio import history_sync
from kit.studio.catalog import ModelCatalog
from kit.studio.changes import changes_at
from kit.studio.requests import body_of, convert_errors

#: Errors that a start would raise too. Any other error only means that there is no estimate.
_START_ERRORS = (
    errors.MissingApiKeyError,
    errors.InvalidApiKeyError,
    errors.ExpiredApiKeyError,
    errors.InsufficientCreditsError,
    errors.RateLimitError,
    errors.UnavailableError,
)


class Billing:
    """Prices, budgets and receipts of one studio."""

    def __init__(
        self, settings: Settings, *, policy: Policy, notices: Notices, catalog: ModelCatalog
    ) -> None:
        self.budgets = Budgets()
        self.changes = changes_at(settings.base_url)
        self.book = PriceBook(settings.records("prices"))
        self._texts = settings.records("texts")
        self._settings = settings
        self._policy = policy
        self._notices = notices
        self._catalog = catalog
        self._has_estimates = True
        self._learned_files: dict[str, tuple[str, ...]] = {}

    def price(self, request: Request) -> Flow[wire.Quote]:
        """Return the price of a request: by rule, else the service, receipts, the default.

        The default may be the price of other settings than the chosen ones; its terms say so.
        Without a default it is a `ConfigError`: an unknown price is never shown as 0.
        """
        quote = price_by_rule(request)
        if quote is None and not request.media and self._has_estimates:
            quote = yield from self._quote_by_service(request)
        if quote is None and not request.model.pricing:
            quote = self._quote_receipts(request.model, _features(request))
        return price_by_default(request) if quote is None else quote

    def quote(self, request: Request) -> Flow[wire.Quote]:
        """Return the price of a request and whether the balance covers it; see `price`.

        A service like ours is asked too, because the model may refuse a request that breaks no
        rule, and its price may have changed since the models were fetched.
        """
        quote = yield from self.price(request)
        checked = yield from self.check(request)
        if checked is not None:
            if checked.total != quote.total:
                self._catalog.forget()
            return checked.model_copy(update={"source": quote.source})
        if quote.affordable is not None:
            return quote
        try:
            balance = (yield from flows.ask(calls.get_account(), ONCE)).credits
        except errors.KitError:
            balance = None  # a price without a balance is still useful
        if balance is None:
            return quote
        return quote.model_copy(update={"balance": balance, "affordable": quote.total <= balance})

    def check(self, request: Request) -> Flow[wire.Quote | None]:
        """Let a service like ours validate a request without files as it would validate a start.

        None for other services, and for requests with files, which are validated when uploaded.
        """
        if request.media or not self._settings.ours or not self._has_estimates:
            return None
        return (yield from self._quote_by_service(request))

    def price_today(self, model: wire.Model, given: Mapping[str, Any]) -> wire.Quote | None:
        """Return today's price of settings, without files; None if they are not valid any more."""
        names = {p.name for p in model.setting_parameters}
        settings = {name: value for name, value in given.items() if name in names}
        limits = parameters.limits_of(model)
        values, problems = parameters.check_settings(
            model.setting_parameters, settings, limits=limits
        )
        return None if problems else self.price_values(model, values, {})

    def price_values(
        self, model: wire.Model, values: Mapping[str, Any], seconds: Mapping[str, float]
    ) -> wire.Quote | None:
        """Return the price by rule, else by receipts, without a request to the service."""
        if model.pricing is None:
            lengths = {f"seconds of {name}": value for name, value in seconds.items()}
            return self._quote_receipts(model, {**values, **lengths})
        kinds = {p.name: p.type for p in model.media_parameters}
        media = {
            name: [pricing.Medium(kinds.get(name, ""), Fraction(str(value)))]
            for name, value in seconds.items()
        }
        return pricing.price(model.pricing, values, media)

    def hold(self, request: Request, times: int = 1, start: str = "") -> Flow[Hold]:
        """Hold the price of a request in the open budgets, plus its error if it is learned.

        `start` is the key of an earlier start that is repeated: no budget counts both.
        Starts that would exceed a budget, or have no known price, raise `BudgetError`.
        """
        what = f"{'a start' if times == 1 else f'{times} starts'} of {request.model.id}"
        if not self.budgets:
            return self.budgets.hold(Decimal(0), what)
        try:
            quote = yield from self.price(request)
        except errors.ConfigError as error:
            raise errors.BudgetError(f"{error}; it is not started inside a budget") from None
        return self.budgets.hold(times * max_cost(quote), what, start)

    def count_payment(self, request: Request, receipt: wire.Receipt, hold: Hold) -> None:
        """Count a charge; models without a price rule are priced by it, changed rules fetched."""
        hold.charge(receipt.id, receipt.credits_charged)
        self.changes.notify()
        charged, rule = receipt.credits_charged, request.model.pricing
        if charged is None:
            return
        if rule is None:
            self._notices.try_write(
                lambda: self.book.add(request.model, _features(request), charged, receipt.id),
                f"the price of {receipt.id}",
            )
        elif not request.media and charged != pricing.price(rule, request.complete).total:
            self._catalog.forget()

    def buy_title(self, topic: str, *, again: bool = True) -> Flow[tuple[wire.Title, bool]]:
        """Return a title and whether it is reused: the earlier one of its topic, unless `again`."""
        with convert_errors():
            call = calls.suggest_title(topic)
        order = ["title", topic]
        texts, reused = yield from self._buy(order, again, "a title", pricing.TITLE_CREDITS, call)
        return wire.Title.model_validate(texts[0]), reused

    def buy_scripts(
        self, order: wire.WriteScripts, *, again: bool = True
    ) -> Flow[tuple[list[wire.Script], bool]]:
        """Return one or two scripts and whether they are reused, from an equal earlier order.

        Texts are only checked against the limits of our service; others check their own.
        """
        if self._settings.ours and (problems := [*parameters.script_problems(order)]):
            raise errors.ParameterError.fields(problems)
        request = ["scripts", order.model_dump(mode="json", by_alias=True)]
        what, count = ("2 scripts", 2) if str(order.variations) == "2" else ("a script", 1)
        price, call = count * pricing.SCRIPT_CREDITS, calls.write_scripts(order)
        texts, reused = yield from self._buy(request, again, what, price, call)
        return [wire.Script.model_validate(each) for each in texts], reused

    def _buy(
        self, order: list[Any], again: bool, what: str, credits: Decimal, call: Call[Any]
    ) -> Flow[tuple[list[Any], bool]]:
        """Return texts as JSON, and whether they are reused from an earlier order."""
        if self._settings.reuse and not again:
            for line in self._texts:
                if line.get("order") == order and line["texts"]:
                    return line["texts"], True
        with self.budgets.hold(credits, what) as hold:
            hold.mark_sent()
            found = yield from flows.ask(call)
            hold.charge(f"{what} {hold.number}", credits)
        self.changes.notify()
        results = found if isinstance(found, list) else [found]
        texts = [each.model_dump(mode="json", by_alias=True) for each in results]
        self._notices.try_write(
            lambda: self._texts.append({"order": order, "texts": texts}), "the texts"
        )
        return texts, False

    def _quote_by_service(self, request: Request) -> Flow[wire.Quote | None]:
        try:
            quote = yield from flows.ask(calls.estimate(body_of(request)), self._policy)
        except errors.ApiError as error:
            if isinstance(error, _START_ERRORS) or _names_fields(error):
                raise
            # a failed path may work later; any other error means that there is no such path
            self._has_estimates = isinstance(error, errors.InternalError)
            return None
        return quote.model_copy(update={"source": "service"})

    def _quote_receipts(self, model: wire.Model, values: Mapping[str, Any]) -> LearnedQuote | None:
        """Return the price by receipts and the synced history as of now, or None.

        The settings contain the lengths of files as ``seconds of NAME``.
        """
        if (account := history_sync.known_account(self._settings)) is not None:
            archive = history_sync.open_archive(self._settings, account)
            files = tuple(archive.files())
            if self._learned_files.get(model.id, ()) != files:
                self.book.learn(model, make_samples(model, archive.charges(model.id, MAX_USED)))
                self._learned_files[model.id] = files
        return self.book.quote(model, values)


def _names_fields(error: errors.ApiError) -> bool:
    """Whether an error says which fields are invalid. Source: contract, "Conventions"."""
    details = error.details if isinstance(error, errors.BadRequestError) else None
    return isinstance(details, list) and any(
        isinstance(each, Mapping) and "field" in each for each in details
    )


def price_by_rule(request: Request) -> wire.Quote | None:
    """Return the price by the model's rule, or None if it has none.

    Raises `ConfigError` if it depends on the length of a file that cannot be measured here.
    """
    if (rule := request.model.pricing) is None:
        return None
    media = {
        name: [pricing.Medium(file.kind, file.measure()) for file in request.media.get(name, ())]
        for name in {unit.medium for unit in rule.units if unit.medium}
    }
    return pricing.price(rule, request.complete, media)


def price_by_default(request: Request) -> wire.Quote:
    """Return the price at default settings, with a term that says why it is an estimate."""
    model = request.model
    if model.credits_at_defaults is None:
        raise errors.ConfigError(f"the service does not say what the model {model.id!r} costs")
    defaults = {p.name: p.default for p in model.setting_parameters}
    given = priced_settings(model, request.parameters)
    others = [name for name, value in given.items() if value != defaults.get(name)]
    difference = f"; yours differs in {', '.join(others)}" if others else ""
    kind = f"estimated: the price with the model's defaults{difference}"
    term = wire.Term(kind=kind, credits=model.credits_at_defaults)
    return wire.Quote(total=model.credits_at_defaults, source="default", terms=[term])


def max_cost(quote: wire.Quote) -> Decimal:
    """Return the most that a quote may cost: its total, plus its error if it was learned."""
    return quote.total + (quote.error if isinstance(quote, LearnedQuote) else 0)


def _features(request: Request) -> dict[str, object]:
    """Return what the price of a request may depend on, including the lengths of its media."""
    seconds = {
        f"seconds of {name}": float(sum(measured))
        for name, files in request.media.items()
        if (measured := [s for file in files if (s := file.seconds()) is not None])
    }
    return {**request.complete, **seconds}
