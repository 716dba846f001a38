"""The reports of a studio: what its costs ask of the service and of the history, as flows.

They are written once; both faces run them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kit import parameters, pricing, wire
from kit.client import answers, calls, flows, records
from kit.client.calls import Flow
from kit.errors import ConfigError, NotFoundError
from kit.explore.filters import HistoryFilter, parse_filter
from kit.parameters import suggest
from kit.private import JsonLines
from kit.studio.history_sync import OnProgress, ignore_progress
from kit.studio.operations import Operations

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.archive import Archive
    from kit.explore.costs import CostFrame, CostReport, FocusFrame, Forecast, Spending
    from kit.explore.costs.rates import Rates
    from kit.explore.filters import Moment
    from kit.explore.ratings import Ratings

#: How often history, ledger and balance are read until nothing is written between and they agree.
_READS = 3


class CostReports:
    """What is asked of the service, as flows; `on_progress` takes how far a reading is."""

    def __init__(self, operations: Operations, on_progress: OnProgress = ignore_progress) -> None:
        self.operations = operations
        self.history = operations.history_sync
        self._on_progress = on_progress

    @property
    def rates(self) -> Rates:
        """What a credit is worth in money, as it was said on this computer."""
        from kit.explore.costs.rates import Rates

        return Rates(JsonLines(records.file(self.operations.settings, "rates")))

    def spending(
        self,
        since: Moment | None = None,
        until: Moment | None = None,
        *,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> Flow[Spending]:
        """Return what was paid for; `sync` brings history and ledger up to date before."""
        from kit.explore import costs

        choice = parse_filter(zone=costs.find_timezone(timezone), since=since, until=until)
        archive = yield from self._archive(sync)
        return costs.Spending(archive, choice, timezone, self.rates.all())

    def ledger(self, limit: int | None, *, sync: bool = True) -> Flow[pd.DataFrame]:
        """Return the ledger as a frame, newest first; a service without one is an error."""
        archive = yield from self._archive(sync)
        if self.history.has_ledger is False:
            raise NotFoundError("this service has no ledger")
        return archive.usage(limit)

    def balance(self) -> Flow[Decimal | None]:
        """Return what can be spent, or None where the service does not report it."""
        try:
            return (yield from flows.ask(calls.get_credits())).balance
        except answers.UNKNOWN_PATH:
            return (yield from flows.ask(calls.get_account())).credits

    def forecast(
        self,
        days: int,
        window: int,
        level: float,
        as_of: Moment | None = None,
        *,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> Flow[Forecast]:
        """Return what the coming days will cost, seen from a moment, or from now."""
        from kit.explore import costs

        zone = costs.find_timezone(timezone)
        now = parse_filter(zone=zone, until=as_of).until or datetime.now(UTC)
        spent = yield from self.spending(until=now, timezone=timezone, sync=sync)
        balance = spent.balance(now) if as_of else (yield from self.balance())
        return costs.forecast(
            spent.daily(),
            balance,
            now=now,
            days=days,
            window=window,
            level=level,
            timezone=timezone,
        )

    def focus(
        self, currency: str | None, since: Moment | None, until: Moment | None, *, sync: bool
    ) -> Flow[FocusFrame]:
        """Return daily costs in the columns of FOCUS."""
        from kit.explore import costs

        account = yield from flows.ask(calls.get_account())
        spent = yield from self.spending(since, until, sync=sync)
        settings = self.operations.settings
        provider = settings.name or urlsplit(settings.base_url).hostname or settings.base_url
        return costs.focus(spent, currency, account=account, provider=provider)

    def report(
        self,
        month: str | None,
        budget: Decimal | float | str | None,
        *,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> Flow[CostReport]:
        """Return the report of a month, or of the one that it is."""
        from kit.explore import costs

        now, zone = datetime.now(UTC), costs.find_timezone(timezone)
        wanted = costs.Month.parse(month, now, zone)
        archive = yield from self._archive(sync)
        account = yield from flows.ask(calls.get_account())

        def spent(since: datetime | None, until: datetime) -> Spending:
            choice = HistoryFilter(since=since, until=until)
            return costs.Spending(archive, choice, timezone, self.rates.all())

        return costs.report(
            wanted,
            spent(*wanted),
            spent(*wanted.before(now)),
            spent(None, min(now, wanted.end)).daily(),
            now=now,
            owner=account.name or account.id,
            budget=None if budget is None else pricing.parse_credits(budget, "a budget"),
        )

    def reconcile(self, *, sync: bool = True) -> Flow[CostFrame]:
        """Hold ledger, balance, receipts and generations against each other."""
        from kit.explore import costs

        for _ in range(_READS if sync else 1):
            before = (yield from self.balance()) if sync else None
            archive = yield from self._archive(sync)
            balance = (yield from self.balance()) if sync else None  # of another moment
            found = costs.reconcile(
                archive,
                balance=balance,
                receipts=self.operations.journal.credits(),
                ledger=self.history.has_ledger is not False,
                unlisted=archive.store.manifest().unlisted,
                settled=before == balance,
            )
            if before == balance and found.attrs["agrees"]:
                break
        return found

    def sensitivity(self, model_id: str) -> Flow[CostFrame]:
        """Return what each value of each setting does to the price of a model."""
        from kit.explore import costs

        model = yield from self.operations.model(model_id)
        return costs.sensitivity(model, lambda values, media: self._price(model, values, media))

    def explain(self, generation_id: str) -> Flow[CostFrame]:
        """Return why a generation cost what it did."""
        from kit.explore import costs

        facts = yield from self.operations.get(generation_id)
        model = (yield from self.operations.models()).get(facts.model_id or "")
        quote = self._today(model, facts.parameters or {}) if model else None
        return costs.explain(facts, self.operations.find_charge(facts), quote)

    def reprice(
        self,
        model_id: str | None,
        changes: Mapping[str, Any],
        since: Moment | None,
        until: Moment | None,
        *,
        sync: bool,
    ) -> Flow[CostFrame]:
        """Return what the past would have cost with another model or other settings.

        Raises `ConfigError`: no model that is meant has such a setting, or none takes its value.
        """
        from kit.explore import costs

        models = yield from self.operations.models()
        target = (yield from self.operations.model(model_id)) if model_id else None
        meant = [target] if target else list(models.values())
        known = {parameter.name for model in meant for parameter in model.setting_parameters}
        for name, value in changes.items():
            if name not in known:
                raise ConfigError(f"no such model has a setting {name!r}{suggest(name, known)}")
            takers = [p for model in meant for p in model.setting_parameters if p.name == name]
            problems = [parameters.problem_with(p, value, parameters.UNKNOWN) for p in takers]
            if value is not None and all(problems):
                raise ConfigError(f"{name} {problems[0]}")

        def price(made_with: str, given: Mapping[str, Any]) -> Decimal | None:
            model = target or models.get(made_with)
            if model is None or (model.pricing and any(u.medium for u in model.pricing.units)):
                return None  # what a file's length costs is not known from its settings
            quote = self._today(model, {**given, **changes})
            return None if quote is None else quote.total

        spent = yield from self.spending(since, until, sync=sync)
        return costs.reprice(spent, _priced_settings(meant), price)

    def _archive(self, sync: bool) -> Flow[Archive]:
        return self.history.current(self._on_progress, sync=sync, usage=True)

    def _today(self, model: wire.Model, given: Mapping[str, Any]) -> wire.Quote | None:
        """Return what settings would cost today, without files; None where there are none such."""
        known = {p.name for p in model.setting_parameters}
        kept = {name: value for name, value in given.items() if name in known}
        limits = parameters.limits(model)
        values, problems = parameters.settings(model.setting_parameters, kept, limits=limits)
        return None if problems else self._price(model, values, {})

    def _price(
        self, model: wire.Model, values: Mapping[str, Any], seconds: Mapping[str, float]
    ) -> wire.Quote | None:
        """Return the price by rule, else by receipts, without asking anybody."""
        if model.pricing is None:
            lengths = {f"seconds of {name}": value for name, value in seconds.items()}
            return self.operations.billing.quote_receipts(model, {**values, **lengths})
        kinds = {p.name: p.type for p in model.media_parameters}
        media: dict[str, Sequence[pricing.Medium]] = {
            name: [pricing.Medium(kinds.get(name, ""), Fraction(str(value)))]
            for name, value in seconds.items()
        }
        return pricing.price(model.pricing, values, media)


class BaseCosts:
    """What both faces of the costs share, because nothing is asked of the service for it."""

    def __init__(self, client: Any, operations: Operations, ratings: Ratings) -> None:
        self._client = client
        self._ratings = ratings
        self._operations = operations

    def __repr__(self) -> str:
        return '<Costs: summary(), by("model"), trend(), trend().plot(), report()>'

    def rate(
        self, currency: str, amount: Decimal | float | str | None, since: Moment | None = None
    ) -> None:
        """Say what a credit is worth in money, always or from a day on.

        From then on `by`, `trend`, `summary` and `frame` have the net in that currency too. It is
        kept on this computer; None as the amount takes the rate of that day away.

        Raises
        ------
        ConfigError
            The currency is no code such as EUR, or the amount is none.

        Examples
        --------
        ``studio.costs.rate("EUR", 0.012)`` and later ``costs.rate("EUR", 0.011, "2026-07-01")``
        """
        CostReports(self._operations).rates.add(currency, amount, since)


def _priced_settings(models: Iterable[wire.Model]) -> set[str]:
    """Return the settings that prices depend on: all of a model whose rule is not known."""
    found: set[str] = set()
    for model in models:
        if model.pricing is None:
            found |= {parameter.name for parameter in model.setting_parameters}
        else:
            found |= {unit.parameter for unit in model.pricing.units if unit.parameter}
            found |= {multiplier.parameter for multiplier in model.pricing.multipliers}
    return found
