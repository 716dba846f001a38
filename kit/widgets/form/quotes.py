"""Prices of a form: the best known one, and requests for better ones."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from kit import wire
from kit.parameters import Request
from kit.widgets import prices
from kit.widgets.background import BackgroundRunner, Debounced
from kit.widgets.form.runs import MAX_RUNS
from kit.widgets.form.service import Service
from kit.widgets.form.values import Checked

#: Seconds without a change before the service is asked.
ASK_SECONDS = 0.4


class Prices:
    """Prices of one form: by the model's rule immediately, else from the service after a moment."""

    def __init__(
        self, service: Service | None, background: BackgroundRunner, changed: Callable[[], None]
    ) -> None:
        self._service = service
        self._changed = changed
        self._lock = threading.Lock()
        #: Number of prompts of a template to generate; None for all, up to `MAX_RUNS`.
        self.prompt_count: int | None = None
        self._requested: Request | None = None
        self._answer: tuple[Request | None, wire.Quote | None] = None, None
        self._balance: Decimal | None = None
        self._ask_soon = Debounced(self._ask, ASK_SECONDS, background)

    def best(self, checked: Checked) -> wire.Quote | None:
        """Return the best known price, and whether the balance covers it."""
        quote, balance = self.without_balance(checked), self._balance
        if quote is None or balance is None or quote.affordable is not None:
            return quote
        return quote.model_copy(update={"balance": balance, "affordable": quote.total <= balance})

    def requests(self, checked: Checked) -> list[Request]:
        """Return the requests to start: one for each prompt drawn from a template."""
        if (found := checked.variants) is None:
            return [checked.request]
        prompts = found.sample(min(self.prompt_count or MAX_RUNS, MAX_RUNS))
        return [replace(checked.request, prompt=prompt) for prompt in prompts]

    def write_template(self, checked: Checked) -> str:
        """Return Python for the prompts of a template, with ``{}`` for its text; else empty."""
        if (found := checked.variants) is None:
            return ""
        folder = ', folder="lists"' if "__" in (checked.request.prompt or "") else ""
        count = min(self.prompt_count or MAX_RUNS, MAX_RUNS)
        return f"kit.template({{}}{folder})" + (f".sample({count})" if count < len(found) else "")

    def without_balance(self, checked: Checked) -> wire.Quote | None:
        """Return the best known price, without the balance; None if a setting is invalid."""
        quote, count = self._quote_one(checked), len(self.requests(checked))
        if quote is None or count == 1:
            return quote
        total = {"total": quote.total * count, "terms": [], "affordable": None}
        return quote.model_copy(update=total)

    def _quote_one(self, checked: Checked) -> wire.Quote | None:
        if checked.settings is None:
            return prices.default_price(checked.request.model) if checked.incomplete else None
        exact = prices.exact_price(checked.request, checked.settings)
        request, answer = self._answer
        known = exact or (answer if request == checked.request else None)
        return known or prices.default_price(checked.request.model)

    def request_better(self, checked: Checked) -> bool:
        """Request a better price if possible; return whether one was requested."""
        if self._service is None or checked.problems or checked.settings is None:
            return False  # the service would refuse the request
        if prices.exact_price(checked.request, checked.settings) is not None:
            return False
        if self._answer[0] == checked.request:
            return False
        with self._lock:
            self._requested = checked.request
        self._ask_soon()
        return True

    def refresh(self) -> None:
        """Refresh the balance and the service's price, which a start or an end may have changed."""
        with self._lock:
            self._answer = None, None
        self.learn_balance()

    def learn_balance(self) -> None:
        """Fetch the balance; may block."""
        if self._service is None:
            return
        try:
            self._balance = self._service.balance()
        except Exception:  # noqa: BLE001 - a price without a balance is useful
            return
        self._changed()

    def _ask(self) -> None:
        with self._lock:
            request = self._requested
        if request is None or self._service is None:
            return
        try:
            quote: wire.Quote | None = self._service.quote(request)
        except Exception:  # noqa: BLE001 - the estimate is still shown
            quote = None
        with self._lock:
            if request is not self._requested:
                return  # the form has changed since, and its new price is requested
            self._answer = request, quote
        self._changed()
