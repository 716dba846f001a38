"""Budgets: limits on spending inside a ``with`` block.

A budget counts all starts of its studio, from all threads. The price of a start is held until its
charge is known, so that concurrent starts cannot exceed a budget together.
"""

from __future__ import annotations

import itertools
import threading
import warnings
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from types import TracebackType
from typing import Final

from kit.errors import ApiError, BudgetError, ConfigError, NoAnswerError
from kit.pricing import parse_credits
from kit.wire import Amount

#: Share of a budget at which it warns.
WARN_AT: Final = Decimal("0.8")


class BudgetWarning(UserWarning):
    """A budget is nearly spent."""


class Budget:
    """A limit on credits spent while it is open; `with` opens it."""

    def __init__(self, limit: Decimal, warn_at: Decimal, budgets: Budgets) -> None:
        self.limit = limit
        self._warn_at = warn_at
        self._budgets = budgets
        self._charged: dict[str, Decimal] = {}
        self._refunded: dict[str, Decimal] = {}
        self._held: dict[int, Decimal] = {}
        self._warned = False

    def __repr__(self) -> str:
        return f"<Budget {_text(self.spent)} of {_text(self.limit)} credits spent>"

    def __enter__(self) -> Budget:
        with self._budgets._lock:
            if self in self._budgets._open:
                raise ConfigError("this budget is open already")
            self._budgets._open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self._budgets._lock:
            self._budgets._open.remove(self)

    async def __aenter__(self) -> Budget:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    @property
    def spent(self) -> Decimal:
        """Credits charged while it was open, minus refunds."""
        return sum(self._charged.values(), Amount()) - sum(self._refunded.values(), Amount())

    @property
    def held(self) -> Decimal:
        """Credits held for starts that are not charged yet."""
        return sum(self._held.values(), Amount())

    @property
    def left(self) -> Decimal:
        """Credits that may still be spent."""
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
    """Credits held for one start; leaving the block releases them unless they were charged.

    Its number is unique in the studio, and `unknown` is the name of an unknown charge.
    If the service refused the start, or it was never sent, nothing was charged. After any other
    error, such as a response that cannot be read, the charge is unknown, and the amount counts as
    spent, until the same `start` is repeated.
    """

    def __init__(self, budgets: Budgets, amount: Decimal, number: int, start: str = "") -> None:
        self.number, self.unknown = number, f"unknown {start or number}"
        self._budgets = budgets
        self._amount = amount
        self.sent = False

    def __enter__(self) -> Hold:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        refused = isinstance(error, (ApiError, NoAnswerError)) and not error.unsettled
        is_unsettled = self.sent and error is not None and not refused
        self._budgets.settle(self, self.unknown, self._amount if is_unsettled else Decimal(0))

    def mark_sent(self, sent: bool = True, start: str = "") -> None:
        """Record whether the start may have been executed, and its idempotency key."""
        self.sent, self.unknown = sent, f"unknown {start or self.number}"

    def charge(self, what: str, charged: Decimal | None) -> None:
        """Count a charge under the id of its result; None counts the held amount."""
        self._budgets.settle(self, what, self._amount if charged is None else charged)


class Budgets:
    """The open budgets of a studio; call it to create one.

    Examples
    --------
    >>> budget = Budgets()
    >>> with budget(credits=1) as mine:
    ...     with budget.hold(Decimal("0.4"), "a start") as held:
    ...         held.charge("gen_1", Decimal("0.4"))
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
        """Return a budget, to be opened with ``with``; nested budgets must all allow a start.

        `credits` limits the sum of all charges; `warn_at` is the share of it, 0 to 1, that causes a
        warning when it is spent. Where a service reports only prices of default settings, a start
        with others may cost more than was held; later ones are held at the learned price.
        """
        limit = parse_credits(credits, "a budget")
        with suppress(InvalidOperation):
            if 0 <= (share := Decimal(str(warn_at))) <= 1:
                return Budget(limit, share, self)
        raise ConfigError(f"warn_at is a share from 0 to 1, not {warn_at}")

    def __repr__(self) -> str:
        return f"<Budgets {len(self._open)} open>"

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def left(self) -> Decimal | None:
        """The least that is left in the open budgets; None if none is open."""
        with self._lock:
            return min((budget.left for budget in self._open), default=None)

    def check(self, amount: Decimal, what: str, start: str = "") -> None:
        """Check an amount against the open budgets that do not count the start, without holding it.

        Raises `BudgetError`, with the figures of the tightest budget, if it would exceed one.
        """
        with self._lock:
            others = [each for each in self._open if f"unknown {start}" not in each._charged]
            budget = min(others, key=lambda budget: budget.left, default=None)
            if budget is None or amount <= budget.left:
                return
            held = f", {_text(budget.held)} held for what is being started" if budget.held else ""
            raise BudgetError(
                f"{what} for {_text(amount)} credits would exceed the budget of "
                f"{_text(budget.limit)} credits: {_text(budget.spent)} spent{held}, "
                f"{_text(budget.left)} left; nothing was sent"
            )

    def hold(self, amount: Decimal, what: str, start: str = "") -> Hold:
        """Hold an amount in every open budget that does not count the start already.

        Raises `BudgetError` if it would exceed one.
        """
        with self._lock:
            self.check(amount, what, start)
            hold = Hold(self, amount, next(self._numbers), start)
            for budget in self._open:
                counted = hold.unknown in budget._charged
                budget._held[hold.number] = Decimal(0) if counted else amount
        return hold

    def settle(self, hold: Hold, what: str, charged: Decimal) -> None:
        """Replace a held amount by the charge, once."""
        with self._lock:
            for budget in self._open:
                if budget._held.pop(hold.number, None) is None:
                    continue
                if charged or not hold.sent:
                    budget._charged.pop(hold.unknown, None)
                if charged:
                    budget._charged[what] = charged
            sentences = [text for budget in self._open if (text := budget._warning())]
        for sentence in sentences:
            # without a file name: notebooks save output, and threads have no line of the user
            warnings.warn_explicit(sentence, BudgetWarning, "studio.budget", 1)

    def refund(self, what: str, credits: Decimal) -> None:
        """Count the refund of a charge made inside an open budget, once."""
        with self._lock:
            for budget in self._open:
                if what in budget._charged:
                    budget._refunded[what] = min(credits, budget._charged[what])


def _text(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
