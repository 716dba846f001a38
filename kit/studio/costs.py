"""The costs of a studio: the functions of `kit.explore.costs` joined to history and ledger.

What is asked of the service is written once, as flows; both faces run them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from kit import pricing, wire
from kit.client import calls, flows
from kit.client.steps import Flow
from kit.errors import InsufficientScopeError, MethodNotAllowedError, NotFoundError
from kit.studio.desk import Desk
from kit.studio.shelf import Shelf

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.aio import AsyncClient
    from kit.client.sync import Client
    from kit.explore.costs import CostFrame
    from kit.studio.generation import Held

#: A service without a path answers one of these.
_UNHEARD = (NotFoundError, MethodNotAllowedError, InsufficientScopeError)
#: How often ledger and balance are read until nothing was written between.
_READS = 3
When: TypeAlias = "datetime | str | None"


@dataclass(frozen=True, slots=True)
class Books:
    """What is asked of the service, as flows."""

    desk: Desk
    shelf: Shelf

    def spending(self, since: When = None, until: When = None) -> Flow[pd.DataFrame]:
        """Return what was paid for; see `kit.explore.costs.spending`.

        Generations come from the history on this computer, brought up to date first.
        """
        from kit.explore import costs, frames
        from kit.explore.asked import asked

        yield from self.shelf.sync()
        archive = yield from self.shelf.archive()
        choice = asked(since=since, until=until)
        found = archive.frame(choice, costs.NEEDED)
        entries = yield from self.entries()
        ledger = None if entries is None else _within(frames.ledger(entries), since, until)
        return costs.spending(found, ledger)

    def entries(self) -> Flow[list[wire.Entry] | None]:
        """Return the whole ledger, or None where the service has none."""
        try:
            return (yield from flows.listing(calls.list_usage(limit=1000), None))
        except _UNHEARD:
            return None

    def balance(self) -> Flow[Decimal | None]:
        """Return what can be spent, or None where the service does not tell."""
        try:
            return (yield from flows.ask(calls.get_credits())).balance
        except _UNHEARD:
            return (yield from flows.ask(calls.get_account())).credits

    def forecast(self, days: int, window: int, level: float) -> Flow[CostFrame]:
        """Return what the coming days will cost."""
        from kit.explore import costs

        spent = yield from self.spending()
        balance = yield from self.balance()
        now = datetime.now(UTC)
        return costs.forecast(spent, balance, now=now, days=days, window=window, level=level)

    def reconcile(self) -> Flow[CostFrame]:
        """Hold ledger, balance, receipts and generations against each other."""
        from kit.explore import costs

        for _ in range(_READS):
            before = yield from self.balance()
            entries = yield from self.entries()
            found = yield from flows.listing(calls.list_generations(limit=1000), None)
            balance = yield from self.balance()
            if before == balance:
                break
        mine = {g.id for g in found}
        receipts = {n: c for n, c in self.desk.journal.credits().items() if n in mine}
        if entries is None:
            raise NotFoundError("this service has no ledger to reconcile with")
        return costs.reconcile(entries, balance=balance, receipts=receipts, generations=found)

    def sensitivity(self, model_id: str) -> Flow[CostFrame]:
        """Return what each value of each setting does to the price of a model."""
        from kit.explore import costs

        model = yield from self.desk.model(model_id)
        return costs.sensitivity(model, lambda values, media: self._price(model, values, media))

    def explain(self, generation_id: str) -> Flow[CostFrame]:
        """Return why a generation cost what it did."""
        from kit.explore import costs

        facts = yield from self.desk.get(generation_id)
        model = (yield from self.desk.models()).get(facts.model_id or "")
        quote = self._price(model, facts.parameters or {}, {}) if model else None
        return costs.explain(facts, self.desk.charged(facts), quote)

    def _price(
        self, model: wire.Model, values: Mapping[str, Any], seconds: Mapping[str, float]
    ) -> wire.Quote | None:
        """Return the price by rule, else by receipts, without asking anybody."""
        if model.pricing is None:
            lengths = {f"seconds of {name}": value for name, value in seconds.items()}
            return self.desk.till.book.quote(model, {**values, **lengths})
        kinds = {p.name: p.type for p in model.media_parameters}
        media: dict[str, Sequence[pricing.Medium]] = {
            name: [pricing.Medium(kinds.get(name, ""), Fraction(str(value)))]
            for name, value in seconds.items()
        }
        return pricing.price(model.pricing, values, media)


class Costs:
    """What was spent on what, when, and what it will come to.

    Each answer is a frame that draws itself: ``studio.costs.trend().plot()``. Credits are
    ``charged``, ``refunded`` and ``net``; times are UTC.

    Examples
    --------
    ``studio.costs.by("model", "parameters.resolution")``
    """

    def __init__(self, client: Client, desk: Desk) -> None:
        self._client = client
        self._books = Books(desk, Shelf(desk))

    def __repr__(self) -> str:
        return "<Costs>"

    def by(self, *columns: str, since: When = None, until: When = None) -> CostFrame:
        """Return the costs of each group; see `kit.explore.costs.by`."""
        from kit.explore import costs

        return costs.by(self._spent(since, until), *columns)

    def summary(self, *, since: When = None, until: When = None) -> CostFrame:
        """Return the costs of each kind and status, with a row for all of them."""
        from kit.explore import costs

        return costs.summary(self._spent(since, until))

    def trend(self, every: str = "day", *, since: When = None, until: When = None) -> CostFrame:
        """Return the costs of each ``hour``, ``day``, ``week`` or ``month``."""
        from kit.explore import costs

        return costs.trend(self._spent(since, until), every)

    def top(self, count: int = 10, *, since: When = None, until: When = None) -> CostFrame:
        """Return what cost most, the dearest first."""
        from kit.explore import costs

        return costs.top(self._spent(since, until), count)

    def failed(self, *, since: When = None, until: When = None) -> CostFrame:
        """Return what ended without a result: charged, refunded, and what was lost by it."""
        from kit.explore import costs

        return costs.failed(self._spent(since, until))

    def forecast(self, days: int = 30, *, window: int = 28, level: float = 0.8) -> CostFrame:
        """Return what the coming days will cost; see `kit.explore.costs.forecast`."""
        return self._client.run(self._books.forecast(days, window, level))

    def reconcile(self) -> CostFrame:
        """Hold ledger, balance, receipts and generations against each other, to the millicredit.

        Raises
        ------
        NotFoundError
            The service has no ledger.
        """
        return self._client.run(self._books.reconcile())

    def sensitivity(self, model: str) -> CostFrame:
        """Return what each value of each setting adds; see `kit.explore.costs.sensitivity`."""
        return self._client.run(self._books.sensitivity(model))

    def explain(self, generation: Held | str) -> CostFrame:
        """Return why a generation, or the one of an id, cost what it did."""
        return self._client.run(self._books.explain(_id(generation)))

    def _spent(self, since: When, until: When) -> pd.DataFrame:
        return self._client.run(self._books.spending(since, until))


class AsyncCosts:
    """The awaited twin of `Costs`."""

    def __init__(self, client: AsyncClient, desk: Desk) -> None:
        self._client = client
        self._books = Books(desk, Shelf(desk))

    def __repr__(self) -> str:
        return "<Costs>"

    async def by(self, *columns: str, since: When = None, until: When = None) -> CostFrame:
        """Return the costs of each group; see `kit.explore.costs.by`."""
        from kit.explore import costs

        return costs.by(await self._spent(since, until), *columns)

    async def summary(self, *, since: When = None, until: When = None) -> CostFrame:
        """Return the costs of each kind and status, with a row for all of them."""
        from kit.explore import costs

        return costs.summary(await self._spent(since, until))

    async def trend(
        self, every: str = "day", *, since: When = None, until: When = None
    ) -> CostFrame:
        """Return the costs of each ``hour``, ``day``, ``week`` or ``month``."""
        from kit.explore import costs

        return costs.trend(await self._spent(since, until), every)

    async def top(self, count: int = 10, *, since: When = None, until: When = None) -> CostFrame:
        """Return what cost most, the dearest first."""
        from kit.explore import costs

        return costs.top(await self._spent(since, until), count)

    async def failed(self, *, since: When = None, until: When = None) -> CostFrame:
        """Return what ended without a result: charged, refunded, and what was lost by it."""
        from kit.explore import costs

        return costs.failed(await self._spent(since, until))

    async def forecast(self, days: int = 30, *, window: int = 28, level: float = 0.8) -> CostFrame:
        """Return what the coming days will cost; see `kit.explore.costs.forecast`."""
        return await self._client.run(self._books.forecast(days, window, level))

    async def reconcile(self) -> CostFrame:
        """Hold ledger, balance, receipts and generations against each other; see `Costs`."""
        return await self._client.run(self._books.reconcile())

    async def sensitivity(self, model: str) -> CostFrame:
        """Return what each value of each setting adds; see `kit.explore.costs.sensitivity`."""
        return await self._client.run(self._books.sensitivity(model))

    async def explain(self, generation: Held | str) -> CostFrame:
        """Return why a generation, or the one of an id, cost what it did."""
        return await self._client.run(self._books.explain(_id(generation)))

    async def _spent(self, since: When, until: When) -> pd.DataFrame:
        return await self._client.run(self._books.spending(since, until))


def _id(generation: Held | str) -> str:
    return generation if isinstance(generation, str) else generation.id


def _within(frame: pd.DataFrame, since: When, until: When) -> pd.DataFrame:
    import pandas as pd

    if since is not None:
        frame = frame[frame["created_at"] >= pd.to_datetime(since, utc=True)]
    if until is not None:
        frame = frame[frame["created_at"] < pd.to_datetime(until, utc=True)]
    return frame
