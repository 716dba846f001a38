from __future__ import annotations

import threading
from contextlib import suppress
from decimal import Decimal

import pytest

from kit.errors import (
    ApiError,
    BudgetError,
    ConfigError,
    InternalError,
    KitError,
    NoAnswerError,
    NotFoundError,
    RateLimitError,
)
from kit.explore.budgets import Budgets, BudgetWarning


@pytest.fixture
def budget() -> Budgets:
    return Budgets()


def spend(budget: Budgets, amount: str, name: str = "gen") -> None:
    with budget.hold(Decimal(amount), "a start") as hold:
        hold.mark_sent()
        hold.charge(name, Decimal(amount))


def test_nested_budgets_must_both_allow_a_start(budget: Budgets) -> None:
    with budget(credits=2, warn_at=1) as outer, budget(credits=5) as inner:
        spend(budget, "1.5", "a")
        with pytest.raises(BudgetError, match=r"the budget of 2 credits: 1\.5 spent, 0\.5 left"):
            spend(budget, "1", "b")
        assert outer.spent == inner.spent == Decimal("1.5")
        assert budget.left == Decimal("0.5")
    assert budget.left is None


def test_a_closed_budget_stays_unchanged(budget: Budgets) -> None:
    with budget(credits=1) as closed:
        spend(budget, "0.5")
    spend(budget, "7")

    assert closed.spent == Decimal("0.5")
    assert repr(closed) == "<Budget 0.5 of 1 credits spent>"


def test_a_budget_can_be_opened_again_and_continues(budget: Budgets) -> None:
    mine = budget(credits=1)
    for _ in range(2):
        with mine:
            spend(budget, "0.25", str(threading.get_ident()) + str(_))

    assert mine.spent == Decimal("0.5")
    with mine, pytest.raises(ConfigError, match="open already"):
        mine.__enter__()


def test_the_price_of_a_start_in_progress_is_held(budget: Budgets) -> None:
    with budget(credits=1) as mine, budget.hold(Decimal("0.6"), "a start"):
        assert mine.held == Decimal("0.6")
        with pytest.raises(BudgetError, match=r"0\.6 held for what is being started, 0\.4 left"):
            budget.hold(Decimal("0.5"), "a start")


@pytest.mark.parametrize(("charged", "spent"), [(Decimal("0.7"), "0.7"), (None, "0.5")])
def test_the_receipts_charge_counts_or_else_the_quote(
    budget: Budgets, charged: Decimal | None, spent: str
) -> None:
    with budget(credits=1) as mine, budget.hold(Decimal("0.5"), "a start") as hold:
        hold.charge("gen", charged)
    assert mine.spent == Decimal(spent)


def mark_unsettled(error: KitError) -> KitError:
    error.unsettled = True
    return error


@pytest.mark.parametrize(
    ("error", "sent", "spent"),
    [
        (NotFoundError("no"), True, "0"),
        (mark_unsettled(ApiError("accepted, and no id")), True, "0.5"),
        (mark_unsettled(InternalError("oops")), True, "0.5"),
        (NoAnswerError("no connection"), True, "0"),
        (mark_unsettled(NoAnswerError("the connection broke")), True, "0.5"),
        (KitError("lost"), True, "0.5"),
        (KitError("lost"), False, "0"),
        (KeyboardInterrupt(), True, "0.5"),
    ],
)
def test_after_an_error_only_a_possible_charge_is_spent(
    budget: Budgets, error: BaseException, sent: bool, spent: str
) -> None:
    with budget(credits=1) as mine:
        hold = budget.hold(Decimal("0.5"), "a start")
        if sent:
            hold.mark_sent()
        with pytest.raises(type(error)), hold:
            raise error
        assert mine.spent == Decimal(spent)
        assert mine.held == 0


def test_a_repeated_start_is_counted_once(budget: Budgets) -> None:
    def start(error: BaseException | None, *, sent: bool = True) -> None:
        with suppress(KitError), budget.hold(Decimal("0.6"), "a start", "key") as hold:
            hold.mark_sent(sent, "key")
            if error:
                raise error
            hold.charge("gen", Decimal("0.7"))

    mine, lost = budget(credits=1), mark_unsettled(NoAnswerError("lost"))
    for error in (lost, lost, RateLimitError("busy")):  # the last one leaves the first in doubt
        with mine:
            start(error)
        assert mine.spent == Decimal("0.6")
    with mine:
        start(None)
    assert (mine.spent, mine.held) == (Decimal("0.7"), 0)

    with budget(credits=1) as another:
        start(lost)
        start(NotFoundError("it was never executed"), sent=False)
    assert (another.spent, another.held) == (0, 0)


def test_a_charge_counts_once_after_a_later_error(budget: Budgets) -> None:
    def fail() -> None:
        with budget.hold(Decimal("0.5"), "a start") as hold:
            hold.mark_sent()
            hold.charge("gen", Decimal("0.4"))
            raise KitError("the file was lost on its way")

    with budget(credits=1) as mine:
        with pytest.raises(KitError):
            fail()
        assert (mine.spent, mine.held) == (Decimal("0.4"), 0)


def test_possible_charges_add_up(budget: Budgets) -> None:
    def fail() -> None:
        with budget.hold(Decimal("0.5"), "a start") as hold:
            hold.mark_sent()
            raise KitError("lost")

    with budget(credits=9) as mine:
        for _ in range(10):
            with pytest.raises(KitError):
                fail()
        assert mine.spent == 5


def test_a_budget_warns_once_at_eighty_percent(budget: Budgets) -> None:
    with budget(credits=1):
        spend(budget, "0.79", "a")
        with pytest.warns(
            BudgetWarning, match=r"0.8 of 1 credits are spent \(80 %\), 0.2 are left"
        ):
            spend(budget, "0.01", "b")
        spend(budget, "0.1", "c")


def test_a_refund_increases_what_is_left(budget: Budgets) -> None:
    with budget(credits=1) as mine:
        spend(budget, "0.5", "a")
        for refunded in ("0.2", "0.2", "0.5", "0.7"):  # it is known again with each answer
            budget.refund("a", Decimal(refunded))
            assert mine.left == min(Decimal("0.5") + Decimal(refunded), 1)
        budget.refund("unknown", Decimal(3))
        assert mine.left == 1


@pytest.mark.parametrize("credits", [-1, float("nan"), float("inf")])
def test_an_invalid_budget_is_refused(budget: Budgets, credits: float) -> None:
    with pytest.raises(ConfigError, match="0 credits or more"):
        budget(credits=credits)


@pytest.mark.parametrize("share", [80, "four fifths", float("nan")])
def test_an_invalid_warning_share_is_refused(budget: Budgets, share: float | str) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        budget(credits=1, warn_at=share)
