"""The awaited ledger and costs of a studio; `tests/sync_face.py` makes the blocking face of it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from kit import wire
from kit.client import calls, flows
from kit.client.calls import Flow
from kit.studio.cost_reports import BaseCosts, CostReports
from kit.studio.history_sync import show_progress
from kit.studio.operations import Operations
from kit.studio.views import EntryList

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.aio import AsyncClient
    from kit.explore.costs import CostFrame, CostReport, FocusFrame, Forecast, Spending
    from kit.explore.filters import Moment
    from kit.studio.generation import BaseGeneration

When: TypeAlias = "Moment | None"
T = TypeVar("T")


class AsyncUsage:
    """The account's ledger, where the service has one."""

    def __init__(self, client: AsyncClient, operations: Operations) -> None:
        self._client, self._operations = client, operations

    def __repr__(self) -> str:
        return "<Usage: list(), frame()>"

    async def list(self, limit: int | None = 50) -> builtins.list[wire.Entry]:
        """Return the newest entries, at most `limit`; None asks for all."""
        return EntryList(await self._client.run(flows.list_all(calls.list_usage(), limit)))

    async def frame(self, limit: int | None = None, *, sync: bool = True) -> pd.DataFrame:
        """Return the ledger as a table, newest first; see `kit.explore.schema.LEDGER`.

        All of it sums up to the balance. It is kept on this computer: only what is new is asked
        for, and nothing where `sync` is False. A service without a ledger raises `NotFoundError`.
        """
        with show_progress(self._operations.progress) as on_progress:
            reports = CostReports(self._operations, on_progress)
            return await self._client.run(reports.ledger(limit, sync=sync))


class AsyncCosts(BaseCosts):
    """What was spent on what, when, and what it will come to.

    Each answer is a frame that draws itself: ``studio.costs.trend().plot()``. Credits are
    ``charged``, ``refunded`` and ``net``. The first question reads the whole history
    and ledger, and shows how far it is where that takes long; later ones read only what is new.
    ``sync=False`` takes both as they lie on this computer, without a look at the service.

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

        Days begin where `timezone` is. With `kept`, it says what each result cost that is rated 4
        or better, or as high as `kept` says: ``studio.costs.by("model", kept=5)``.
        """
        from kit.explore import costs
        from kit.explore.ratings import KEPT

        costs.groups(columns)
        least = KEPT if kept is True else kept
        ids = self._ratings.kept(least) if least else None
        return costs.by(await self._spent(since, until, sync, timezone), *columns, kept=ids)

    async def frame(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> pd.DataFrame:
        """Return a row a charge, the newest first; see `kit.explore.costs.charges`."""
        from kit.explore import costs

        return costs.charges(await self._spent(since, until, sync, timezone))

    async def total(self, *, since: When = None, until: When = None, sync: bool = True) -> float:
        """Return what was charged less what was refunded, in credits."""
        from kit.explore import costs

        return costs.total(await self._spent(since, until, sync))

    async def summary(
        self, *, since: When = None, until: When = None, sync: bool = True
    ) -> CostFrame:
        """Return the costs of each kind and status, with a row for all of them."""
        from kit.explore import costs

        return costs.summary(await self._spent(since, until, sync))

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
        from kit.explore import costs

        return costs.trend(await self._spent(since, until, sync, timezone), every)

    async def top(
        self, count: int = 10, *, since: When = None, until: When = None, sync: bool = True
    ) -> CostFrame:
        """Return what cost most, the most expensive first."""
        from kit.explore import costs

        return costs.top(await self._spent(since, until, sync), count)

    async def failed(
        self, *, since: When = None, until: When = None, sync: bool = True
    ) -> CostFrame:
        """Return what ended without a result: charged, refunded, and what was lost by it."""
        from kit.explore import costs

        return costs.failed(await self._spent(since, until, sync))

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
        """Return what the coming days will cost, and how long the credits last.

        A row a day, beginning with the rest of today, or with `as_of`; ``.total`` and
        ``.days_left`` have ``low``, ``expected`` and ``high``, between which ``level`` of outcomes
        lie. A history of fewer than 14 whole days raises `ConfigError`. See
        `kit.explore.costs.forecast`.
        """
        wanted = partial(CostReports.forecast, days=days, window=window, level=level, as_of=as_of)
        return await self._ask(partial(wanted, timezone=timezone, sync=sync))

    async def focus(
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
        return await self._ask(lambda reports: reports.focus(currency, since, until, sync=sync))

    async def report(
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
        return await self._ask(
            lambda reports: reports.report(month, budget, timezone=timezone, sync=sync)
        )

    async def unusual(
        self, *, since: When = None, until: When = None, timezone: str = "UTC", sync: bool = True
    ) -> CostFrame:
        """Return the days that cost far more than usual, by model and in all."""
        from kit.explore import costs

        return costs.unusual((await self._spent(since, until, sync, timezone)).daily())

    async def reprice(
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
        return await self._ask(
            lambda reports: reports.reprice(model, parameters, since, until, sync=sync)
        )

    async def reconcile(self, *, sync: bool = True) -> CostFrame:
        """Hold ledger, balance, receipts and generations against each other, exactly.

        Where a service has no ledger, it says what can be checked and what cannot; see
        `kit.explore.costs.reconcile`.
        """
        return await self._ask(lambda reports: reports.reconcile(sync=sync))

    async def sensitivity(self, model: str) -> CostFrame:
        """Return what each value of each setting adds; see `kit.explore.costs.sensitivity`."""
        return await self._ask(lambda reports: reports.sensitivity(model))

    async def explain(self, generation: BaseGeneration | str) -> CostFrame:
        """Return why a generation, or the one of an id, cost what it did."""
        name = generation if isinstance(generation, str) else generation.id
        return await self._ask(lambda reports: reports.explain(name))

    async def _spent(self, since: When, until: When, sync: bool, timezone: str = "UTC") -> Spending:
        return await self._ask(
            lambda reports: reports.spending(since, until, timezone=timezone, sync=sync)
        )

    async def _ask(self, ask: Callable[[CostReports], Flow[T]]) -> T:
        with show_progress(self._operations.progress) as on_progress:
            return await self._client.run(ask(CostReports(self._operations, on_progress)))
