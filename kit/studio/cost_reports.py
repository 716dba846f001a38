"""The reports of a studio: what its costs ask of the service and of the history, as flows.

They are written once; both faces run them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kit import parameters, pricing, wire
from kit.client import calls, flows
from kit.client.actions import Flow
from kit.errors import InsufficientScopeError, MethodNotAllowedError, NotFoundError
from kit.studio.history_sync import OnProgress
from kit.studio.operations import Operations

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.costs import CostFrame, Forecast
    from kit.explore.filters import HistoryFilter, Moment

T = TypeVar("T", wire.Entry, wire.Generation)

#: A service without a path answers one of these.
_UNHEARD = (NotFoundError, MethodNotAllowedError, InsufficientScopeError)
#: How often ledger and balance are read until nothing was written between.
_READS = 3
#: How far a later look at the ledger goes back behind what is known.
_OVERLAP = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class ListProgress:
    """How far the reading of a list is; see `kit.studio.history_sync.ReadProgress`."""

    fetched: int
    pages: int
    through: datetime | None


def _unheard(_what: str, _so_far: object) -> None:
    """Tell nobody."""


class CostReports:
    """What is asked of the service, as flows."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self._ledger: pd.DataFrame | None = None

    def spending(
        self,
        since: Moment | None = None,
        until: Moment | None = None,
        tell: OnProgress = _unheard,
    ) -> Flow[pd.DataFrame]:
        """Return what was paid for; see `kit.explore.costs.spending`.

        Generations come from the history on this computer, brought up to date first.

        Parameters
        ----------
        tell : callable
            Told after each page of history and ledger: both may be long.
        """
        from kit.explore import costs
        from kit.explore.filters import parse_filter

        choice = parse_filter(since=since, until=until)
        history = self.operations.history_sync
        found = yield from history.frame(choice, costs.NEEDED, partial(tell, "history"))
        ledger = yield from self.ledger(tell)
        return costs.spending(found, None if ledger is None else _within(ledger, choice))

    def ledger(self, tell: OnProgress = _unheard) -> Flow[pd.DataFrame | None]:
        """Return the ledger as a frame, newest first; None where the service has none.

        Entries are never changed, so only what is new is asked for, with some of what was known:
        clocks and commits differ.
        """
        import pandas as pd

        from kit.explore import frames

        known = self._ledger
        settled = None if known is None or known.empty else known["created_at"].max() - _OVERLAP
        try:
            fresh = yield from _listed(
                calls.list_usage(limit=1000),
                partial(tell, "ledger"),
                lambda page: settled is not None and _before(page, settled),
            )
        except _UNHEARD:
            return None
        table = frames.ledger(fresh)
        rest = None if known is None else known[~known.index.isin(table.index)]
        if rest is not None and len(rest):
            table = pd.concat([table, rest])
        self._ledger = table
        return table

    def entries(self, tell: OnProgress = _unheard) -> Flow[list[wire.Entry] | None]:
        """Return the whole ledger, or None where the service has none."""
        try:
            return (yield from _listed(calls.list_usage(limit=1000), partial(tell, "ledger")))
        except _UNHEARD:
            return None

    def balance(self) -> Flow[Decimal | None]:
        """Return what can be spent, or None where the service does not tell."""
        try:
            return (yield from flows.ask(calls.get_credits())).balance
        except _UNHEARD:
            return (yield from flows.ask(calls.get_account())).credits

    def forecast(
        self,
        days: int,
        window: int,
        level: float,
        as_of: Moment | None = None,
        tell: OnProgress = _unheard,
    ) -> Flow[Forecast]:
        """Return what the coming days will cost, seen from a moment, or from now."""
        from kit.explore import costs
        from kit.explore.filters import parse_filter

        spent = yield from self.spending(tell=tell)
        balance = yield from self.balance()
        now = parse_filter(until=as_of).until or datetime.now(UTC)
        return costs.forecast(spent, balance, now=now, days=days, window=window, level=level)

    def reconcile(self, tell: OnProgress = _unheard) -> Flow[CostFrame]:
        """Hold ledger, balance, receipts and generations against each other."""
        from kit.explore import costs

        for _ in range(_READS):
            before = yield from self.balance()
            entries = yield from self.entries(tell)
            every = calls.list_generations(limit=1000)
            found = yield from _listed(every, partial(tell, "generations"))
            balance = yield from self.balance()
            if before == balance:
                break
        mine = {g.id for g in found}
        receipts = {n: c for n, c in self.operations.journal.credits().items() if n in mine}
        if entries is None:
            raise NotFoundError("this service has no ledger to reconcile with")
        return costs.reconcile(entries, balance=balance, receipts=receipts, generations=found)

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
        return costs.explain(facts, self.operations.charged(facts), quote)

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
            return self.operations.billing.learned(model, {**values, **lengths})
        kinds = {p.name: p.type for p in model.media_parameters}
        media: dict[str, Sequence[pricing.Medium]] = {
            name: [pricing.Medium(kinds.get(name, ""), Fraction(str(value)))]
            for name, value in seconds.items()
        }
        return pricing.price(model.pricing, values, media)


def _listed(
    call: calls.Call[list[T]],
    tell: Callable[[ListProgress], None],
    enough: Callable[[Sequence[T]], bool] = lambda _: False,
) -> Flow[list[T]]:
    """Return a list page after page, to its end or until a page is enough; `tell` hears of each."""
    items: list[T] = []
    following: calls.Call[list[T]] | None = call
    pages = 0
    while following:
        found = yield from flows.page(following)
        items += found.items
        pages += 1
        tell(ListProgress(len(items), pages, items[-1].created_at if items else None))
        following = found.following if found.items and not enough(found.items) else None
    return items


def _before(entries: Sequence[wire.Entry], moment: datetime) -> bool:
    """Whether a page reaches behind a moment; one whose times are not known does not."""
    last = entries[-1].created_at if entries else None
    return last is not None and last < moment


def _within(frame: pd.DataFrame, choice: HistoryFilter) -> pd.DataFrame:
    if choice.since is not None:
        frame = frame[frame["created_at"] >= choice.since]
    if choice.until is not None:
        frame = frame[frame["created_at"] < choice.until]
    return frame
