"""The async sweeps of a studio; `tests/sync_face.py` generates the blocking one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kit.client.bridge import to_thread
from kit.explore.ratings import Ratings
from kit.studio.generation import Session, note_interrupt
from kit.studio.requests import merge_parameters
from kit.studio.sweeps import AT_ONCE, BaseSweep, H, cells

if TYPE_CHECKING:
    import pandas as pd

    from kit import wire
    from kit.client.calls import Flow
    from kit.explore.sweeps.sheet import Sheet
    from kit.studio.aio.generation import AsyncGeneration

    Rows = pd.DataFrame | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class AsyncSweeps:
    """Plans sweeps: ``studio.sweep(model, ...)``.

    Examples
    --------
    ``studio.sweep("poster", ["a lake", "a fox"], style=["ink", "oil"], seed=range(3))`` is a sweep
    of twelve requests, and shows their price.
    """

    session: Session[AsyncGeneration]
    ratings: Ratings

    def __repr__(self) -> str:
        return "<studio.sweep(model, prompt, ...)>"

    async def __call__(
        self,
        model: str | wire.Model,
        prompt: Any = None,
        *,
        media: Any = None,
        plan: str | int = "grid",
        again: bool | str = False,
        tags: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> AsyncSweep[AsyncGeneration]:
        """Plan a sweep of many requests, validated and priced; `Sweep.run` generates them.

        Arguments given as a list, range, array or series vary. If requests are invalid,
        `ParameterError` lists them, and nothing is sent.

        Parameters
        ----------
        plan : str or int
            ``grid`` makes all combinations, ``zip`` combines the first values, then the second, and
            so on; a number samples that many from the grid.
        again : bool or str
            False reuses earlier results. A text names a new take; True always makes a new one.
        parameters : mapping, optional
            Parameters whose names are arguments here, such as ``model`` or ``plan``.
        """
        operations, given = self.session.operations, merge_parameters(parameters, values)
        flow = cells.plan_sweep(
            operations, model, prompt, given, media=media, plan=plan, again=again, tags=tags
        )
        return await self._plan(flow)

    async def rows(
        self,
        frame: Rows,
        *,
        model: str | wire.Model | None = None,
        at_once: int = AT_ONCE,
        again: bool | str = False,
        unpriced: bool = False,
        tags: Mapping[str, str] | None = None,
    ) -> AsyncSweep[AsyncGeneration]:
        """Generate one result per row and return them as a finished sweep.

        Columns of a frame, or keys of mappings, are ``model``, ``prompt``, ``media``, parameters
        and ``tag.NAME``; empty cells are left out. `model` and `tags` apply to rows without their
        own. Equal rows are each generated and paid; the same rows in a later call are not.
        `unpriced` permits rows whose price the service does not report. If rows are invalid,
        `ParameterError` lists them, and nothing is sent.
        """
        flow = cells.plan_rows(self.session.operations, frame, model=model, again=again, tags=tags)
        sweep = await self._plan(flow)
        return await sweep.run(at_once=at_once, unpriced=unpriced)

    async def _plan(self, flow: Flow[cells.SweepCells]) -> AsyncSweep[AsyncGeneration]:
        client: Any = self.session.client
        note = "it was stopped while it was planned: nothing was started or charged"
        with note_interrupt(client, lambda _: note):
            planned = await client.run(self.session.resumable(flow))
        return AsyncSweep(planned, self.session, self.ratings)


class AsyncSweep(BaseSweep[H]):
    """Many requests that belong together; in a notebook it shows their price.

    `run` generates them. If it is run again, or created again after a restart of the kernel, it
    continues where it stopped, and nothing is paid twice.

    Examples
    --------
    ``sweep = await studio.sweep("poster", prompt=["a lake", "a fox"], style=["ink", "oil"])`` shows
    the price; then ``await sweep.run()`` and ``await sweep.sheet()``
    """

    async def run(
        self, *, at_once: int = AT_ONCE, background: bool = False, unpriced: bool = False
    ) -> AsyncSweep[H]:
        """Generate the missing results, 1 to 32 at a time, and return the sweep.

        A failed request is kept with its error, and the others continue; a refused key, an empty
        balance or a full budget ends the run. Nothing is sent if the total would exceed an open
        budget, or if a price is unknown, unless `unpriced` permits it. `background` returns
        immediately: `frame` shows the progress, and `wait` waits.
        """
        await to_thread(self._begin, at_once, unpriced)
        return self if background else await self.wait()

    async def wait(self) -> AsyncSweep[H]:
        """Wait for a run in the background and return the sweep; raises the errors of `run`."""
        try:
            await to_thread(self._wait_for_run)
        except asyncio.CancelledError as stop:
            self._stop(stop)
            raise
        return self

    async def cancel(self) -> AsyncSweep[H]:
        """Stop starting requests, and ask the service to cancel running generations."""
        await to_thread(self._cancel_started)
        return self

    async def sheet(self, x: str | None = None, y: str | None = None, *, size: int = 200) -> Sheet:
        """Return the results as a contact sheet, with the number and the cost of each.

        `x` and `y` name what varies across and down; by default the last axis goes across, all
        others down. Pictures are `size` pixels wide.
        """
        return await to_thread(self._draw_sheet, x, y, size)
