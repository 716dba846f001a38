"""The costs of a studio: what they read from the service, as flows shared by both faces.

Importing it loads pandas, so it is imported when ``studio.costs`` is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kit import parameters, pricing, wire
from kit.client import calls, flows
from kit.client.calls import Flow
from kit.errors import ConfigError
from kit.explore import costs
from kit.explore.costs import CostFrame, Spending
from kit.explore.costs.spending import Rates
from kit.explore.filters import HistoryFilter, find_timezone, parse_filter

if TYPE_CHECKING:
    from kit.explore.archive import Archive
    from kit.explore.filters import Moment
    from kit.explore.ratings import Ratings
    from kit.studio.generation import BaseGeneration
    from kit.studio.operations import Operations

#: How often history, ledger and balance are read until they agree and nothing changed meanwhile.
_MAX_READS = 3


class BaseCosts:
    """The common base of the blocking and the async costs."""

    def __init__(self, client: Any, operations: Operations, ratings: Ratings) -> None:
        self._client = client
        self._operations = operations
        self._ratings = ratings
        self._rates = Rates(operations.settings.records("rates"))

    def __repr__(self) -> str:
        return '<Costs: summary(), by("model"), trend(), trend().plot(), report()>'

    def rate(
        self, currency: str, amount: Decimal | float | str | None, since: Moment | None = None
    ) -> None:
        """Set the value of a credit in a currency, for all time or from a day on (UTC).

        `by`, `trend`, `summary` and `frame` then also have the net in that currency. Rates are kept
        on this computer; None as the amount removes the rate of that day.

        Examples
        --------
        ``studio.costs.rate("EUR", 0.012)`` and later ``costs.rate("EUR", 0.011, "2026-07-01")``
        """
        self._rates.add(currency, amount, since)

    def _read_spending(
        self, since: Moment | None, until: Moment | None, sync: bool, timezone: str
    ) -> Flow[Spending]:
        choice = parse_filter(timezone=timezone, since=since, until=until)
        archive = yield from self._read_archive(sync)
        spent = Spending(archive, choice, timezone, self._rates.all())
        if not (ledger := self._operations.history_sync.ledger_of(archive)):
            sources = spent.sums(("source",)).query("known > 0")["source"]
            for sentence in costs.list_doubts(sources, ledger=ledger, undated=spent.undated()):
                self._operations.notices.log(sentence)
        return spent

    def _read_archive(self, sync: bool) -> Flow[Archive]:
        return self._operations.history_sync.current(sync=sync, usage=True)

    def _read_balance(self) -> Flow[Decimal | None]:
        """Return the balance, or None if the service does not report it."""
        return (yield from flows.ask(calls.get_account())).credits

    def _read_report(
        self, month: str | None, budget: Decimal | float | str | None, timezone: str, sync: bool
    ) -> Flow[dict[str, Any]]:
        """Return the arguments of `costs.report`."""
        now = datetime.now(UTC)
        period = costs.Month.parse(month, now, find_timezone(timezone))
        archive = yield from self._read_archive(sync)
        account = yield from flows.ask(calls.get_account())
        spans = (period, period.previous(now), (None, min(now, period.end)))
        spent, before, so_far = (
            Spending(archive, HistoryFilter(since, until), timezone, self._rates.all())
            for since, until in spans
        )
        return {
            "month": period,
            "spent": spent,
            "before": before,
            "daily": so_far.daily(),
            "now": now,
            "owner": account.name or account.id,
            "budget": None if budget is None else pricing.parse_credits(budget, "a budget"),
            "ledger": self._operations.history_sync.ledger_of(archive),
        }

    def _read_prices(
        self, model: str | None, changes: Mapping[str, Any]
    ) -> Flow[tuple[set[str], Callable[[str, Mapping[str, Any]], Decimal | None]]]:
        """Return the settings that prices depend on, and a function for a changed price today."""
        models = yield from self._operations.models()
        target = (yield from self._operations.model(model)) if model else None
        targets = [target] if target else list(models.values())
        check_changes(targets, changes)

        def price(model_id: str, given: Mapping[str, Any]) -> Decimal | None:
            found = target or models.get(model_id)
            if found is None or (found.pricing and any(u.medium for u in found.pricing.units)):
                return None  # the price depends on the lengths of files, which are unknown here
            quote = self._operations.billing.price_today(found, {**given, **changes})
            return None if quote is None else quote.total

        return list_priced_settings(targets), price

    def _reconcile(self, sync: bool) -> Flow[CostFrame]:
        """Compare ledger, balance and receipts, as of a moment at which nothing changed."""
        for _ in range(_MAX_READS if sync else 1):
            before = (yield from self._read_balance()) if sync else None
            archive = yield from self._read_archive(sync)
            balance = (yield from self._read_balance()) if sync else None  # read a second time
            found = costs.reconcile(
                archive,
                balance=balance,
                receipts=self._operations.journal.credits(),
                ledger=self._operations.history_sync.ledger_of(archive) is True,
                unlisted=archive.store.manifest().unlisted,
                settled=before == balance,
            )
            if before == balance and found.attrs["agrees"]:
                break
        return found

    def _explain(self, generation: BaseGeneration | str) -> Flow[CostFrame]:
        """Return the terms of the price of a generation."""
        name = generation if isinstance(generation, str) else generation.id
        facts = yield from self._operations.get(name)
        model = (yield from self._operations.models()).get(facts.model_id or "")
        today = self._operations.billing.price_today
        quote = today(model, facts.parameters or {}) if model else None
        return costs.explain(facts, self._operations.find_charge(facts), quote)


def check_changes(models: Sequence[wire.Model], changes: Mapping[str, Any]) -> None:
    """Check that some model has each changed setting and accepts its value."""
    for name, value in changes.items():
        matching = [p for model in models for p in model.setting_parameters if p.name == name]
        if not matching:
            names = {p.name for model in models for p in model.setting_parameters}
            hint = parameters.suggest(name, names)
            raise ConfigError(f"no such model has a setting {name!r}{hint}")
        problems = [parameters.value_problem(p, value, parameters.UNKNOWN_LIMITS) for p in matching]
        if value is not None and all(problems):
            raise ConfigError(f"{name} {problems[0]}")


def list_priced_settings(models: Iterable[wire.Model]) -> set[str]:
    """Return the settings that prices depend on: all settings of models without a known rule."""
    found: set[str] = set()
    for model in models:
        if model.pricing is None:
            found |= {parameter.name for parameter in model.setting_parameters}
        else:
            found |= {unit.parameter for unit in model.pricing.units if unit.parameter}
            found |= {multiplier.parameter for multiplier in model.pricing.multipliers}
    return found
