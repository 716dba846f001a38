from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from kit.client.calls import NoReply, Outcome, Step
from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ApiError, BudgetError, GenerationFailedError, NoAnswerError
from kit.explore.budgets import BudgetWarning
from kit.studio import AsyncStudio, Studio
from kit.studio.catalog import ModelCatalog
from kit.studio.operations import Operations
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import Answer, Server, png
from tests.conftest import Service
from tests.studio.interrupted_clients import is_start

START = "/v1/creative-studio/generations"


def count_starts(api: Server) -> int:
    return len(api.requests("POST", START))


def test_a_start_that_would_exceed_a_budget_is_not_sent(studio: Studio, api: Server) -> None:
    with studio.budget(credits="0.3", warn_at=1) as budget:
        studio.generate("paint", "a")
        with pytest.raises(BudgetError) as caught:
            studio.start("paint", "b")

    assert str(caught.value) == (
        "a start of paint for 0.25 credits would exceed the budget of 0.3 credits: 0.25 spent, "
        "0.05 left; nothing was sent"
    )
    assert budget.spent == Decimal("0.25")
    assert count_starts(api) == 1


class ForgetfulClient(Client):
    """Loses the answer to its first start."""

    loses = True

    def perform(self, step: Step) -> Outcome:
        outcome = super().perform(step)
        if is_start(step) and self.loses:
            self.loses = False
            return NoReply("the connection broke")
        return outcome


@pytest.mark.parametrize("swept", [False, True])
def test_a_start_whose_answer_was_lost_is_repeated_in_the_same_budget(
    service: Service, key: str, tmp_path: Path, swept: bool
) -> None:
    settings = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(settings, client=ForgetfulClient(settings)) as studio:
        before, budget = studio.account.credits, studio.budget(credits=1, warn_at=1)
        sweep = studio.sweep("flat", "x")
        with budget:
            if swept:
                sweep.run()
            else:
                with pytest.raises(NoAnswerError, match="may have been carried out"):
                    studio.generate("flat", "x")
        assert budget.spent == Decimal("0.6")

        with budget:
            states = (
                sweep.run().frame()["status"] if swept else [studio.generate("flat", "x").status]
            )

        assert [*states] == ["completed"]
        assert before is not None
        assert studio.account.credits == before - budget.spent == before - Decimal("0.6")


def test_several_starts_of_one_request_are_sent_all_or_none(studio: Studio, api: Server) -> None:
    with studio.budget(credits="0.6", warn_at=1) as budget:
        with pytest.raises(BudgetError, match=r"3 starts of paint for 0\.75 .* nothing was sent"):
            studio.generate("paint", "a", n=3)
        assert count_starts(api) == 0
        assert len(studio.generate("paint", "a", n=2)) == 2

    assert budget.spent == Decimal("0.5")


def test_a_reused_generation_costs_no_budget(studio: Studio) -> None:
    studio.generate("paint", "a")

    with studio.budget(credits=0):
        assert studio.generate("paint", "a").status == "completed"


def test_concurrent_threads_never_exceed_a_budget(studio: Studio, api: Server) -> None:
    def start(number: int) -> bool:
        try:
            studio.start("paint", f"lake {number}")
        except BudgetError:
            return False
        return True

    with studio.budget(credits="1.1", warn_at=1) as budget, ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(start, range(16)))

    assert sum(sent) == count_starts(api) == 4
    assert budget.spent == 1


def test_a_budget_warns_once_when_it_is_nearly_spent(studio: Studio) -> None:
    with studio.budget(credits=1):
        for number in range(3):
            studio.start("paint", str(number))
        with pytest.warns(BudgetWarning, match=r"1 of 1 credits are spent \(100 %\), 0 are left"):
            studio.start("paint", "last")


def test_a_refused_start_gives_its_amount_back_to_the_budget(studio: Studio, api: Server) -> None:
    api.script("POST", START, third_party.problem(400, "validation_error", "no lakes"))
    with studio.budget(credits="0.25", warn_at=1) as budget:
        with pytest.raises(Exception, match="no lakes"):
            studio.start("paint", "a")
        assert budget.left == Decimal("0.25")


def test_a_start_that_may_have_been_charged_counts_as_spent(studio: Studio, api: Server) -> None:
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
def test_an_unclear_answer_counts_as_spent(studio: Studio, api: Server, answer: Answer) -> None:
    api.script("POST", START, *[answer] * 9)
    api.script("POST", "/v1/scripts/title", *[answer] * 9)
    with studio.budget(credits=1) as budget:
        with pytest.raises(ApiError, match="it may have been carried out: look in the history"):
            studio.start("paint", "a")
        assert budget.spent == Decimal("0.25")
        with pytest.raises(ApiError, match="it may have been carried out and charged"):
            studio.titles.suggest("SPACE", again=True)
        assert budget.spent == Decimal("0.30")
    assert count_starts(api) == 1


def test_an_unreachable_service_counts_nothing_as_spent(
    studio: Studio, clock: Clock, policy: Policy
) -> None:
    away = replace(studio.client.settings, base_url="http://127.0.0.1:1")
    catalog = ModelCatalog(policy, dict(studio.models))
    operations = Operations(away, policy=policy, catalog=catalog)
    with Studio(away, client=Client(away, sleep=clock.sleep), operations=operations) as studio:
        with studio.budget(credits=1) as budget, pytest.raises(NoAnswerError) as caught:
            studio.start("paint", "a")
        assert budget.spent == 0
    assert "no connection" in str(caught.value)
    assert "carried out" not in str(caught.value)


def test_repeated_titles_add_up_in_a_budget(studio: Studio) -> None:
    with studio.budget(credits=1, warn_at=1) as budget:
        for _ in range(10):
            studio.titles.suggest("SPACE", again=True)
        assert budget.spent == Decimal("0.5")


def test_a_row_that_may_have_been_charged_is_not_retried(studio: Studio, api: Server) -> None:
    api.script("POST", START, *[Answer(504, b"<html>too late</html>")] * 9)
    rows = [{"prompt": "a"}, {"prompt": "b"}]

    with studio.budget(credits=1) as budget:
        made = studio.generate_many(rows, model="paint", at_once=1)

    assert count_starts(api) == 2
    assert made.frame()["error"].str.contains("may have been carried out").all()
    assert budget.spent == Decimal("0.5")


def test_a_refunded_charge_can_be_spent_again(studio: Studio, api: Server) -> None:
    failed = {"id": "job-1", "status": "failed", "error": "dark", "creditsRefunded": 0.25}
    api.script("GET", f"{START}/job-1", Answer(200, failed))

    with studio.budget(credits="0.3", warn_at=1) as budget:
        with pytest.raises(GenerationFailedError):
            studio.generate("paint", "a")
        assert budget.spent == 0
        studio.generate("paint", "b")

    assert budget.spent == Decimal("0.25")


def test_a_model_without_a_price_is_refused_inside_a_budget(studio: Studio, api: Server) -> None:
    with studio.budget(credits=100), pytest.raises(BudgetError, match="does not say what"):
        studio.start("retouch", media=png())

    assert count_starts(api) == 0


def test_titles_and_scripts_count_in_a_budget(studio: Studio, api: Server) -> None:
    with studio.budget(credits="0.2", warn_at=1) as budget:
        studio.titles.suggest("SPACE")
        with pytest.warns(BudgetWarning):
            studio.scripts.write("SPACE", "T")
        assert budget.spent == Decimal("0.2")
        with pytest.raises(BudgetError, match=r"2 scripts for 0\.3 credits"):
            studio.scripts.write("SPACE", "T", variations=2)

    assert len(api.requests("POST", "/v1/scripts")) == 2


def test_a_budget_works_in_the_async_face(astudio: AsyncStudio, api: Server) -> None:
    async def cell() -> None:
        async with astudio.budget(credits="0.3", warn_at=1):
            await astudio.generate("paint", "a")
            with pytest.raises(BudgetError):
                await astudio.start("paint", "b")
        await astudio.close()

    asyncio.run(cell())
    assert count_starts(api) == 1
