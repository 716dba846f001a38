"""A sweep: its cells, their progress and their results."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from kit import wire
from kit.client.calls import Flow
from kit.client.settings import hash_text
from kit.errors import ConfigError, GenerationFailedError, KitError, show_own_lines
from kit.explore.ratings import BEST, Ratings
from kit.explore.sweeps import COLUMNS, table
from kit.parameters import check_count, is_own
from kit.studio.generation import BaseGeneration, Session, fetch_thumbnail
from kit.studio.sweeps import cells
from kit.studio.sweeps.cells import Cell, SweepCells, least_sure_source
from kit.studio.sweeps.runner import RunStopped, SweepRun
from kit.studio.views import result_card
from kit.widgets import markup, media, preview, prices

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.sweeps.sheet import Sheet, Tile

H = TypeVar("H", bound=BaseGeneration)

#: Requests that run at the same time.
AT_ONCE = 4
_POLL_SECONDS = 0.1
#: Seconds that canceling waits for starts that are being sent.
_CANCEL_SECONDS = 5.0
#: Maximum of pictures shown while a sweep runs, the newest ones.
_MAX_PICTURES = 24
#: Maximum bytes of all pictures in a sheet, and maximum and minimum bytes of one.
_SHEET_BYTES, _LARGE, _SMALL = 1_200_000, 30_000, 4_000


@dataclass(frozen=True, slots=True)
class CellResult:
    """The progress and result of a cell."""

    generation: wire.Generation | None = None
    error: str = ""
    is_lost: bool = False  # whether a start was sent and not answered

    @property
    def status(self) -> str:
        """``planned``, ``refused``, ``unknown``, or the state of the generation."""
        if self.generation is not None:
            return self.generation.state
        return "unknown" if self.is_lost else "refused" if self.error else "planned"

    @property
    def share(self) -> float:
        """The fraction done, 0 to 1."""
        facts = self.generation
        return (facts.progress or 0.0) if facts and facts.state == "processing" else 1.0


PLANNED = CellResult()


def describe_progress(
    results: Sequence[CellResult], cells: Sequence[Cell], credits: Decimal | None
) -> str:
    """Return a sentence with the progress of a sweep, or with its price."""
    states = [result.status for result in results]
    if any(state != "planned" for state in states):
        counts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
        return ", ".join([*counts, *_amounts(results, cells)])
    reused = sum(bool(cell.earlier) for cell in cells)
    made_before = f", {reused} made before" if reused else ""
    price = markup.credits(credits)
    if credits is not None and (why := prices.ESTIMATES.get(least_sure_source(cells))):
        price = f"about {price} ({why})"
    return f"{markup.count_of(len(cells), 'request')}{made_before}, {price}"


def _amounts(results: Sequence[CellResult], cells: Sequence[Cell]) -> list[str]:
    """Return charges of canceled requests, all refunds, and possible charges, as texts."""
    found = [result.generation for result in results if result.generation is not None]
    refunded = sum((g.credits_refunded or Decimal(0) for g in found), Decimal(0))
    canceled = [g for g in found if g.state == "canceled" and not g.credits_refunded]
    charged = sum((g.credits_charged or Decimal(0) for g in canceled), Decimal(0))
    lost = [c.max_credits for c, r in zip(cells, results, strict=False) if r.status == "unknown"]
    amounts = (
        (charged, "charged for what was canceled"),
        (refunded, "refunded"),
        (sum(lost, Decimal(0)), "possibly charged for what is unknown"),
    )
    return [f"{markup.credits(amount)} {words}" for amount, words in amounts if amount]


def _draw(generation: BaseGeneration, limit: int, width: int) -> str | None:
    """Return a small picture of a result, or None without one."""
    try:
        content = fetch_thumbnail(generation)
        return media.picture(content, limit=limit, width=width) if content else None
    except Exception:  # noqa: BLE001 - one picture takes no other away, however it is broken
        return None


class BaseSweep(Generic[H]):
    """The common base of blocking and async sweeps: the cells and their progress."""

    def __init__(self, planned: SweepCells, session: Session[H], ratings: Ratings) -> None:
        self.plan = planned.plan
        self.title = planned.title
        self.ratings = ratings
        self._cells = list(planned.cells)
        self._session = session
        self._operations = session.operations
        self._digest = hash_text("\n".join(cell.digest for cell in self._cells), 64)
        self._notes = session.operations.settings.records("sweeps")
        self._results: dict[int, CellResult] = {}  # assigned one at a time, from any thread
        self._lock = threading.Lock()
        self._run: SweepRun | None = None

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[H | None]:
        return (self[n] for n in range(len(self)))

    @overload
    def __getitem__(self, number: int) -> H | None: ...
    @overload
    def __getitem__(self, number: slice) -> list[H | None]: ...
    def __getitem__(self, number: int | slice) -> H | list[H | None] | None:
        """Return the generation of a request by its number; None if it has none yet."""
        if isinstance(number, slice):
            return [self[n] for n in range(len(self))[number]]
        if not -len(self) <= number < len(self):
            why = f"there is no request {number}; there are {len(self)}, from 0 on"
            raise show_own_lines(IndexError(why))
        facts = self._result(number % len(self)).generation
        return None if facts is None else self._session.wrap(facts)

    def __repr__(self) -> str:
        return f"<Sweep {self.title}: {self._describe()}>"

    def _repr_html_(self) -> str:
        from kit.explore.sweeps.sheet import html

        return html(self._table(), self.title, self._describe(), new=not self._results)

    @property
    def credits(self) -> Decimal | None:
        """The price of the remaining requests; None if a price is unknown."""
        prices = [cell.credits for n, cell in enumerate(self._cells) if self._is_open(n)]
        known = [price for price in prices if price is not None]
        return sum(known, Decimal(0)) if len(known) == len(prices) else None

    @property
    def quote(self) -> wire.Quote:
        """The price of the remaining requests; its source is the least reliable of theirs."""
        if (total := self.credits) is None:
            raise ConfigError(f"the service does not say what every request of {self.title} costs")
        remaining = [c for n, c in enumerate(self._cells) if self._is_open(n) and not c.earlier]
        error = sum((cell.max_credits for cell in remaining), Decimal(0)) - total
        kind = f"{len(remaining)} requests, {len(self) - len(remaining)} made before"
        if error:
            kind += f", ± {error:f}"
        source = cells.least_sure_source(remaining)
        return wire.Quote(total=total, source=source, terms=[wire.Term(kind=kind, credits=total)])

    @property
    def generations(self) -> list[H]:
        """The generations started so far, in the order of the requests."""
        return [generation for generation in self if generation is not None]

    def frame(self, *, constants: bool = False) -> pd.DataFrame:
        """Return one row per request, numbered; requests from a dataframe keep its index.

        It has the arguments that vary, and with `constants` all of them, named as in the history:
        ``prompt``, ``model_id`` and ``parameters.NAME``, with ids of generations and paths or names
        of files. Columns that the dataframe has under the same name are left out, for
        ``frame.join(sweep.frame())``. Then ``price`` (credits still to be charged; 0 for reused
        results, NaN if unknown), ``status`` (``planned``, ``refused``, ``unknown`` if a start was
        not answered and may be executed, or that of the generation), ``charged``, ``refunded``,
        ``net`` (credits), ``seconds``, ``rating``, ``generation_id`` and ``error``.
        """
        found, rows = self._table(constants), self.plan.rows
        if rows is None:
            return found
        return found.drop(columns=[n for n in found if n in rows and n not in COLUMNS])

    def _table(self, constants: bool = False) -> pd.DataFrame:
        prices = [c.credits if self._is_open(n) else Decimal(0) for n, c in enumerate(self._cells)]
        found = [self._result(n) for n in range(len(self))]
        results = [(each.generation, each.status, each.error) for each in found]
        receipts = self._operations.journal.credits()
        return table(self.plan, prices, results, receipts, self.ratings.all(), constants=constants)

    def _draw_sheet(self, x: str | None, y: str | None, size: int) -> Sheet:
        from kit.explore.sweeps.sheet import lay_out_sheet

        size = check_count("size", size, 1)
        tiles = [self._tile(n, values, size) for n, values in enumerate(self.plan.requests)]
        spent = round(float(self._table()["net"].sum()), 6)
        title = f"{self.title}: {self._describe()}" + (
            f", {markup.credits(spent)}" if self._results else ""
        )
        sheet = lay_out_sheet(self.plan, tiles, title, x=x, y=y, size=size)
        return replace(sheet, show=self._show_sheet)

    def _tile(self, number: int, values: Mapping[str, Any], size: int) -> Tile:
        """Return the tile of a result; its caption begins with the number used by `rate`."""
        from kit.explore.sweeps.sheet import Tile, text

        result = self._result(number)
        label = " · ".join(f"{name} {text(value)}" for name, value in values.items())
        if result.generation is None:
            why = (not result.is_lost and result.error[:60]) or result.status
            return Tile(None, f"#{number} · {why}", label)
        generation = self._session.wrap(result.generation)
        limit = max(_SMALL, min(_LARGE, _SHEET_BYTES // len(self)))
        picture = _draw(generation, limit, 2 * size)
        charged = self._operations.find_charge(generation.facts)
        caption = preview.costs(generation.facts, charged) or markup.credits(None)
        if result.status != "completed":
            caption = f"{result.status} · {caption}"
        if picture is None and generation.facts.deletion:
            caption = f"{generation.facts.deletion} · {caption}"
        best = self.ratings[generation.id] == BEST
        return Tile(picture, f"#{number} · {caption}", label, favorite=best, number=number)

    def _show_sheet(self, sheet: Sheet) -> None:
        from kit.widgets import result

        def card(number: int) -> Any:
            facts = self._result(number).generation
            assert facts is not None  # noqa: S101 - else there is no button
            return result_card(self._session, facts.id)

        result.show_openable(sheet.html(), repr(sheet), card)

    def best(self, *numbers: int) -> list[H]:
        """Mark requests as favorites, by number, and return all favorites of this sweep."""
        for number in numbers:
            self.rate(number, BEST)
        marked = self.ratings.all()
        return [g for g in self.generations if marked.get(g.id, {}).get("rating") == BEST]

    def rate(self, number: int, rating: int | None, note: str = "") -> None:
        """Rate the result of a request, by number, from 0 to 5; None removes the rating."""
        if not 0 <= number < len(self):
            raise ConfigError(f"there is no cell {number}; there are {len(self)}, from 0 on")
        if (facts := self._result(number).generation) is None:
            raise ConfigError(f"the cell {number} has no result yet; run() makes it, or finds it")
        self.ratings.rate(facts.id, rating, note)

    def _wait_for_run(self) -> None:
        if (run := self._run) is None:
            raise ConfigError("this sweep is not running; run() starts it")
        with self._operations.progress(self.title) as update:
            pictures: dict[str, str] = {}
            shown = None
            while not run.join(_POLL_SECONDS):
                done = sum(not self._is_open(number) for number in range(len(self)))
                state = done, int(self._operations.policy.clock())
                if state != shown:  # once a second: all pictures are sent each time
                    shown = state
                    self._add_pictures(pictures)
                    words = f"{self.title} · {done} of {len(self)}"
                    share = sum(result.share for result in list(self._results.values()))
                    newest = list(filter(None, pictures.values()))[-_MAX_PICTURES:]
                    update.show_text(words, share / max(1, len(self)), newest)
        if run.fatal is not None:
            run.fatal.add_note(f"{self._describe()}; running it again continues from here")
            raise run.fatal
        refused = [(n, r.error) for n in range(len(self)) if (r := self._result(n)).error]
        if refused:
            number, why = refused[0]
            self._operations.notices.log(
                f"{len(refused)} of {len(self)} requests have no result; request {number}: {why}"
            )

    def _add_pictures(self, found: dict[str, str]) -> None:
        """Add thumbnails of new results, of which the files were fetched by the run."""
        for result in list(self._results.values()):
            facts = result.generation
            if facts is None or facts.state != "completed" or facts.id in found:
                continue
            if self._operations.cache.path(facts).exists():
                found[facts.id] = _draw(self._session.wrap(facts), _SMALL, 120) or ""

    def _stop(self, interruption: BaseException) -> None:
        """Stop starting requests, because the wait was interrupted."""
        if self._run is not None:
            self._run.stop.set()
        find = self._operations.find_charge
        running = [r.generation for r in self._results.values() if r.status == "processing"]
        cost = sum((find(facts) or Decimal(0) for facts in running if facts), Decimal(0))
        words = (
            f"; what was started continues, for {markup.credits(cost)}: "
            "running it again waits for it at no extra cost"
        )
        interruption.add_note(f"{self._describe()}{words if running else ''}")
        show_own_lines(interruption)

    def _cancel_started(self) -> None:
        if (run := self._run) is not None:
            run.stop.set()
        while True:
            for number, result in list(self._results.items()):
                if result.status == "processing" and result.generation is not None:
                    self._results[number] = self._cancel_one(result.generation)
            if run is None or not run.join(_CANCEL_SECONDS):
                return
            run = None  # again, for requests that were just being started

    def _begin(self, at_once: int, unpriced: bool) -> None:
        at_once = check_count("at_once", at_once, 1, 32)
        with self._lock:
            if self._run is not None and not self._run.join(0):
                self._run.begin(at_once)  # it was interrupted, or is already running
                return
            self._cells = cells.refresh_cells(self._operations, self._cells)
            if self.credits is None and not unpriced:
                raise ConfigError(
                    f"the service does not say what every request of {self.title} costs; "
                    "unpriced=True runs them anyway"
                )
            remaining = [n for n in range(len(self)) if self._is_open(n)]
            # each start is checked again, and a budget may count the lost ones already
            sure = (self._cells[n] for n in remaining if not self._result(n).is_lost)
            total = sum((cell.max_credits for cell in sure), Decimal(0))
            self._operations.billing.budgets.check(total, f"a sweep of {len(remaining)} requests")
            client, clock = self._session.client, self._operations.policy.clock
            self._run = SweepRun(client, self._work, self._note_failure, deque(remaining), clock)
            self._run.begin(at_once)

    def _work(self, number: int) -> Flow[None]:
        run = self._run

        def update(facts: wire.Generation) -> None:
            self._results[number] = CellResult(facts)
            if run is not None and run.stop.is_set() and not facts.finished:
                raise RunStopped

        cell, latest = self._cells[number], self._result(number).generation
        if latest is not None and not latest.finished:  # it is waited for, despite any error
            cell = replace(cell, earlier=(latest.id, *cell.earlier))
        return cells.make_cell(self._operations, cell, self._notes, self._digest, update)

    def _note_failure(self, number: int, error: KitError) -> None:
        facts, is_lost = self._result(number).generation, error.unsettled
        with suppress(OSError):  # an earlier start may be lost too
            is_lost = is_lost or bool(self._operations.journal.intents(self._cells[number].digest))
        if isinstance(error, GenerationFailedError):
            facts = error.generation or facts
        elif is_lost and facts is not None and facts.finished:
            facts = None
        self._results[number] = CellResult(facts, str(error), is_lost)

    def _cancel_one(self, facts: wire.Generation) -> CellResult:
        try:
            return CellResult(self._session.client.block(self._operations.cancel(facts.id)))
        except KitError as error:
            return CellResult(facts, str(error))

    def _result(self, number: int) -> CellResult:
        return self._results.get(number, PLANNED)

    def _is_open(self, number: int) -> bool:
        return self._result(number).status != "completed"

    def _describe(self) -> str:
        found = [self._result(n) for n in range(len(self))]
        words = describe_progress(found, self._cells, self.credits)
        started = [r.generation for r in found if r.status == "processing" and r.generation]
        own = all(is_own(cell.request.model) for cell in self._cells)
        return "; ".join(filter(None, [words, prices.cancel_cost(started) if own else ""]))
