"""The blocking sweeps of a studio; made by `tests/sync_face.py` of `aio`: change that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kit.explore.ratings import Ratings
from kit.studio.generation import Session
from kit.studio.requests import merge_parameters
from kit.studio.sweeps import AT_ONCE, BaseSweep, H, cells

if TYPE_CHECKING:
    import pandas as pd

    from kit import wire
    from kit.client.calls import Flow
    from kit.explore.sweeps.sheet import Sheet
    from kit.studio.sync.generation import Generation

    Rows = pd.DataFrame | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class Sweeps:
    """Makes sweeps: ``studio.sweep(model, ...)``.

    Examples
    --------
    ``studio.sweep("poster", ["a lake", "a fox"], style=["ink", "oil"], seed=range(3))`` is a sweep
    of twelve requests, and shows what they cost.
    """

    session: Session[Generation]
    ratings: Ratings

    def __repr__(self) -> str:
        return "<studio.sweep(model, prompt, ...)>"

    def __call__(
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
    ) -> Sweep[Generation]:
        """Return many requests that belong together, checked and priced; `Sweep.run` makes them.

        What is given as a list, range, array or series of values varies. Where requests break a
        rule, a `ParameterError` names them, and nothing was sent.

        Parameters
        ----------
        plan : str or int
            ``grid`` makes every combination, ``zip`` the first values together, then the second;
            a number draws that many of the grid.
        again : bool or str
            False finds what was made before. A text names a new take, True is always a new one.
        parameters : mapping, optional
            Values by name, for names that mean something else here, such as ``model`` or ``plan``.
        """
        operations, given = self.session.operations, merge_parameters(parameters, values)
        flow = cells.plan_sweep(
            operations, model, prompt, given, media=media, plan=plan, again=again, tags=tags
        )
        return self._plan(flow)

    def rows(
        self,
        frame: Rows,
        *,
        model: str | wire.Model | None = None,
        at_once: int = AT_ONCE,
        again: bool | str = False,
        unpriced: bool = False,
        tags: Mapping[str, str] | None = None,
    ) -> Sweep[Generation]:
        """Make one generation a row and return them as a finished sweep.

        Columns of a frame, or keys of mappings, are ``model``, ``prompt``, ``media``, parameters
        and ``tag.NAME``; empty cells are left out. `model` and `tags` are for all rows; a row's own
        come first. `unpriced` goes on where the service does not say what a row costs. Where rows
        break a rule, a `ParameterError` names them, and nothing was sent.
        """
        flow = cells.plan_rows(self.session.operations, frame, model=model, again=again, tags=tags)
        sweep = self._plan(flow)
        return sweep.run(at_once=at_once, unpriced=unpriced)

    def _plan(self, flow: Flow[cells.SweepCells]) -> Sweep[Generation]:
        client: Any = self.session.client
        planned = client.run(self.session.resumable(flow))
        return Sweep(planned, self.session, self.ratings)


class Sweep(BaseSweep[H]):
    """Many requests that belong together; looking at it shows what they will cost.

    `run` makes them. Run again, or built again after a restart of the kernel, it goes on where it
    stopped, and nothing is paid twice.

    Examples
    --------
    ``sweep = studio.sweep("poster", prompt=["a lake", "a fox"], style=["ink", "oil"])`` shows
    what it costs; then ``sweep.run()`` and ``sweep.sheet()``
    """

    def run(
        self, *, at_once: int = AT_ONCE, background: bool = False, unpriced: bool = False
    ) -> Sweep[H]:
        """Make what is not made yet, 1 to 32 at the same time, and return the sweep.

        A request that fails is kept with its error, and the others go on; a refused key, an empty
        balance or a full budget ends the run. Nothing is sent where all together would pass an open
        budget, or a price is unknown and it is not to run `unpriced`. `background` returns at once:
        `frame` shows how far it is, and `wait` waits.
        """
        self._begin(at_once, unpriced)
        return self if background else self.wait()

    def wait(self) -> Sweep[H]:
        """Wait for a run in the background, and return the sweep; errors are those of `run`."""
        try:
            self._wait_for_run()
        except KeyboardInterrupt as stop:
            self._stop(stop)
            raise
        return self

    def cancel(self) -> Sweep[H]:
        """Start nothing more, and ask the service to stop what runs."""
        self._cancel_started()
        return self

    def sheet(self, x: str | None = None, y: str | None = None, *, size: int = 200) -> Sheet:
        """Return the results as a contact sheet, with the number and the cost of each.

        `x` and `y` are what varies across and down; the last axis goes across, all others down.
        Pictures are `size` pixels across.
        """
        return self._draw_sheet(x, y, size)
