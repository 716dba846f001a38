from __future__ import annotations

import asyncio
import io
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import kit
from kit import local
from kit.client.calls import Call, Flow, Reply, SendRequest, Sleep
from kit.client.flows import find_error
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import BudgetError, ConfigError, InsufficientCreditsError, ParameterError, own_lines
from kit.explore.sweeps.templates import template
from kit.studio import AsyncStudio, Studio
from kit.studio.operations import Operations
from kit.studio.sweeps import CellResult, describe_progress
from kit.studio.sweeps.runner import SweepRun
from kit.wire import Generation
from tests.client import third_party
from tests.client.third_party import Answer, Server, ThirdParty, png
from tests.conftest import Service
from tests.studio.progress_lines import ShownLine
from tests.waiting import until

START = "/v1/creative-studio/generations"
MODELS = "/v1/creative-studio/models"
#: The note on prices of the third-party service, which has no rules and no estimates.
GUESS = "estimated, with the model's defaults"


def list_starts(api: Server) -> list[Any]:
    return [seen.json for seen in api.requests("POST", START)]


def list_keys(api: Server) -> list[str]:
    return [seen.headers["idempotency-key"] for seen in api.requests("POST", START)]


def restart(settings: Settings, client: Client) -> Studio:
    """Return a studio of the same account in a new kernel."""
    return Studio(settings, client=client, operations=Operations(settings))


def test_a_sweep_is_priced_before_anything_is_sent(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("paint", ["a", "b"], style=["oil", "ink"])

    assert repr(sweep) == f"<Sweep paint × 4: 4 requests, about 1 credit ({GUESS})>"
    assert sweep.quote.total == Decimal(1)
    assert sweep.frame()["price"].tolist() == [0.25] * 4
    assert list_starts(api) == []


def test_a_run_generates_every_combination(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("paint", ["a", "b"], style=["oil", "ink"], steps=3).run()

    frame = sweep.frame()
    assert frame["status"].tolist() == ["completed"] * 4
    assert frame["net"].tolist() == [0.25] * 4
    assert frame[["prompt", "parameters.style"]].to_numpy().tolist() == [
        ["a", "oil"],
        ["a", "ink"],
        ["b", "oil"],
        ["b", "ink"],
    ]
    assert len(list_starts(api)) == 4
    assert {s["parameters"]["steps"] for s in list_starts(api)} == {3}
    assert [g.prompt for g in sweep.generations] == ["a", "a", "b", "b"]


def test_all_invalid_requests_are_named_and_none_is_sent(studio: Studio, api: Server) -> None:
    with pytest.raises(ParameterError) as caught:
        studio.sweep("paint", "a", steps=[1, 99, 20, 77])

    text = str(caught.value)
    assert text.startswith("2 of 4 requests are invalid; nothing was sent")
    assert "request 1: parameters.steps: must be at most 50, not 99" in text
    assert "request 3: parameters.steps: must be at most 50, not 77" in text
    assert list_starts(api) == []


def test_the_service_validates_one_of_the_requests_that_differ_only_in_the_seed(
    own: Studio, service: Service
) -> None:
    own.sweep("poster", ["a lake", "a hill"], seed=range(20))
    with pytest.raises(ParameterError, match="20 of 20 requests are invalid"):
        own.sweep("poster", "xyzzy", seed=range(20))

    with service.client(None) as http:
        lines = http.get("/metrics").text.splitlines()
    asked = [line for line in lines if "requests_total{" in line and "/estimates" in line]
    assert sum(float(line.split()[-1]) for line in asked) == 3


def test_running_again_pays_nothing(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("paint", ["a", "b"]).run()
    sweep.run()

    assert len(list_starts(api)) == 2
    assert sweep.credits == 0


def test_a_new_kernel_finds_paid_generations(
    studio: Studio, settings: Settings, client: Client, api: Server
) -> None:
    studio.sweep("paint", ["a", "b"]).run()

    later = restart(settings, client).sweep("paint", ["a", "b", "c"])
    assert repr(later) == (
        "<Sweep paint × 3: 3 requests, 2 made before, about 0.25 credits "
        "(estimated from earlier receipts)>"
    )
    assert later.run().frame()["status"].tolist() == ["completed"] * 3
    assert len(list_starts(api)) == 3


def test_a_start_with_a_lost_receipt_is_repeated_with_its_key(
    studio: Studio, settings: Settings, client: Client, api: Server
) -> None:
    studio.sweep("paint", ["a", "b"]).run()
    for path in (settings.data / "notebook" / "journal").iterdir():
        path.unlink()

    restart(settings, client).sweep("paint", ["a", "b"]).run()

    assert len(list_keys(api)) == 4
    assert len(set(list_keys(api))) == 2


def test_failed_cells_are_kept_and_generated_again(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    backend.states, backend.error = ("queued", "error"), "too dark"
    sweep = studio.sweep("paint", ["a", "b"]).run()

    assert sweep.frame()["status"].tolist() == ["failed", "failed"]
    assert "too dark" in sweep.frame()["error"][0]
    backend.states, backend.error = ("queued", "done"), None
    assert sweep.run().frame()["status"].tolist() == ["completed", "completed"]
    assert len(set(list_keys(api))) == 4


def test_one_failure_does_not_stop_the_others(studio: Studio, api: Server) -> None:
    api.script("POST", START, third_party.problem(400, "validation_error", "no lakes"))

    frame = studio.sweep("paint", ["a", "b", "c"]).run(at_once=1).frame()

    assert frame["status"].tolist() == ["refused", "completed", "completed"]
    assert frame["error"][0] == "no lakes"


def test_an_empty_balance_ends_the_run_and_run_continues_it(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("paint", ["a", "b", "c"])
    refusal = third_party.problem(402, "insufficient_credits", "1 required, 0 available")
    api.script("POST", START, refusal)

    with pytest.raises(InsufficientCreditsError, match="1 required") as caught:
        sweep.run(at_once=1)

    assert "running it again continues" in caught.value.__notes__[0]
    assert sweep.frame()["status"].tolist() == ["refused", "planned", "planned"]
    assert sweep.run().frame()["status"].tolist() == ["completed"] * 3


def test_a_busy_service_is_waited_for(studio: Studio, api: Server, clock: Any) -> None:
    busy = third_party.problem(429, "rate_limited", "slow down", **{"Retry-After": "30"})
    api.script("POST", START, *[busy] * 5)

    frame = studio.sweep("paint", ["a", "b"]).run(at_once=1).frame()

    assert frame["status"].tolist() == ["completed", "completed"]
    assert sum(clock.slept) >= 30
    assert len(set(list_keys(api))) == 2


def test_a_service_that_is_busy_after_a_start_is_not_paid_twice(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    busy = third_party.problem(503, "unavailable", "later")
    for number in range(1, 4):
        api.script("GET", f"{START}/job-{number}", *[busy] * 6)
    api.script("GET", START, *[busy] * 6)

    frame = studio.sweep("paint", ["a", "b"]).run(at_once=1).frame()

    assert frame["status"].tolist() == ["completed", "completed"]
    assert len(list_starts(api)) == len(backend.orders) == 2


def test_the_run_after_an_interrupt_pays_nothing_twice(studio: Studio, backend: ThirdParty) -> None:
    backend.polls = 10**9
    sweep = studio.sweep("paint", [str(n) for n in range(9)]).run(background=True)
    while not backend.orders:
        threading.Event().wait(0.01)
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        sweep.wait()

    assert "at no extra cost" in caught.value.__notes__[0]
    assert len(backend.orders) <= 4
    backend.polls = 0
    frame = sweep.run().frame()
    assert frame["status"].tolist() == ["completed"] * 9, frame["error"].tolist()
    assert len(backend.orders) == 9


def test_an_interrupt_while_rows_are_planned_notes_that_nothing_was_started(
    settings: Settings, api: Server, backend: ThirdParty
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    api.script("GET", MODELS, third_party.problem(503, "unavailable", "no"))
    with (
        Studio(settings, client=Client(settings, sleep=interrupt)) as studio,
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        studio.generate_many([{"prompt": "a lake"}], model="paint")

    assert own_lines(caught.value)[-1].endswith("nothing was started or charged")
    assert not backend.orders


def test_a_run_in_the_background_is_joined_by_the_next_run(
    studio: Studio, backend: ThirdParty
) -> None:
    backend.polls = 50
    sweep = studio.sweep("paint", ["a", "b", "c"]).run(background=True)

    assert sweep.run().frame()["status"].tolist() == ["completed"] * 3
    assert len(backend.orders) == 3


def test_all_workers_pause_when_one_is_asked_to_wait() -> None:
    now, sent = [0.0], list[tuple[int, float]]()
    busy = Reply(429, {"retry-after": "30"}, b"{}")

    class Client:
        """Answers the first request that the service is busy."""

        def block(self, flow: Flow[Any]) -> Any:
            answer: Any = None
            try:
                while True:
                    step = flow.send(answer)
                    answer = None
                    if isinstance(step, Sleep):
                        now[0] += step.seconds
                    else:
                        sent.append((int(step.call.path), now[0]))
                        answer = Reply(200) if len(sent) > 1 else busy
            except StopIteration as end:
                return end.value

    def work(number: int) -> Flow[None]:
        reply = yield SendRequest(Call("GET", str(number), None), {})
        if error := find_error(reply):
            raise error

    failed: list[int] = []
    tasks = deque([0, 1, 2])
    run = SweepRun(Client(), work, lambda n, _: failed.append(n), tasks, lambda: now[0])
    run.begin(1)
    assert run.join(30)
    assert ([number for number, _ in sent], failed) == ([0, 0, 1, 2], [])
    assert all(moment >= 30 for _, moment in sent[1:])


def test_a_run_reports_requests_without_results(
    studio: Studio, api: Server, caplog: pytest.LogCaptureFixture
) -> None:
    refused = third_party.problem(400, "validation_error", "no ink today")
    api.script("POST", START, refused)
    sweep = studio.sweep("paint", ["a", "b"]).run(at_once=1)

    assert sweep.frame()["status"].tolist() == ["refused", "completed"]
    assert "1 of 2 requests have no result; request 0: no ink today" in caplog.text


def test_the_outcome_of_a_start_without_an_answer_is_unknown(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("paint", ["a", "b"])
    api.script("POST", START, Answer(drop=True))
    unavailable = third_party.problem(500, "internal_error", "no list today")
    with studio.budget(credits=1) as budget:
        sweep.run(at_once=1)
        api.script("GET", START, *[unavailable] * 20)
        frame = sweep.run(at_once=1).frame()

    assert frame["status"].tolist() == ["unknown", "completed"]
    assert frame["net"].isna().tolist() == [True, False]
    words = "1 unknown, 1 completed, 0.25 credits possibly charged for what is unknown"
    assert repr(sweep) == f"<Sweep paint × 2: {words}>"
    assert repr(sweep.sheet()) == f"<Sheet 1 × 2: paint × 2: {words}, 0.25 credits>"
    assert "#0 · unknown" in sweep.sheet().html()
    assert budget.spent == Decimal("0.5")
    assert len(list_starts(api)) == 2


def test_a_failed_request_whose_next_start_has_no_answer_is_unknown(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    backend.states, backend.error = ("queued", "error"), "too dark"
    sweep = studio.sweep("paint", "a").run()
    api.script("POST", START, Answer(drop=True))

    assert sweep.run().frame()["status"].tolist() == ["unknown"]


def test_a_sweep_is_a_sequence_of_its_generations(studio: Studio) -> None:
    sweep = studio.sweep("paint", ["a", "b", "c"])
    assert list(sweep) == [None, None, None]

    sweep.run()

    assert [g.prompt for g in sweep if g is not None] == ["a", "b", "c"]
    assert sweep[0] == sweep[-3] == sweep.generations[0]
    assert [g.prompt for g in sweep[1:] if g is not None] == ["b", "c"]
    with pytest.raises(IndexError, match="there is no request 3; there are 3, from 0 on") as caught:
        sweep[3]
    assert len(caught.value._render_traceback_()) == 3  # type: ignore[attr-defined]


def test_at_once_limits_concurrent_starts(studio: Studio, api: Server, backend: ThirdParty) -> None:
    barrier = threading.Barrier(3)  # no start is answered before three have arrived
    lock, running, most = threading.Lock(), [0], [0]

    def count_concurrent(request: third_party.Request) -> Answer:
        if (request.method, request.path) != ("POST", START):
            return backend(request)
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        barrier.wait(30)
        threading.Event().wait(0.05)  # enough time for a fourth start
        with lock:
            running[0] -= 1
            return backend(request)

    api.app = count_concurrent
    sweep = studio.sweep("paint", [str(n) for n in range(12)])
    with pytest.raises(ParameterError, match="at_once must be a whole number from 1 to 32, not 0"):
        sweep.run(at_once=0)
    frame = sweep.run(at_once=3).frame()

    assert most == [3]
    assert frame["status"].tolist() == ["completed"] * 12


def test_a_full_budget_refuses_the_sweep_as_a_whole(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("paint", ["a", "b", "c"])

    with studio.budget(credits="0.5"), pytest.raises(BudgetError, match=r"0\.75 credits would"):
        sweep.run()

    assert list_starts(api) == []


def test_a_sweep_without_a_price_needs_unpriced(studio: Studio, api: Server) -> None:
    sweep = studio.sweep("retouch", picture=io.BytesIO(png()), hints=[png(), png("blue")])

    assert len(sweep) == 1
    assert sweep.credits is None
    assert "price unknown" in repr(sweep)
    assert ".run(unpriced=True)</code> makes them" in sweep._repr_html_()
    with pytest.raises(ConfigError, match="unpriced=True runs them"):
        sweep.run()
    assert sweep.run(unpriced=True).frame()["status"].tolist() == ["completed"]


def test_files_of_a_repeated_start_are_uploaded_once(
    studio: Studio, settings: Settings, client: Client, api: Server, media: Server
) -> None:
    api.script("POST", START, *[Answer(drop=True)] * 5)
    sweep = studio.sweep("retouch", media=png()).run(unpriced=True)
    assert sweep.frame()["status"].tolist() == ["unknown"]

    restart(settings, client).sweep("retouch", media=png()).run(unpriced=True)

    assert len(media.requests("PUT")) == 1
    assert len(set(list_keys(api))) == 1


def test_a_canceled_sweep_starts_nothing_more(studio: Studio, backend: ThirdParty) -> None:
    backend.polls = 10**9
    sweep = studio.sweep("paint", [str(n) for n in range(50)]).run(at_once=2, background=True)
    while not len(backend.orders):
        pass
    sweep.cancel()
    until(lambda: not [t for t in threading.enumerate() if t.name.startswith("kit-sweep")])
    started = len(backend.orders)
    assert started <= 4
    backend.polls = 0
    assert sweep.run().frame()["status"].tolist() == ["completed"] * 50
    assert len(backend.orders) == 50


def test_a_run_in_the_background_can_be_waited_for(studio: Studio) -> None:
    sweep = studio.sweep("paint", ["a", "b"])
    with pytest.raises(ConfigError, match="is not running"):
        sweep.wait()

    assert sweep.run(background=True).wait().frame()["status"].tolist() == ["completed"] * 2


def test_equal_requests_of_one_sweep_are_different_starts(studio: Studio, api: Server) -> None:
    studio.sweep("paint", ["a", "a"]).run()

    assert len(set(list_keys(api))) == 2


@pytest.mark.parametrize(("take", "paid"), [(False, 1), ("second", 2), (True, 2)])
def test_a_new_take_is_generated_again(studio: Studio, api: Server, take: Any, paid: int) -> None:
    studio.generate("paint", "a")
    studio.sweep("paint", "a", again=take).run()

    assert len(list_starts(api)) == paid


def test_a_sweep_of_another_account_on_the_computer_is_not_made_before(
    own: Studio, service: Service, account: str, caplog: pytest.LogCaptureFixture
) -> None:
    given: Any = {"prompt": ["a lake", "a fox"], "count": [1, 2]}
    own.sweep("flat", **given).run()
    keys = [service.key(who, "creative:generate") for who in (service.account(), account)]
    theirs, rotated = (replace(own.client.settings, api_key=key) for key in keys)

    with Studio(theirs) as other:
        sweep = other.sweep("flat", **given)
        assert sweep.credits == Decimal("2.6")
        assert sweep.run().frame()["charged"].sum().round(3) == 2.6
        assert caplog.text.count("its earlier result is of another account") == 1
        assert other.sweep("flat", **given).credits == 0
    with Studio(rotated) as later:
        assert later.sweep("flat", **given).credits == 0
    assert own.sweep("flat", **given).credits == 0
    assert own.account.credits == Decimal("97.4")


def test_a_named_take_is_reused(studio: Studio, api: Server) -> None:
    for _ in range(2):
        studio.sweep("paint", "a", again="second").run()

    assert len(list_starts(api)) == 1


def test_the_sheet_shows_every_result_with_its_cost(studio: Studio) -> None:
    sweep = studio.sweep("paint", ["a <lake>", "b"], style=["oil", "ink"]).run()
    html = sweep.sheet().html()

    assert html.count("<img") == 4
    assert html.count("0.25 credits") == 4
    assert "a &lt;lake&gt;" in html
    assert "style oil" in html
    assert "sig=" not in html


def test_ratings_are_marked_in_the_sheet_and_joined_to_frames(studio: Studio) -> None:
    sweep = studio.sweep("paint", ["a", "b", "c"]).run()
    best = sweep.best(1)
    sweep.rate(2, 3)

    assert [g.prompt for g in best] == ["b"]
    assert sweep.frame()["rating"].tolist() == [pd.NA, 5, 3]
    assert "★" in sweep.sheet().html()
    made = sweep.frame().set_index("generation_id")[["prompt"]]
    assert made.join(studio.ratings.frame())["rating"].tolist() == [pd.NA, 5, 3]


def test_the_sheet_shows_the_cell_numbers_for_ratings(studio: Studio) -> None:
    sweep = studio.sweep("paint", ["a", "b"])
    assert "#1 · planned" in sweep.sheet().html()
    assert sweep.sheet().title == f"paint × 2: 2 requests, about 0.5 credits ({GUESS})"

    sweep.run().best(1)
    captions = [tile.caption for tile in sweep.sheet().tiles.values()]
    assert captions == ["#0 · 0.25 credits", "#1 · 0.25 credits"]


def test_the_sheet_shows_what_was_refunded(own: Studio) -> None:
    sheet = own.sweep("flat", "x", does=["works", "fails"]).run().sheet()

    captions = [tile.caption for tile in sheet.tiles.values()]
    assert captions == ["#0 · 0.6 credits", "#1 · failed · 0.6 credits · 0.6 refunded"]
    assert sheet.title.endswith("1 completed, 1 failed, 0.6 credits refunded, 0.6 credits")


def test_the_price_of_a_sweep_is_as_exact_as_its_least_exact_cell(studio: Studio) -> None:
    sweep = studio.sweep("paint", ["a", "b"])

    assert (sweep.quote.source, sweep.quote.total) == ("default", Decimal("0.5"))
    assert f"about 0.5 credits ({GUESS})" in unescape(sweep._repr_html_())
    assert sweep.run().quote.source == "rule"  # nothing is left: 0 is sure


def test_rating_a_missing_result_is_reported(studio: Studio) -> None:
    sweep = studio.sweep("paint", "a")

    with pytest.raises(ConfigError, match="has no result yet"):
        sweep.rate(0, 3)
    with pytest.raises(ConfigError, match="there is no cell 7"):
        sweep.best(7)


# ── rows of a frame ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("library", [pd.DataFrame, pa.table])
def test_each_row_is_a_request(studio: Studio, api: Server, library: Callable[..., Any]) -> None:
    frame = pd.DataFrame(
        {
            "model": "paint",
            "prompt": ["a", "b"],
            "parameters.steps": [3, None],
            "style": ["ink", None],
        }
    )
    made = studio.generate_many(library(frame))

    assert made.frame()["status"].tolist() == ["completed", "completed"]
    assert sorted(map(str, (s["parameters"] for s in list_starts(api)))) == [
        "{'steps': 3, 'style': 'ink'}",
        "{}",
    ]


def test_cells_of_an_arrow_table_keep_their_types(studio: Studio, api: Server) -> None:
    seed, media = 2**53 - 1, {"picture": png(), "hints": [png(), png("blue")]}
    rows = pa.table({"model": ["paint"] * 2, "prompt": ["a", "b"], "size": [seed, None]})
    made = studio.generate_many(rows)
    files = pa.table({"model": ["retouch"], "media": [media]})
    more = studio.generate_many(files, unpriced=True)

    sent = [request["parameters"] for request in list_starts(api)][:2]
    assert sorted(map(repr, sent)) == [repr({"size": seed}), "{}"]
    assert [*made.frame()["status"], *more.frame()["status"]] == ["completed"] * 3
    double = pa.table([["paint"], ["a"], ["b"]], names=["model", "prompt", "prompt"])
    with pytest.raises(ConfigError, match="several columns of the same name"):
        studio.generate_many(double)


def test_the_results_of_rows_keep_the_index_of_their_frame(studio: Studio) -> None:
    frame = pd.DataFrame(
        {"prompt": ["a", "b", "c", "d"], "style": ["ink", None, "oil", "ink"]},
        index=["w", "x", "y", "z"],
    )
    made = studio.generate_many(frame.iloc[[3, 1]], model="paint").frame()

    joined = frame.join(made)
    assert "style" not in made
    assert "parameters.style" in made
    assert made.index.tolist() == ["z", "x"]
    assert joined["status"].fillna("-").tolist() == ["-", "completed", "-", "completed"]
    known = joined.dropna(subset="generation_id")
    prompts = studio.history.frame()["prompt"]
    assert prompts[known["generation_id"]].tolist() == known["prompt"].tolist() == ["b", "d"]


def test_parameters_named_like_results_have_their_own_columns(studio: Studio, api: Server) -> None:
    words = ("seconds", "status", "price", "rating", "error")
    model = {
        "id": "odd",
        "assetType": "image",
        "creditsAtDefaults": 0.25,
        "settingParameters": [{"name": word, "type": "string"} for word in words],
    }
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": [model]}))

    sweep = studio.sweep("odd", "a", seconds=["3", "4"], status=["x", "y"], price=["5"]).run()
    frame = sweep.frame()

    assert frame["parameters.seconds"].tolist() == ["3", "3", "4", "4"]
    assert frame["parameters.status"].tolist() == ["x", "y", "x", "y"]
    assert frame["status"].tolist() == ["completed"] * 4
    assert frame["price"].tolist() == [0] * 4
    assert "prompt" not in frame
    assert sweep.frame(constants=True)["prompt"].tolist() == ["a"] * 4
    assert studio.history.frame(parameters=True)["parameters.seconds"].value_counts().to_dict() == {
        "3": 2,
        "4": 2,
    }


def test_each_result_is_downloaded_once_also_while_the_run_shows_its_pictures(
    studio: Studio, media: Server
) -> None:
    def answer_slowly(request: third_party.Request) -> Answer:
        time.sleep(0.5)
        return third_party.storage(request)

    media.app = answer_slowly
    studio.sweep("paint", ["a", "b"]).run()

    assert len(media.requests("GET")) == 2


def test_a_row_may_have_files(studio: Studio, api: Server, media: Server) -> None:
    rows = pd.DataFrame({"model": "retouch", "media": [png("red"), png("blue")]})
    with pytest.raises(ConfigError, match="the service does not say what every request"):
        studio.generate_many(rows)
    assert media.requests("PUT") == list_starts(api) == []

    made = studio.generate_many(rows, unpriced=True)

    assert made.frame()["status"].tolist() == ["completed", "completed"]
    assert {seen.body for seen in media.requests("PUT")} == {png("red"), png("blue")}


def test_all_invalid_rows_are_named_and_none_is_sent(studio: Studio, api: Server) -> None:
    rows = [{"prompt": "a", "steps": 99}, {"prompt": "b"}, {"prompt": None}, {"propmt": "x"}]
    with pytest.raises(ParameterError) as caught:
        studio.generate_many(rows, model="paint")

    assert [line[:10] for line in str(caught.value).splitlines()[1:]] == [
        "request 0:",
        "request 2:",
        "request 3:",
    ]
    assert list_starts(api) == []


def test_equal_problems_of_rows_are_named_once_with_the_index_of_the_frame(studio: Studio) -> None:
    rows = pd.DataFrame({"prompt": ["a", "b", "c"] * 10, "sku": "x"}, index=range(1, 31))
    rows.loc[1, "sku"] = None
    with pytest.raises(ParameterError) as caught:
        studio.generate_many(rows, model="paint")

    first, *lines = str(caught.value).splitlines()
    assert first == "29 of 30 requests are invalid; nothing was sent"
    assert len(lines) == 1
    assert lines[0].startswith("request 1 (index 2), 2 (index 3), ")
    assert " ... and 9 more: parameters.sku: unknown parameter" in lines[0]


def test_a_frame_with_two_columns_of_one_name_is_refused(studio: Studio) -> None:
    rows = pd.DataFrame([["a", "b"]], columns=["prompt", "prompt"])
    with pytest.raises(ConfigError, match="several columns of the same name"):
        studio.generate_many(rows, model="paint")


@pytest.mark.parametrize("rows", [{"prompt": ["a", "b"]}, "a lake", 3, ["a", "b"]])
def test_an_argument_without_rows_is_reported(studio: Studio, rows: Any) -> None:
    with pytest.raises(ConfigError, match="rows must be a DataFrame or a list of mapping"):
        studio.generate_many(rows, model="paint")


def test_rows_without_a_model_are_reported(studio: Studio) -> None:
    with pytest.raises(ConfigError, match="no model for row 1"):
        studio.generate_many([{"model": "paint", "prompt": "a"}, {"prompt": "b"}])
    with pytest.raises(ConfigError, match="no rows"):
        studio.generate_many([])


# ── the awaited face ──────────────────────────────────────────────────────────────────────────────


def test_sweeps_and_rows_work_in_the_async_face(astudio: AsyncStudio, api: Server) -> None:
    async def cell() -> tuple[Any, ...]:
        sweep = await astudio.sweep("paint", ["a", "b"])
        await sweep.run()
        sheet = await sweep.sheet()
        many = await astudio.generate_many([{"prompt": "a"}], model="paint")
        states = sweep.frame()["status"].tolist(), many.frame()["status"].tolist()
        await sweep.cancel()
        await astudio.close()
        return (*states, sheet.html().count("<img"), len(sweep.generations))

    assert asyncio.run(cell()) == (["completed", "completed"], ["completed"], 2, 2)
    assert len(list_starts(api)) == 2


def test_choices_of_a_template_are_columns_of_the_results(studio: Studio) -> None:
    lakes = template("a {red|blue} __place__", place=["lake"])

    swept = studio.sweep("paint", lakes).run().frame()
    rows = lakes.frame()
    batch = rows.join(studio.generate_many(rows, model="paint").frame())

    assert swept["choice.1"].to_list() == batch["choice.1"].to_list() == ["red", "blue"]
    assert swept["prompt"].to_list() == batch["prompt"].to_list() == ["a red lake", "a blue lake"]
    assert set(batch["status"]) == {"completed"}


def test_a_running_sweep_shows_its_pictures_and_their_number(
    settings: Settings, client: Client, backend: ThirdParty
) -> None:
    def finish_slowly(_: Any) -> dict[str, Any]:
        threading.Event().wait(0.1)
        return {}

    backend.facts = finish_slowly
    line = ShownLine()
    operations = Operations(replace(settings, progress=True), line=line)
    sweep = Studio(settings, client=client, operations=operations).sweep("paint", ["a", "b", "c"])

    sweep.run(at_once=1)

    shown = list(zip(line.labels, line.pictures, strict=False))
    assert shown[0] == ("paint × 3 · 0 of 3", 0)
    assert ("paint × 3 · 2 of 3", 2) in shown
    assert line.labels[-1] == "", "the line is closed"


def test_progress_reports_the_charges_of_canceled_cells() -> None:
    def result(state: str, **facts: Any) -> CellResult:
        return CellResult(Generation(id="g", status=state, credits_charged="0.5", **facts))

    canceled = [result("completed"), result("canceled", credits_refunded="0.5"), result("canceled")]

    assert describe_progress(canceled, [], Decimal(0)) == (
        "1 completed, 2 canceled, 0.5 credits charged for what was canceled, 0.5 credits refunded"
    )


def test_a_running_sweep_shows_what_canceling_costs(tmp_path: Path) -> None:
    with kit.connect(data=tmp_path) as studio:
        sweep = studio.sweep("flat", ["a", "b", "c"], does="hangs")
        sweep.run(at_once=3, background=True)
        until(lambda: "still costs" in repr(sweep))
        sweep.cancel()
        until(lambda: "canceled" in repr(sweep) and "processing" not in repr(sweep))
    local.stop()

    assert "Cancel" not in repr(sweep)
    assert "credits charged for what was canceled" in repr(sweep)


def test_an_id_that_a_reset_service_used_again_is_no_result(
    studio: Studio, api: Server, backend: ThirdParty
) -> None:
    backend.facts = lambda _: {"createdAt": datetime.now(UTC).isoformat()}
    studio.start("paint", "a lake")
    backend.orders.clear()
    studio.start("paint", "a barn")
    sweep = studio.sweep("paint", ["a lake", "a barn"])

    assert sweep.frame()["price"].tolist() == [0.25, 0]
    assert [one.prompt for one in sweep.run()] == ["a lake", "a barn"]
    assert len(list_starts(api)) == 3
