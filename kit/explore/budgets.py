"""Budgets: how much may be spent while a ``with`` block is open.

A budget counts every start of its studio, whichever thread makes it. What is being started is held
back until its charge is known, so that racing starts cannot pass a budget together.
"""

from __future__ import annotations

import itertools
import threading
import warnings
from decimal import Decimal, InvalidOperation
from types import TracebackType
from typing import Final

from kit.errors import ApiError, BudgetError, ConfigError, NoAnswerError
from kit.pricing import parse_credits
from kit.wire import Amount

#: Share of a budget that is spent when it warns.
WARN_AT: Final = Decimal("0.8")


class BudgetWarning(UserWarning):
    """A budget is nearly spent."""


class Budget:
    """Credits that may be spent while it is open; `with` opens it."""

    def __init__(self, limit: Decimal, warn_at: Decimal, among: Budgets) -> None:
        self.limit = limit
        self._warn_at = warn_at
        self._among = among
        self._spent: dict[str, Decimal] = {}
        self._held: dict[int, Decimal] = {}
        self._warned = False

    def __repr__(self) -> str:
        return f"<Budget {_text(self.spent)} of {_text(self.limit)} credits spent>"

    def __enter__(self) -> Budget:
        with self._among._lock:
            if self in self._among._open:
                raise ConfigError("this budget is open already")
            self._among._open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self._among._lock:
            self._among._open.remove(self)

    async def __aenter__(self) -> Budget:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    @property
    def spent(self) -> Decimal:
        """What was charged while it was open, less refunded."""
        return sum(self._spent.values(), Amount())

    @property
    def held(self) -> Decimal:
        """What is being started and not yet charged."""
        return sum(self._held.values(), Amount())

    @property
    def left(self) -> Decimal:
        """What may still be started."""
        return self.limit - self.spent - self.held

    def _warning(self) -> str | None:
        if self._warned or self.spent < self.limit * self._warn_at or not self.limit:
            return None
        self._warned = True
        share = 100 * self.spent / self.limit
        return (
            f"{_text(self.spent)} of {_text(self.limit)} credits are spent ({share:.0f} %), "
            f"{_text(self.limit - self.spent)} are left in this budget"
        )


class Hold:
    """Credits set aside for one start; leaving the block gives them back unless they were paid.

    Its number is its own among all of the studio's.

    A refusal of the service, or a start that never left, means that nothing was charged. After any
    other error between sending and receiving nobody knows, and the amount counts as spent: what was
    accepted with an answer that cannot be read, for instance, or ended in a failure.
    """

    def __init__(self, among: Budgets, amount: Decimal, number: int) -> None:
        self.number = number
        self._among = among
        self._amount = amount
        self._sent = False

    def __enter__(self) -> Hold:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        refused = isinstance(error, (ApiError, NoAnswerError)) and not error.unsettled
        unsure = self._sent and error is not None and not refused
        charged = self._amount if unsure else Decimal(0)
        self._among.settle(self, f"unknown {self.number}", charged)

    def sending(self) -> None:
        """Say that the start leaves now."""
        self._sent = True

    def paid(self, what: str, charged: Decimal | None) -> None:
        """Count what was charged for something by its id; what was held where that is not said."""
        self._among.settle(self, what, self._amount if charged is None else charged)


class Budgets:
    """The open budgets of a studio; calling it makes one.

    Examples
    --------
    >>> budget = Budgets()
    >>> with budget(credits=1) as mine:
    ...     with budget.hold(Decimal("0.4"), "a start") as held:
    ...         held.paid("gen_1", Decimal("0.4"))
    >>> mine
    <Budget 0.4 of 1 credits spent>
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: list[Budget] = []
        self._numbers = itertools.count(1)

    def __call__(
        self, credits: Decimal | float | str, *, warn_at: Decimal | float | str = WARN_AT
    ) -> Budget:
        """Return a budget, to be opened by ``with``; inside another both must allow a start.

        Parameters
        ----------
        credits : number
            What may be spent in all.
        warn_at : number
            Share, 0 to 1, of it that gives a warning once it is spent.
        """
        limit = parse_credits(credits, "a budget")
        try:
            share = Decimal(str(warn_at))
            fits = 0 <= share <= 1
        except InvalidOperation:
            fits = False
        if not fits:
            raise ConfigError(f"warn_at is a share from 0 to 1, not {warn_at}")
        return Budget(limit, share, self)

    def __repr__(self) -> str:
        return f"<Budgets {len(self._open)} open>"

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def left(self) -> Decimal | None:
        """What all open budgets allow together; None where none is open."""
        with self._lock:
            return min((budget.left for budget in self._open), default=None)

    def check(self, amount: Decimal, what: str) -> None:
        """Refuse what would pass an open budget, without holding anything.

        Raises `BudgetError`: with the figures of the tightest budget.
        """
        with self._lock:
            budget = min(self._open, key=lambda budget: budget.left, default=None)
            if budget is None or amount <= budget.left:
                return
            held = f", {_text(budget.held)} held for what is being started" if budget.held else ""
            raise BudgetError(
                f"{what} for {_text(amount)} credits would exceed the budget of "
                f"{_text(budget.limit)} credits: {_text(budget.spent)} spent{held}, "
                f"{_text(budget.left)} left; nothing was sent"
            )

    def hold(self, amount: Decimal, what: str) -> Hold:
        """Set an amount aside in every open budget, or refuse it.

        Raises `BudgetError`: it would pass one of them.
        """
        with self._lock:
            self.check(amount, what)
            hold = Hold(self, amount, next(self._numbers))
            for budget in self._open:
                budget._held[hold.number] = amount
        return hold

    def settle(self, hold: Hold, what: str, charged: Decimal) -> None:
        """Turn what was held into what was charged, once."""
        with self._lock:
            for budget in self._open:
                if budget._held.pop(hold.number, None) is not None and charged:
                    budget._spent[what] = charged
            sentences = [text for budget in self._open if (text := budget._warning())]
        for sentence in sentences:
            # names no file: a notebook keeps what it shows, and threads have no line of the user's
            warnings.warn_explicit(sentence, BudgetWarning, "studio.budget", 1)

    def refund(self, what: str, credits: Decimal) -> None:
        """Count what was refunded for something that was paid inside an open budget."""
        with self._lock:
            for budget in self._open:
                if what in budget._spent:
                    budget._spent[what] = max(Decimal(0), budget._spent[what] - credits)


def _text(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
