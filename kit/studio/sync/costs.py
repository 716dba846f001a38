"""The blocking costs of a studio; made by `tests/sync_face.py` of `aio`: change that.

It loads pandas, and is loaded when costs are first asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from kit import pricing
from kit.client import answers, calls, flows
from kit.explore import costs
from kit.explore.costs import CostFrame, CostReport, FocusFrame, Forecast, Spending
from kit.explore.filters import HistoryFilter, parse_filter
from kit.explore.ratings import KEPT
from kit.studio.billing import check_changes, list_priced_settings
from kit.studio.views import BaseCosts

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.sync import Client
    from kit.explore.archive import Archive
    from kit.explore.filters import Moment
    from kit.studio.generation import BaseGeneration

When: TypeAlias = "Moment | None"
#: How often history, ledger and balance are read until nothing is written between and they agree.
_READS = 3


class Costs(BaseCosts):
    """What was spent on what, when, and what it will come to.

    Each answer is a frame that draws itself: ``studio.costs.trend().plot()``. Credits are
    ``charged``, ``refunded`` and ``net``. The first question reads the whole history
    and ledger, and shows how far it is where that takes long; later ones read only what is new.
    ``sync=False`` takes both as they lie on this computer, without a look at the service.

    Examples
    --------
    ``studio.costs.by("model", "parameters.resolution")``
    """

    _client: Client

    def by(
        self,
        *columns: str | Sequence[str],
        kept: bool | int = False,
        since: When = None,
        until: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostFrame:
        """Return the costs of each group; see `kit.explore.costs.by`.

        Days begin where `timezone` is. With `kept`, it says what each result cost that is rated 4
        or better, or as high as `kept` says: ``studio.costs.by("model", kept=5)``.
        """
        costs.groups(columns)
        least = KEPT if kept is True else kept
        ids = self._ratings.kept(least) if least else None
        return costs.by(self._spent(since, until, sync, timezone), *columns, kept=ids)

    def frame(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> pd.DataFrame:
        """Return a row a charge, the newest first; see `kit.explore.costs.charges`."""
        return costs.charges(self._spent(since, until, sync, timezone))

    def total(self, *, since: When = None, until: When = None, sync: bool = True) -> float:
        """Return what was charged less what was refunded, in credits."""
        return costs.total(self._spent(since, until, sync))

    def summary(self, *, since: When = None, until: When = None, sync: bool = True) -> CostFrame:
        """Return the costs of each kind and status, with a row for all of them."""
        return costs.summary(self._spent(since, until, sync))

    def trend(
        self,
        every: str = "day",
        *,
        since: When = None,
        until: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostFrame:
        """Return the costs of each ``hour``, ``day``, ``week`` or ``month``."""
        return costs.trend(self._spent(since, until, sync, timezone), every)

    def top(
        self, count: int = 10, *, since: When = None, until: When = None, sync: bool = True
    ) -> CostFrame:
        """Return what cost most, the most expensive first."""
        return costs.top(self._spent(since, until, sync), count)

    def failed(self, *, since: When = None, until: When = None, sync: bool = True) -> CostFrame:
        """Return what ended without a result: charged, refunded, and what was lost by it."""
        return costs.failed(self._spent(since, until, sync))

    def forecast(
        self,
        days: int = 30,
        *,
        window: int = 84,
        level: float = 0.8,
        as_of: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> Forecast:
        """Return what the coming days will cost, and how long the credits last.

        A row a day, beginning with the rest of today, or with `as_of`; ``.total`` and
        ``.days_left`` have ``low``, ``expected`` and ``high``, between which ``level`` of outcomes
        lie. A history of fewer than 14 whole days raises `ConfigError`. See
        `kit.explore.costs.forecast`.
        """
        zone = costs.find_timezone(timezone)
        now = parse_filter(zone=zone, until=as_of).until or datetime.now(UTC)
        spent = self._spent(None, now, sync, timezone)
        balance = spent.balance(now) if as_of else self._balance()
        given: Mapping[str, Any] = {"days": days, "window": window, "level": level}
        return costs.forecast(spent.daily(), balance, now=now, timezone=timezone, **given)

    def focus(
        self,
        currency: str | None = None,
        *,
        since: When = None,
        until: When = None,
        sync: bool = True,
    ) -> FocusFrame:
        """Return daily costs in the columns of FOCUS 1.2; see `kit.explore.costs.focus`.

        A credit must have a rate in the currency, which may be left out where there is one alone.

        Examples
        --------
        ``studio.costs.focus("EUR", since="2026-11-01").to_csv("focus.csv")``
        """
        account = self._client.run(flows.ask(calls.get_account()))
        spent = self._spent(since, until, sync)
        settings = self._operations.settings
        provider = settings.name or urlsplit(settings.base_url).hostname or settings.base_url
        return costs.focus(spent, currency, account=account, provider=provider)

    def report(
        self,
        month: str | None = None,
        *,
        budget: Decimal | float | str | None = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostReport:
        """Return the report of a month as one HTML file, the present month by default.

        It has the total, days, models and tags, what failed and was refunded, what is expected by
        the end of the month and how that is to the `budget` in credits, and days that stand out.

        Examples
        --------
        ``studio.costs.report("2026-11", budget=500).save("november.html")``
        """
        now = datetime.now(UTC)
        wanted = costs.Month.parse(month, now, costs.find_timezone(timezone))
        archive = self._archive(sync)
        account = self._client.run(flows.ask(calls.get_account()))
        spans = (wanted, wanted.before(now), (None, min(now, wanted.end)))
        parts = (HistoryFilter(since=since, until=until) for since, until in spans)
        this, earlier, so_far = (
            Spending(archive, part, timezone, self._rates.all()) for part in parts
        )
        return costs.report(
            wanted,
            this,
            earlier,
            so_far.daily(),
            now=now,
            owner=account.name or account.id,
            budget=None if budget is None else pricing.parse_credits(budget, "a budget"),
        )

    def unusual(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> CostFrame:
        """Return the days that cost far more than usual, by model and in all."""
        return costs.unusual((self._spent(since, until, sync, timezone)).daily())

    def reprice(
        self,
        model: str | None = None,
        *,
        since: When = None,
        until: When = None,
        sync: bool = True,
        **parameters: Any,
    ) -> CostFrame:
        """Return what the past would have cost with another model, or with other parameters.

        Prices are those of today. Settings that the other model does not have are left out; what it
        cannot make with the values that were used counts in ``unknown``. See
        `kit.explore.costs.reprice`.

        Examples
        --------
        ``studio.costs.reprice("scene-fast")`` or ``studio.costs.reprice(resolution="720p")``
        """
        models = self._client.run(self._operations.models())
        target = self._client.run(self._operations.model(model)) if model else None
        meant = [target] if target else list(models.values())
        check_changes(meant, parameters)

        def price(made_with: str, given: Mapping[str, Any]) -> Decimal | None:
            found = target or models.get(made_with)
            if found is None or (found.pricing and any(u.medium for u in found.pricing.units)):
                return None  # what a file's length costs is not known from its settings
            quote = self._operations.billing.price_today(found, {**given, **parameters})
            return None if quote is None else quote.total

        spent = self._spent(since, until, sync)
        return costs.reprice(spent, list_priced_settings(meant), price)

    def reconcile(self, *, sync: bool = True) -> CostFrame:
        """Hold ledger, balance, receipts and generations against each other, exactly.

        Where a service has no ledger, it says what can be checked and what cannot; see
        `kit.explore.costs.reconcile`.
        """
        for _ in range(_READS if sync else 1):
            before = self._balance() if sync else None
            archive = self._archive(sync)
            balance = self._balance() if sync else None  # of another moment
            found = costs.reconcile(
                archive,
                balance=balance,
                receipts=self._operations.journal.credits(),
                ledger=self._operations.history_sync.has_ledger is not False,
                unlisted=archive.store.manifest().unlisted,
                settled=before == balance,
            )
            if before == balance and found.attrs["agrees"]:
                break
        return found

    def sensitivity(self, model: str) -> CostFrame:
        """Return what each value of each setting adds; see `kit.explore.costs.sensitivity`."""
        found = self._client.run(self._operations.model(model))
        price = self._operations.billing.price_values
        return costs.sensitivity(found, lambda values, media: price(found, values, media))

    def explain(self, generation: BaseGeneration | str) -> CostFrame:
        """Return why a generation, or the one of an id, cost what it did."""
        name = generation if isinstance(generation, str) else generation.id
        facts = self._client.run(self._operations.get(name))
        model = (self._client.run(self._operations.models())).get(facts.model_id or "")
        today = self._operations.billing.price_today
        quote = today(model, facts.parameters or {}) if model else None
        return costs.explain(facts, self._operations.find_charge(facts), quote)

    def _spent(self, since: When, until: When, sync: bool, timezone: str = "UTC") -> Spending:
        choice = parse_filter(zone=costs.find_timezone(timezone), since=since, until=until)
        return Spending(self._archive(sync), choice, timezone, self._rates.all())

    def _archive(self, sync: bool) -> Archive:
        """Return history and ledger, brought up to date before where it is to `sync`."""
        return self._client.run(self._operations.history_sync.current(sync=sync, usage=True))

    def _balance(self) -> Decimal | None:
        """Return what can be spent, or None where the service does not report it."""
        try:
            return (self._client.run(flows.ask(calls.get_credits()))).balance
        except answers.UNKNOWN_PATH:
            return (self._client.run(flows.ask(calls.get_account()))).credits
