"""The async costs of a studio; `tests/sync_face.py` generates the blocking one.

Importing it loads pandas, so it is imported when ``studio.costs`` is first used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from kit.client import calls, flows
from kit.client.bridge import to_thread
from kit.errors import ConfigError
from kit.explore import costs
from kit.explore.costs import CostFrame, CostReport, FocusFrame, Forecast, Spending
from kit.explore.filters import parse_filter
from kit.explore.ratings import KEPT
from kit.studio.costs import BaseCosts

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.aio import AsyncClient
    from kit.explore.filters import Moment
    from kit.studio.generation import BaseGeneration

When: TypeAlias = "Moment | None"


class AsyncCosts(BaseCosts):
    """Analysis of costs, and forecasts.

    Most methods return a dataframe with a plot: ``studio.costs.trend().plot()``. Credits are
    ``charged``, ``refunded`` and ``net``. The first call fetches the whole history and ledger and
    shows its progress if that takes long; later calls fetch only what is new. ``sync=False`` uses
    the copies on this computer; only `focus`, `report` and `reprice` still send a request. Days and
    months, also those of `since` and `until`, begin at midnight in `timezone`.

    Examples
    --------
    ``studio.costs.by("model", "parameters.resolution")``
    """

    _client: AsyncClient

    async def by(
        self,
        *columns: str | Sequence[str],
        kept: bool | int = False,
        since: When = None,
        until: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostFrame:
        """Return the costs of each group; see `kit.explore.costs.by`.

        `kept` adds the cost per result rated 4 or better, or at least `kept`:
        ``studio.costs.by("model", kept=5)``.
        """
        costs.groups(columns)
        least = KEPT if kept is True else kept
        ids = self._ratings.kept(least) if least else None
        spent = await self._spent(since, until, sync, timezone)
        return await to_thread(costs.by, spent, *columns, kept=ids)

    async def frame(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> pd.DataFrame:
        """Return one row per charge, newest first; see `kit.explore.costs.charges`."""
        return await to_thread(costs.charges, await self._spent(since, until, sync, timezone))

    async def total(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> float:
        """Return the credits charged minus those refunded."""
        return await to_thread(costs.total, await self._spent(since, until, sync, timezone))

    async def summary(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> CostFrame:
        """Return the costs of each kind and status, with a row of totals."""
        return await to_thread(costs.summary, await self._spent(since, until, sync, timezone))

    async def trend(
        self,
        every: str = "day",
        *,
        since: When = None,
        until: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostFrame:
        """Return the costs of each ``hour``, ``day``, ``week`` or ``month``."""
        return await to_thread(costs.trend, await self._spent(since, until, sync, timezone), every)

    async def top(
        self,
        count: int = 10,
        *,
        since: When = None,
        until: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostFrame:
        """Return the most expensive charges, highest first."""
        return await to_thread(costs.top, await self._spent(since, until, sync, timezone), count)

    async def failed(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> CostFrame:
        """Return the failed and canceled generations: charged, refunded, and the net loss."""
        return await to_thread(costs.failed, await self._spent(since, until, sync, timezone))

    async def forecast(
        self,
        days: int = 30,
        *,
        window: int = 84,
        level: float = 0.8,
        as_of: When = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> Forecast:
        """Forecast the costs of the coming days, and how long the credits last.

        There is one row per day, beginning with the rest of today, or with `as_of`; ``.total`` and
        ``.days_left`` have ``low``, ``expected`` and ``high``, an interval with probability
        `level`. A history of fewer than 14 whole days raises `ConfigError`. With ``sync=False``
        days after the last sync count as days without spending, unless `as_of` is that time. See
        `kit.explore.costs.forecast`.
        """
        today = datetime.now(UTC)
        now = parse_filter(timezone=timezone, until=as_of).until or today
        if now > today:
            raise ConfigError(f"as_of must not be in the future, as {as_of} is")
        spent = await self._spent(None, now, sync, timezone)
        is_current = sync and not as_of
        balance = await self._client.run(self._read_balance()) if is_current else spent.balance(now)
        given: Mapping[str, Any] = {"days": days, "window": window, "level": level}
        daily = await to_thread(spent.daily)
        costs.warn_of_unknown(daily, "forecast")
        return costs.forecast(daily, balance, now=now, timezone=timezone, **given)

    async def focus(
        self,
        currency: str | None = None,
        *,
        since: When = None,
        until: When = None,
        sync: bool = True,
    ) -> FocusFrame:
        """Return daily costs in the columns of FOCUS 1.2; see `kit.explore.costs.focus`.

        The currency needs an exchange rate, see `rate`; if only one has rates, it is the default.

        Examples
        --------
        ``studio.costs.focus("EUR", since="2026-11-01").to_csv("focus.csv")``
        """
        account = await self._client.run(flows.ask(calls.get_account()))
        spent = await self._spent(since, until, sync)
        settings = self._operations.settings
        provider = settings.name or urlsplit(settings.base_url).hostname or settings.base_url
        return await to_thread(costs.focus, spent, currency, account=account, provider=provider)

    async def report(
        self,
        month: str | None = None,
        *,
        budget: Decimal | float | str | None = None,
        timezone: str = "UTC",
        sync: bool = True,
    ) -> CostReport:
        """Return the report of a month, by default the current one, as one HTML file.

        It shows the total, the costs by day, model and tag, failures and refunds, the forecast for
        the end of the month compared with the `budget` in credits, and unusual days.

        Examples
        --------
        ``studio.costs.report("2026-11", budget=500).save("november.html")``
        """
        read = self._read_report(month, budget, timezone, sync)
        return await to_thread(costs.report, **await self._client.run(read))

    async def unusual(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> CostFrame:
        """Return the days that cost far more than usual, by model and in total."""
        spent = await self._spent(since, until, sync, timezone)
        daily = await to_thread(spent.daily)
        costs.warn_of_unknown(daily, "unusual")
        return costs.unusual(daily)

    async def reprice(
        self,
        model: str | None = None,
        *,
        since: When = None,
        until: When = None,
        timezone: str = "UTC",
        sync: bool = True,
        **parameters: Any,
    ) -> CostFrame:
        """Return what past generations would have cost with another model or other parameters.

        It uses today's prices. Parameters that the other model does not have are left out;
        generations whose values it does not accept count as ``unknown``. See
        `kit.explore.costs.reprice`.

        Examples
        --------
        ``studio.costs.reprice("scene-fast")`` or ``studio.costs.reprice(resolution="720p")``
        """
        names, price = await self._client.run(self._read_prices(model, parameters))
        spent = await self._spent(since, until, sync, timezone)
        return await to_thread(costs.reprice, spent, names, price)

    async def reconcile(self, *, sync: bool = True) -> CostFrame:
        """Check that ledger, balance, receipts and generations agree exactly.

        Without a ledger, the result says which checks are possible and which are not; see
        `kit.explore.costs.reconcile`.
        """
        return await self._client.run(self._reconcile(sync))

    async def sensitivity(self, model: str) -> CostFrame:
        """Return the effect of each parameter value; see `kit.explore.costs.sensitivity`."""
        found = await self._client.run(self._operations.model(model))
        price = self._operations.billing.price_values
        return costs.sensitivity(found, lambda values, media: price(found, values, media))

    async def explain(self, generation: BaseGeneration | str) -> CostFrame:
        """Return the terms of the price of a generation, given by itself or by id."""
        return await self._client.run(self._explain(generation))

    async def _spent(self, since: When, until: When, sync: bool, timezone: str = "UTC") -> Spending:
        return await self._client.run(self._read_spending(since, until, sync, timezone))
