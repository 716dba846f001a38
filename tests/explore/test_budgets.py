from __future__ import annotations

import threading
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


def test_a_closed_budget_counts_no_more(budget: Budgets) -> None:
    with budget(credits=1) as closed:
        spend(budget, "0.5")
    spend(budget, "7")

    assert closed.spent == Decimal("0.5")
    assert repr(closed) == "<Budget 0.5 of 1 credits spent>"


def test_a_budget_can_be_opened_again_and_goes_on(budget: Budgets) -> None:
    mine = budget(credits=1)
    for _ in range(2):
        with mine:
            spend(budget, "0.25", str(threading.get_ident()) + str(_))

    assert mine.spent == Decimal("0.5")
    with mine, pytest.raises(ConfigError, match="open already"):
        mine.__enter__()


def test_what_is_being_started_is_held_back(budget: Budgets) -> None:
    with budget(credits=1) as mine, budget.hold(Decimal("0.6"), "a start"):
        assert mine.held == Decimal("0.6")
        with pytest.raises(BudgetError, match=r"0\.6 held for what is being started, 0\.4 left"):
            budget.hold(Decimal("0.5"), "a start")


@pytest.mark.parametrize(("charged", "spent"), [(Decimal("0.7"), "0.7"), (None, "0.5")])
def test_the_receipt_counts_or_the_quote_where_it_does_not_say(
    budget: Budgets, charged: Decimal | None, spent: str
) -> None:
    with budget(credits=1) as mine, budget.hold(Decimal("0.5"), "a start") as hold:
        hold.charge("gen", charged)
    assert mine.spent == Decimal(spent)


def unsettled(error: KitError) -> KitError:
    error.unsettled = True
    return error


@pytest.mark.parametrize(
    ("error", "sent", "spent"),
    [
        (NotFoundError("no"), True, "0"),
        (unsettled(ApiError("accepted, and no id")), True, "0.5"),
        (unsettled(InternalError("oops")), True, "0.5"),
        (NoAnswerError("no connection"), True, "0"),
        (unsettled(NoAnswerError("the connection broke")), True, "0.5"),
        (KitError("lost"), True, "0.5"),
        (KitError("lost"), False, "0"),
        (KeyboardInterrupt(), True, "0.5"),
    ],
)
def test_after_an_error_only_what_may_be_charged_is_spent(
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


def test_what_was_paid_is_spent_once_whatever_happens_afterwards(budget: Budgets) -> None:
    def lose() -> None:
        with budget.hold(Decimal("0.5"), "a start") as hold:
            hold.mark_sent()
            hold.charge("gen", Decimal("0.4"))
            raise KitError("the file was lost on its way")

    with budget(credits=1) as mine:
        with pytest.raises(KitError):
            lose()
        assert (mine.spent, mine.held) == (Decimal("0.4"), 0)


def test_doubts_add_up(budget: Budgets) -> None:
    def lose() -> None:
        with budget.hold(Decimal("0.5"), "a start") as hold:
            hold.mark_sent()
            raise KitError("lost")

    with budget(credits=9) as mine:
        for _ in range(10):
            with pytest.raises(KitError):
                lose()
        assert mine.spent == 5


def test_a_warning_comes_once_at_eighty_percent(budget: Budgets) -> None:
    with budget(credits=1):
        spend(budget, "0.79", "a")
        with pytest.warns(
            BudgetWarning, match=r"0.8 of 1 credits are spent \(80 %\), 0.2 are left"
        ):
            spend(budget, "0.01", "b")
        spend(budget, "0.1", "c")


def test_a_refund_makes_room(budget: Budgets) -> None:
    with budget(credits=1) as mine:
        spend(budget, "0.5", "a")
        budget.refund("a", Decimal("0.5"))
        budget.refund("a", Decimal("0.5"))
        budget.refund("unknown", Decimal(3))
        assert mine.left == 1


@pytest.mark.parametrize("credits", [-1, float("nan"), float("inf")])
def test_a_budget_is_an_amount(budget: Budgets, credits: float) -> None:
    with pytest.raises(ConfigError, match="0 credits or more"):
        budget(credits=credits)


@pytest.mark.parametrize("share", [80, "four fifths", float("nan")])
def test_a_share_is_a_share(budget: Budgets, share: float | str) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        budget(credits=1, warn_at=share)
