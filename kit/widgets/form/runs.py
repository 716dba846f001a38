"""A run: one start of a form, with a panel that shows its progress and then the result.

It continues in the background even if its panel is closed; `Run.result` waits for it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Generator
from typing import Any

import ipywidgets

from kit import wire
from kit.errors import GenerationFailedError, show_own_lines
from kit.parameters import Request, is_own
from kit.widgets import markup, prices
from kit.widgets.background import BackgroundRunner
from kit.widgets.boxes import close_all
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.service import Service
from kit.widgets.markup import faint
from kit.widgets.progress import UPDATE_SECONDS, TimeEstimate, bar

#: Seconds between updates of the panel, and between checks of an awaited run: the signal of a
#: notebook's Stop button does not wake an idle loop.
TICK_SECONDS, HEARTBEAT_SECONDS = 1.0, 0.2
#: Maximum of results below a form, and of those saved in its notebook.
MAX_RUNS, MAX_SAVED = 12, 3


class Run:
    """One start of a form.

    `card`: takes a completed run and the widget of its result; returns the widget that shows both.
    `on_start`, `on_end`: called with this run: once when the service has accepted it, and whenever
    it has ended.
    """

    def __init__(
        self,
        request: Request,
        service: Service,
        factory: WidgetFactory,
        *,
        background: BackgroundRunner,
        card: Callable[[Run, Any], Any],
        on_start: Callable[[Run], None],
        on_end: Callable[[Run], None],
    ) -> None:
        self.request = request
        self._card = card
        self.facts: wire.Generation | None = None
        self.error: BaseException | None = None
        self.html = ""
        self._service = service
        self._background = background
        self._estimate = TimeEstimate()
        self._on_start, self._on_end = on_start, on_end
        self._factory = factory
        self._lock = threading.RLock()
        self._panel_closed = self._cancel_requested = False
        self._line: Any = None
        self._cancel: Any = None
        self.widget = factory.new(ipywidgets.HBox, _dom_classes=("kit-bar",))
        self._prepare()

    def __repr__(self) -> str:
        return f"<Run {self.state}>"

    def __await__(self) -> Generator[Any, None, Any]:
        return self._wait().__await__()

    @property
    def state(self) -> str:
        """``processing``, ``completed``, ``failed`` or ``canceled``."""
        if not self._future.done():
            return "processing"
        if self.error is None:
            return "completed"
        latest = self.latest
        return latest.state if latest is not None and latest.finished else "failed"

    @property
    def latest(self) -> wire.Generation | None:
        """The last known state of the generation; None before the service has accepted it."""
        ended = getattr(self.error, "generation", None)
        return ended if isinstance(ended, wire.Generation) else self.facts

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the finished generation and return it; raises its error."""
        try:
            return self._future.result(timeout)
        except KeyboardInterrupt as stop:
            stop.add_note("it continues in its form")
            show_own_lines(stop)
            raise

    def start(self) -> None:
        """Start in the background."""
        self._begin(
            lambda: self._service.generate(
                self.request, self._update, self._show_upload, self._show_wait
            )
        )

    @property
    def resumable(self) -> bool:
        """Whether it ended without a result although the service has not reported a failure."""
        is_started = self.error is not None and self.facts is not None
        return is_started and not isinstance(self.error, GenerationFailedError)

    def resume(self) -> None:
        """Wait for the generation again, and fetch it; nothing is started or charged again."""
        with self._lock:
            if self.facts is None or not self.resumable:
                return
            self._prepare()
        self.follow(self.facts)

    def follow(self, facts: wire.Generation) -> None:
        """Wait for a generation that is started already, and fetch it."""
        self._update(facts)
        self._begin(lambda: self._service.resume(facts.id, self._update, self._show_wait))

    def cancel(self) -> None:
        """Ask the service to cancel it; if it is not started yet, as soon as it is."""
        with self._lock:
            repeated, self._cancel_requested = self._cancel_requested, True
            facts = self.facts
        self._cancel.disabled = True
        self._draw()
        if facts is not None and not repeated:
            self._background.begin(lambda: self._request_cancel(facts.id))

    def close_panel(self) -> None:
        """Close its panel and clear the contents; the run continues, and its generation is kept."""
        with self._lock:
            self._panel_closed = True
            self.html = ""
            self._fill()
        self.widget.close()

    def _prepare(self) -> None:
        """Reset the state, and show the panel of a new attempt."""
        self._future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self.error = None
        self.ending = "completed"  # or why it has none
        self._cancel_requested = False
        self._cancel_problem = self._wait_text = ""
        self._sent_share: float | None = None
        self._began = self._background.clock()
        self._drawn_at = -UPDATE_SECONDS
        self._line = self._factory.new(ipywidgets.HTML)
        self._cancel = self._factory.button("Cancel", "times", self.cancel)
        self._fill(self._line, self._cancel)
        self._draw()

    def _fill(self, *parts: Any) -> None:
        """Replace the contents of the panel; the old ones are closed."""
        before, self.widget.children = self.widget.children, parts
        for one in before:
            close_all(one)

    def _begin(self, attempt: Callable[[], Any]) -> None:
        self._background.begin(lambda: self._work(attempt))
        self._schedule_tick(self._future)

    def _work(self, attempt: Callable[[], Any]) -> None:
        try:
            result = attempt()
            html = self._service.show(result)
        except BaseException as error:  # noqa: BLE001 - shown in the panel, and kept for `result`
            self.ending = _error_sentence(error)
            self._finish(None, error, markup.warning(self.ending))
        else:
            self._finish(result, None, html)

    def _show_upload(self, _: str, share: float) -> None:
        self._sent_share = share
        self._draw_soon()

    def _show_wait(self, why: str) -> None:
        """Show why it waits, until it continues."""
        self._wait_text = faint(why)
        self._draw()

    def _update(self, facts: wire.Generation) -> None:
        self._wait_text = ""
        first = self.facts is None
        with self._lock:
            self.facts = facts
            canceled = self._cancel_requested
        if first:
            self._estimate.expected = self._service.usual_seconds(facts)
            self._on_start(self)
            if canceled:
                self._background.begin(lambda: self._request_cancel(facts.id))
        (self._draw if first else self._draw_soon)()

    def _draw_soon(self) -> None:
        if self._background.clock() - self._drawn_at >= UPDATE_SECONDS:
            self._draw()

    def _request_cancel(self, generation_id: str) -> None:
        try:
            self._service.cancel(generation_id)
        except Exception as problem:  # noqa: BLE001 - it goes on, and its panel says why
            self._cancel_problem = markup.problem(_error_sentence(problem))
            self._draw()

    def _finish(self, result: Any, error: BaseException | None, html: str) -> None:
        future, self.error = self._future, error  # that of another attempt, once it is resumed
        try:
            with self._lock:
                self.html = "" if self._panel_closed else html
                self._fill(*(() if self._panel_closed else self._result_widgets(html)))
        finally:  # whatever prevents that it is shown
            future.set_exception(error) if error else future.set_result(result)
        self._on_end(self)

    def _result_widgets(self, html: str) -> list[Any]:
        if self.error is None and self.facts is not None:
            return [self._card(self, _result(self._factory, html))]
        if not self.resumable:
            return [_result(self._factory, html)]
        tooltip = "Nothing is started or charged again"
        retry = self._factory.button("Try again", "repeat", self.resume, tooltip=tooltip)
        return [_result(self._factory, html), retry]

    def _schedule_tick(self, attempt: concurrent.futures.Future[Any]) -> None:
        def tick() -> None:
            if not attempt.done():
                self._draw()
                self._schedule_tick(attempt)

        cancel = self._background.after(TICK_SECONDS, tick)
        attempt.add_done_callback(lambda _: cancel())

    def _draw(self) -> None:
        self._drawn_at = self._background.clock()
        seconds = self._drawn_at - self._began
        fraction = self.facts.progress if self.facts else self._sent_share
        words = [self._phase(), self._estimate.text(fraction, seconds)]
        shown = bar(" · ".join(filter(None, words)), fraction, seconds)
        # the cost of canceling is known if the service's rule is
        ours = is_own(self.request.model) and not self._cancel_requested
        cost = prices.cancel_cost([self.facts] if self.facts and ours else [])
        if self._cancel.tooltip != cost:
            self._cancel.tooltip = cost
        self._line.value = shown + faint(cost) + self._wait_text + self._cancel_problem

    def _phase(self) -> str:
        if self._cancel_requested and not self._cancel_problem:
            return "canceling"
        if self.facts is None:
            return "uploading" if self.request.media and (self._sent_share or 0) < 1 else "starting"
        if self.facts.finished:
            return "fetching"
        if not is_own(self.request.model):  # it does not say that a worker has begun
            return self.facts.status.replace("_", " ").lower()[:40]
        return "queued" if prices.is_queued(self.facts) else "rendering"

    async def _wait(self) -> Any:
        while not self._future.done():
            await asyncio.sleep(HEARTBEAT_SECONDS)
        return self._future.result()


def _result(factory: WidgetFactory, html: str) -> Any:
    """Return the widget of a result; only output areas find a video by its relative URL."""
    if "<video" not in html:
        return factory.new(ipywidgets.HTML, value=html)
    data = {"text/html": html, "text/plain": ""}
    shown = {"output_type": "display_data", "data": data, "metadata": {}}
    return factory.new(ipywidgets.Output, outputs=(shown,))


def _error_sentence(error: BaseException) -> str:
    if isinstance(error, GenerationFailedError) and error.generation is not None:
        facts = error.generation
        refund = facts.credits_refunded
        charged = facts.credits_charged
        ending = f"; {markup.credits(refund)} refunded" if refund else ""
        if charged and not refund:
            ending = f"; {markup.credits(charged)} charged"
        return f"{facts.state}: {facts.error}{ending}" if facts.error else f"{facts.state}{ending}"
    return markup.error_text(error)
