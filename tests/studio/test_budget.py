from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest

from kit.client.flows import Policy
from kit.client.sync import Client
from kit.errors import ApiError, BudgetError, GenerationFailedError, NoAnswerError
from kit.explore.budgets import BudgetWarning
from kit.studio import AsyncStudio, Studio
from kit.studio.catalog import ModelCatalog
from kit.studio.operations import Operations
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import Answer, Server, ThirdParty, png

START = "/v1/creative-studio/generations"


def starts(api: Server) -> int:
    return len(api.requests("POST", START))


def test_a_start_that_would_pass_a_budget_is_never_sent(studio: Studio, api: Server) -> None:
    with studio.budget(credits="0.3", warn_at=1) as budget:
        studio.generate("paint", "a")
        with pytest.raises(BudgetError) as caught:
            studio.start("paint", "b")

    assert str(caught.value) == (
        "a start of paint for 0.25 credits would exceed the budget of 0.3 credits: 0.25 spent, "
        "0.05 left; nothing was sent"
    )
    assert budget.spent == Decimal("0.25")
    assert starts(api) == 1


def test_several_of_one_request_are_sent_together_or_not_at_all(
    studio: Studio, api: Server
) -> None:
    with studio.budget(credits="0.6", warn_at=1) as budget:
        with pytest.raises(BudgetError, match=r"3 starts of paint for 0\.75 .* nothing was sent"):
            studio.generate("paint", "a", n=3)
        assert starts(api) == 0
        assert len(studio.generate("paint", "a", n=2)) == 2

    assert budget.spent == Decimal("0.5")


def test_what_was_made_before_costs_no_budget(studio: Studio) -> None:
    studio.generate("paint", "a")

    with studio.budget(credits=0):
        assert studio.generate("paint", "a").status == "completed"


def test_racing_threads_never_pass_a_budget(studio: Studio, api: Server) -> None:
    def start(number: int) -> bool:
        try:
            studio.start("paint", f"lake {number}")
        except BudgetError:
            return False
        return True

    with studio.budget(credits="1.1", warn_at=1) as budget, ThreadPoolExecutor(8) as pool:
        went = list(pool.map(start, range(16)))

    assert sum(went) == starts(api) == 4
    assert budget.spent == 1


def test_a_budget_warns_once_when_it_is_nearly_spent(studio: Studio) -> None:
    with studio.budget(credits=1):
        for number in range(3):
            studio.start("paint", str(number))
        with pytest.warns(BudgetWarning, match=r"1 of 1 credits are spent \(100 %\), 0 are left"):
            studio.start("paint", "last")


def test_a_refusal_of_the_service_gives_the_amount_back(studio: Studio, api: Server) -> None:
    api.script("POST", START, third_party.problem(400, "validation_error", "no lakes"))
    with studio.budget(credits="0.25", warn_at=1) as budget:
        with pytest.raises(Exception, match="no lakes"):
            studio.start("paint", "a")
        assert budget.left == Decimal("0.25")


def test_what_may_have_been_charged_counts_as_spent(studio: Studio, api: Server) -> None:
    api.script("POST", START, *[Answer(drop=True)] * 5)
    with studio.budget(credits=1) as budget:
        with pytest.raises(Exception, match="may have been carried out"):
            studio.start("paint", "a")
        assert budget.spent == Decimal("0.25")


UNREADABLE = [
    Answer(200, {"status": "accepted"}),
    Answer(202, b"thank you"),
    Answer(500, {"error": {"code": "internal_error", "message": "oops"}}),
    Answer(502, b"<html>bad gateway</html>"),
    Answer(503, b"<html>no backend</html>"),
]


@pytest.mark.parametrize("answer", UNREADABLE, ids=lambda a: f"{a.status}-{a.body!r:.20}")
def test_an_answer_that_is_no_refusal_counts_as_spent(
    studio: Studio, api: Server, answer: Answer
) -> None:
    api.script("POST", START, *[answer] * 9)
    api.script("POST", "/v1/scripts/title", *[answer] * 9)
    with studio.budget(credits=1) as budget:
        with pytest.raises(ApiError, match="it may have been carried out: look in the history"):
            studio.start("paint", "a")
        assert budget.spent == Decimal("0.25")
        with pytest.raises(ApiError, match="it may have been carried out and charged"):
            studio.titles.suggest("SPACE", again=True)
        assert budget.spent == Decimal("0.30")
    assert starts(api) == 1


def test_a_service_that_is_not_there_has_charged_nothing(
    studio: Studio, clock: Clock, policy: Policy
) -> None:
    gone = replace(studio.client.settings, base_url="http://127.0.0.1:1")
    catalog = ModelCatalog(policy, dict(studio.models))
    operations = Operations(gone, policy=policy, catalog=catalog)
    with Studio(gone, client=Client(gone, sleep=clock.sleep), operations=operations) as lonely:
        with lonely.budget(credits=1) as budget, pytest.raises(NoAnswerError) as caught:
            lonely.start("paint", "a")
        assert budget.spent == 0
    assert "no connection" in str(caught.value)
    assert "carried out" not in str(caught.value)


def test_titles_one_after_another_add_up(studio: Studio) -> None:
    with studio.budget(credits=1, warn_at=1) as budget:
        for _ in range(10):
            studio.titles.suggest("SPACE", again=True)
        assert budget.spent == Decimal("0.5")


def test_a_row_that_may_have_been_charged_is_not_sent_again(studio: Studio, api: Server) -> None:
    api.script("POST", START, *[Answer(504, b"<html>too late</html>")] * 9)
    rows = [{"prompt": "a"}, {"prompt": "b"}]

    with studio.budget(credits=1) as budget:
        made = studio.generate_many(rows, model="paint", at_once=1)

    assert starts(api) == 2
    assert made.frame()["error"].str.contains("may have been carried out").all()
    assert budget.spent == Decimal("0.5")


def test_what_came_back_can_be_spent_again(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    failed = {"id": "job-1", "status": "failed", "error": "dark", "creditsRefunded": 0.25}
    api.script("GET", f"{START}/job-1", Answer(200, failed))
    with studio.budget(credits=1) as budget, pytest.raises(GenerationFailedError):
        studio.generate("paint", "a")

    with studio.budget(credits=1) as budget:
        api.script("GET", f"{START}/job-2", Answer(200, {**failed, "id": "job-2"}))
        with pytest.raises(GenerationFailedError):
            studio.generate("paint", "a", again=True)
        assert budget.spent == 0


def test_an_unknown_price_is_not_started_inside_a_budget(studio: Studio, api: Server) -> None:
    with studio.budget(credits=100), pytest.raises(BudgetError, match="does not say what"):
        studio.start("retouch", media=png())

    assert starts(api) == 0


def test_titles_and_scripts_count(studio: Studio, api: Server) -> None:
    with studio.budget(credits="0.2", warn_at=1) as budget:
        studio.titles.suggest("SPACE")
        with pytest.warns(BudgetWarning):
            studio.scripts.write("SPACE", "T")
        assert budget.spent == Decimal("0.2")
        with pytest.raises(BudgetError, match=r"2 scripts for 0\.3 credits"):
            studio.scripts.write("SPACE", "T", variations=2)

    assert len(api.requests("POST", "/v1/scripts")) == 2


def test_a_budget_is_open_in_the_awaited_face_too(astudio: AsyncStudio, api: Server) -> None:
    async def cell() -> None:
        async with astudio.budget(credits="0.3", warn_at=1):
            await astudio.generate("paint", "a")
            with pytest.raises(BudgetError):
                await astudio.start("paint", "b")
        await astudio.close()

    asyncio.run(cell())
    assert starts(api) == 1
