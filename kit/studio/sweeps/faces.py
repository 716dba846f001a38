"""Making sweeps, blocking and awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kit.studio.orders import merged
from kit.studio.sweeps import requests
from kit.studio.sweeps.requests import Bench
from kit.studio.sweeps.sweep import AT_ONCE, H, Sweep

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.actions import Flow
    from kit.explore.sweeps.sheet import Sheet
    from kit.studio.generation import AsyncGeneration, Generation

    Rows = pd.DataFrame | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class Sweeps:
    """Makes sweeps: ``studio.sweep(model, ...)``.

    Examples
    --------
    ``studio.sweep("poster", ["a lake", "a fox"], style=["ink", "oil"], seed=range(3))`` is a sweep
    of twelve requests, and shows what they cost.
    """

    bench: Bench
    run: Callable[[Flow[Any]], Any]

    def __repr__(self) -> str:
        return "<studio.sweep(model, prompt, ...)>"

    def __call__(
        self,
        model: str,
        prompt: Any = None,
        *,
        media: Any = None,
        plan: str | int = "grid",
        again: bool | str = False,
        parameters: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> Sweep[Generation]:
        """Return many requests that belong together, checked and priced; `Sweep.run` makes them.

        Parameters
        ----------
        prompt, **values : value, or a list, range, array or series of values
            What is given several values varies.
        parameters : mapping, optional
            The same, for names that mean something else here, such as ``model`` or ``plan``.
        plan : str or int
            ``grid`` makes every combination, ``zip`` the first values together, then the second;
            a number draws that many of the grid.
        again : bool or str
            False finds what was made before. A text names a new take, True is always a new one.

        Raises
        ------
        ParameterError
            Some requests break a rule; the message names them, and nothing was sent.
        """
        kind = Sweep["Generation"]
        asked = requests.asked(prompt, merged(parameters, values))
        flow = requests.sweep(kind, self.bench, model, asked, media=media, plan=plan, again=again)
        found: Sweep[Generation] = self.run(flow)
        return found

    def rows(
        self,
        frame: Rows,
        *,
        model: str | None = None,
        at_once: int = AT_ONCE,
        again: bool | str = False,
        unpriced: bool = False,
    ) -> Sweep[Generation]:
        """Make one generation a row and return them as a finished sweep.

        Parameters
        ----------
        frame : DataFrame or list of mapping
            Columns are ``model``, ``prompt``, ``media`` and parameters; empty cells are left out.
        model : str, optional
            For rows that name none.
        unpriced : bool
            Whether to go on where nobody says what a row costs.

        Raises
        ------
        ParameterError
            Some rows break a rule; the message names them, and nothing was sent.
        """
        kind = Sweep["Generation"]
        flow = requests.rows(kind, self.bench, frame, model=model, again=again)
        found: Sweep[Generation] = self.run(flow)
        return found.run(at_once=at_once, unpriced=unpriced)


@dataclass(frozen=True, slots=True, repr=False)
class AsyncSweeps:
    """The awaited twin of `Sweeps`: ``await studio.sweep(model, ...)``."""

    bench: Bench
    run: Callable[[Flow[Any]], Awaitable[Any]]

    def __repr__(self) -> str:
        return "<studio.sweep(model, prompt, ...)>"

    async def __call__(
        self,
        model: str,
        prompt: Any = None,
        *,
        media: Any = None,
        plan: str | int = "grid",
        again: bool | str = False,
        parameters: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> AsyncSweep[AsyncGeneration]:
        """Return many requests that belong together, checked and priced; see `Sweeps`."""
        kind = AsyncSweep["AsyncGeneration"]
        asked = requests.asked(prompt, merged(parameters, values))
        flow = requests.sweep(kind, self.bench, model, asked, media=media, plan=plan, again=again)
        found: AsyncSweep[AsyncGeneration] = await self.run(flow)
        return found

    async def rows(
        self,
        frame: Rows,
        *,
        model: str | None = None,
        at_once: int = AT_ONCE,
        again: bool | str = False,
        unpriced: bool = False,
    ) -> AsyncSweep[AsyncGeneration]:
        """Make one generation a row and return them as a finished sweep; see `Sweeps.rows`."""
        kind = AsyncSweep["AsyncGeneration"]
        flow = requests.rows(kind, self.bench, frame, model=model, again=again)
        found: AsyncSweep[AsyncGeneration] = await self.run(flow)
        return await found.run(at_once=at_once, unpriced=unpriced)


class AsyncSweep(Sweep[H]):
    """The awaited twin of `Sweep`: what asks the service is awaited."""

    async def run(  # type: ignore[override]
        self, *, at_once: int = AT_ONCE, background: bool = False, unpriced: bool = False
    ) -> AsyncSweep[H]:
        """Make what is not made yet, and return the sweep; see `Sweep.run`."""
        options = {
            "at_once": at_once,
            "background": background,
            "unpriced": unpriced,
        }
        await self._stopping(super().run, **options)
        return self

    async def wait(self) -> AsyncSweep[H]:  # type: ignore[override]
        """Wait for a run in the background, and return the sweep; see `Sweep.wait`."""
        await self._stopping(super().wait)
        return self

    async def _stopping(self, work: Callable[..., Any], **options: Any) -> None:
        """Run something in a thread; canceling the await stops the run."""
        import asyncio

        try:
            await asyncio.to_thread(work, **options)
        except asyncio.CancelledError:
            if self._run is not None:
                self._run.stop.set()
            raise

    async def cancel(self) -> AsyncSweep[H]:  # type: ignore[override]
        """Start nothing more, and ask the service to stop what runs."""
        import asyncio

        await asyncio.to_thread(super().cancel)
        return self

    async def sheet(  # type: ignore[override]
        self, x: str | None = None, y: str | None = None, *, size: int = 200
    ) -> Sheet:
        """Return the results as a contact sheet; see `Sweep.sheet`."""
        import asyncio

        return await asyncio.to_thread(super().sheet, x, y, size=size)
