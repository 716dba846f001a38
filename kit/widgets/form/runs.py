"""Runs: what a form has started, of which it shows the newest, and a notebook keeps some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.parameters import Request
from kit.widgets.form.run import Run
from kit.widgets.form.service import BackgroundRunner, Service
from kit.widgets.form.stock import Stock

#: Results that stay below a form, and those of them that its notebook keeps.
MOST, KEPT = 12, 3


class Runs:
    """All runs of a form, the newest last.

    Parameters
    ----------
    show : callable
        Takes the panel of a run that begins.
    on_start, on_end : callable
        Called with each run.
    """

    def __init__(
        self,
        stock: Stock,
        background: BackgroundRunner,
        *,
        show: Callable[[Any], None],
        on_start: Callable[[Run], None],
        on_end: Callable[[Run], None],
    ) -> None:
        self.all: list[Run] = []
        self._stock = stock
        self._background = background
        self._show = show
        self._calls = {"on_start": on_start, "on_end": on_end}

    def begin(self, request: Request, service: Service) -> Run:
        """Start a request and return its run at once."""
        past = [run.seconds for run in self.all if run.state == "completed" and run.seconds]
        run = Run(
            request,
            service,
            self._stock,
            background=self._background,
            expected=past[-1] if past else None,
            **self._calls,
        )
        self.all.append(run)
        self._show(run.widget)
        for old in self.all[-MOST - 1 : -MOST]:
            old.let_go()
        run.start()
        return run

    def kept(self) -> str:
        """Return the newest results, the newest first, as a notebook keeps them."""
        done = [run.html for run in self.all if run.state == "completed"]
        return "".join(reversed(done[-KEPT:]))

    def latest(self) -> Run | None:
        """Return the last run that the service has taken."""
        return next((run for run in reversed(self.all) if run.facts is not None), None)
