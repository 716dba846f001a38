"""Starts whose answer was not received: interrupted cells, canceled tasks, killed kernels."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path

import pytest

from kit import wire
from kit.client.calls import NoReply, Outcome, Reply, Step
from kit.client.flows import Policy
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import (
    ConfigError,
    GenerationFailedError,
    InsufficientCreditsError,
    NoAnswerError,
    RateLimitError,
)
from kit.studio import AsyncStudio, Studio
from kit.studio.operations import Operations
from kit.studio.starts import StartTrace
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import Answer, Server, png
from tests.conftest import Service, lasting_service
from tests.studio.interrupted_clients import CanceledClient, DatedApp, InterruptedClient, is_start

service = lasting_service

START = "/v1/creative-studio/generations"
Open = Callable[..., Studio]


@pytest.fixture
def backend(media: Server) -> DatedApp:
    return DatedApp(media.url)


@pytest.fixture
def kernel(settings: Settings, clock: Clock, policy: Policy) -> Iterator[Open]:
    """A function that opens a studio as a new kernel does."""
    studios = []

    def open_studio(kind: type[Client] = Client) -> Studio:
        client = kind(settings, sleep=clock.sleep)
        studios.append(
            Studio(settings, client=client, operations=Operations(settings, policy=policy))
        )
        return studios[-1]

    yield open_studio
    for studio in studios:
        studio.close()


def interrupt_start(kernel: Open, prompt: str = "a lake", **options: object) -> KeyboardInterrupt:
    """Interrupt a cell after its start was sent, before the answer."""
    with pytest.raises(KeyboardInterrupt) as caught:
        kernel(InterruptedClient).generate("paint", prompt, **options)
    return caught.value


def read_keys(api: Server) -> list[str]:
    return [seen.headers["idempotency-key"] for seen in api.requests("POST", START)]


def test_an_interrupted_start_is_found_and_not_paid_twice(
    kernel: Open, api: Server, backend: DatedApp
) -> None:
    interrupt_error = interrupt_start(kernel)
    assert "its start was sent and may be executed" in interrupt_error.__notes__[0]

    assert [g.id for g in kernel().history.pending()] == ["job-1"]
    assert kernel().generate("paint", "a lake").id == "job-1"
    assert list(backend.orders) == ["job-1"]


def test_the_same_call_finds_an_interrupted_start(
    kernel: Open, api: Server, backend: DatedApp
) -> None:
    interrupt_start(kernel)

    found = kernel().generate("paint", "a lake", size=512)

    assert (found.id, found.status) == ("job-1", "completed")
    assert found.output.bytes() == png()
    assert len(read_keys(api)) == 1
    assert kernel().history.pending() == []


def test_an_interrupted_start_that_is_not_listed_is_not_repeated(
    kernel: Open, api: Server, backend: DatedApp, caplog: pytest.LogCaptureFixture
) -> None:
    interrupt_start(kernel)
    backend.listing = False

    assert kernel().history.pending() == []
    assert "a start of paint may have been carried out at 20" in caplog.text
    with pytest.raises(NoAnswerError, match="again=True sends a new request") as caught:
        kernel().generate("paint", "a lake")
    assert caught.value.unsettled
    assert len(read_keys(api)) == 1

    made = kernel().generate("paint", "a lake", again=True)
    assert made.id == kernel().generate("paint", "a lake").id == "job-2"
    assert len(read_keys(api)) == 2


def test_an_older_similar_generation_is_named_in_the_error(kernel: Open, backend: DatedApp) -> None:
    interrupt_start(kernel)
    backend.made["job-1"] = "2026-01-02T03:04:05Z"

    with pytest.raises(NoAnswerError, match="is not enough to decide: it may be job-1"):
        kernel().generate("paint", "a lake")


def test_a_generation_with_a_rewritten_prompt_is_named_in_the_error(
    kernel: Open, backend: DatedApp
) -> None:
    interrupt_start(kernel)
    backend.orders["job-1"]["prompt"] = "a calm lake, highly detailed"

    with pytest.raises(NoAnswerError, match="is not enough to decide: it may be job-1"):
        kernel().generate("paint", "a lake")


def test_another_request_of_the_model_is_not_taken_for_the_start(
    kernel: Open, api: Server, backend: DatedApp
) -> None:
    interrupt_start(kernel)
    backend.orders["job-1"]["prompt"] = "a fox"

    with pytest.raises(NoAnswerError, match="may have been carried out"):
        kernel().generate("paint", "a lake")
    assert kernel().history.pending() == []


def test_a_start_with_a_lost_answer_is_found(kernel: Open, api: Server, backend: DatedApp) -> None:
    real_start = backend.start

    def start_and_drop(request: third_party.Request) -> Answer:
        real_start(request)
        return Answer(drop=True)

    backend.start = start_and_drop  # type: ignore[method-assign]
    with pytest.raises(NoAnswerError, match="may have been carried out"):
        kernel().generate("paint", "a lake")
    backend.start = real_start  # type: ignore[method-assign]

    assert kernel().generate("paint", "a lake").id == "job-1"
    assert len(read_keys(api)) == 1


def test_a_refused_start_leaves_no_intent(kernel: Open, api: Server) -> None:
    api.script("POST", START, third_party.problem(402, "insufficient_credits", "1 required"))
    with pytest.raises(InsufficientCreditsError):
        kernel().generate("paint", "a lake")

    assert kernel().session.operations.journal.intents() == []
    assert kernel().generate("paint", "a lake").status == "completed"
    assert len(read_keys(api)) == 2


def test_a_sweep_finds_an_interrupted_start(kernel: Open, api: Server, backend: DatedApp) -> None:
    interrupt_start(kernel)

    frame = kernel().sweep("paint", ["a lake", "a fox"]).run(at_once=1).frame()

    assert frame["generation_id"].tolist() == ["job-1", "job-2"]
    assert len(read_keys(api)) == 2


def test_the_async_face_finds_a_canceled_start(
    settings: Settings, clock: Clock, policy: Policy, api: Server, backend: DatedApp
) -> None:
    async def cell(client: CanceledClient) -> list[object]:
        operations = Operations(settings, policy=policy)
        async with AsyncStudio(settings, client=client, operations=operations) as studio:
            with pytest.raises(asyncio.CancelledError) as caught:
                await studio.generate("paint", "a lake")
            pending = [g.id for g in await studio.history.pending()]
            again = await studio.generate("paint", "a lake")
            return [caught.value.__notes__[0], pending, again.id]

    note, pending, again = asyncio.run(cell(CanceledClient(settings, sleep=clock.async_sleep)))

    assert "its start was sent and may be executed" in str(note)
    assert (pending, again) == (["job-1"], "job-1")
    assert len(read_keys(api)) == 1


def test_interrupted_starts_with_different_files_are_not_guessed(
    kernel: Open, api: Server, backend: DatedApp
) -> None:
    for picture in (png("red"), png("blue")):
        with pytest.raises(KeyboardInterrupt):
            kernel(InterruptedClient).generate("retouch", media=picture)

    assert kernel().history.pending() == []
    with pytest.raises(NoAnswerError, match="it may be job-1 or job-2"):
        kernel().generate("retouch", media=png("blue"))

    assert len(read_keys(api)) == 2


def test_a_single_interrupted_start_with_files_is_found(kernel: Open, api: Server) -> None:
    with pytest.raises(KeyboardInterrupt):
        kernel(InterruptedClient).generate("retouch", media=png("red"))

    assert [g.id for g in kernel().history.pending()] == ["job-1"]
    assert kernel().generate("retouch", media=png("red")).id == "job-1"
    assert len(read_keys(api)) == 1


def test_a_service_that_honors_idempotency_keys_is_paid_once(
    service: Service, key: str, tmp_path: Path
) -> None:
    settings = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(settings, client=InterruptedClient(settings)) as studio:
        before = studio.account.credits or Decimal(0)
        with pytest.raises(KeyboardInterrupt):
            studio.generate("flat", "x")
        studio.client.stops = 1  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            studio.generate("flat", "x")
        paid = before - (studio.account.credits or 0)

        made = studio.generate("flat", "x")

        assert made.status == "completed"
        assert paid > 0
        assert before - (studio.account.credits or 0) == paid
        assert [g.id for g in studio.history.list()] == [made.id]


class BusyClient(InterruptedClient):
    """Interrupted as its base is; every later start is refused, by a rate limit."""

    def perform(self, step: Step) -> Outcome:
        if is_start(step) and not self.stops:
            return Reply(429, {"retry-after": "4000"})
        return super().perform(step)


def test_a_refused_repeat_does_not_forget_the_start_that_it_repeats(
    service: Service, key: str, tmp_path: Path
) -> None:
    settings = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(settings, client=BusyClient(settings)) as busy:
        with pytest.raises(KeyboardInterrupt):
            busy.generate("flat", "x")
        with pytest.raises(RateLimitError):
            busy.generate("flat", "x")

    with Studio(settings) as studio:
        made = studio.generate("flat", "x")

        assert [g.id for g in studio.history.list()] == [made.id]


def test_a_lost_start_of_one_account_is_still_found_after_an_equal_request_of_another(
    service: Service, key: str, account: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "notebook"  # both accounts are used on one computer
    theirs = Settings(service.url, service.key(service.account(), "creative:generate"), data=folder)
    rotated = Settings(service.url, service.key(account, "creative:generate"), data=folder)
    mine = Settings(service.url, key, data=folder)
    with Studio(mine, client=InterruptedClient(mine)) as studio:
        with pytest.raises(KeyboardInterrupt):
            studio.generate("flat", "x")
        before = studio.generate("flat", "y")
        with Studio(theirs) as other:
            assert other.history.pending() == []
            assert other.generate("flat", "x").id == other.generate("flat", "x").id
            assert (len(other.history.list()), other.history.pending()) == (1, [])
        assert "may have been carried out" not in caplog.text

        made = studio.generate("flat", "x")

        assert {g.id for g in studio.history.list()} == {made.id, before.id}
        with Studio(rotated) as later:
            assert later.generate("flat", "x") == made


def test_finding_an_interrupted_start_costs_nothing(
    service: Service, key: str, tmp_path: Path
) -> None:
    settings = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(settings, client=InterruptedClient(settings)) as studio:
        with pytest.raises(KeyboardInterrupt):
            studio.generate("flat", "x", does="dawdles")
        paid = studio.account.credits

        (found,) = studio.history.pending()

        assert (found.model_id, found.prompt) == ("flat", "x")
        assert studio.account.credits == paid
        found.cancel()


class LosingClient(Client):
    """Loses its first start on the way to the service."""

    loses = True

    def perform(self, step: Step) -> Outcome:
        if is_start(step) and self.loses:
            self.loses = False
            return NoReply("the connection broke")
        return super().perform(step)


class LateClient(Client):
    """Talks to a service whose clock is late, so that a query by time may miss what is new."""

    def perform(self, step: Step) -> Outcome:
        outcome = super().perform(step)
        assert isinstance(outcome, Reply)
        date = format_datetime(datetime.now(UTC) - timedelta(minutes=10), usegmt=True)
        return replace(outcome, headers={**outcome.headers, "date": date})


def test_our_service_rules_out_a_start_that_it_does_not_list(
    service: Service, key: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(settings, client=LosingClient(settings)) as studio:
        with pytest.raises(NoAnswerError, match="may have been carried out"):
            studio.generate("flat", "x")
        assert studio.history.pending() == []
        assert "may have been carried out" in caplog.text, "it may still be on its way"
    (path,) = (tmp_path / "notebook" / "notebook" / "journal").iterdir()
    line = json.loads(path.read_text())
    for hours in (1, 25):
        line["at"] = wire.timestamp(datetime.now(UTC) - timedelta(hours=hours))
        path.write_text(json.dumps(line) + "\n")
        with Studio(settings, client=LateClient(settings)) as late:
            assert late.history.pending() == []
            assert late.session.operations.journal.intents() != []
        caplog.clear()

        with Studio(settings) as later:
            assert later.history.pending() == []
            # while its key is valid, the same call repeats it, and can never be charged twice
            assert bool(later.session.operations.journal.intents()) == (hours == 1)
        assert caplog.text == ""


def test_a_start_that_cannot_be_saved_is_not_sent(
    studio: Studio, settings: Settings, api: Server
) -> None:
    _ = studio.models
    (settings.data / "notebook").mkdir(parents=True)
    (settings.data / "notebook" / "journal").write_text("in the way")

    with pytest.raises(ConfigError, match="nothing was sent"):
        studio.generate("paint", "a lake")
    assert read_keys(api) == []


def interrupt(_: float) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_before_the_start_notes_that_nothing_was_charged(
    settings: Settings, api: Server
) -> None:
    api.script("GET", "/v1/creative-studio/models", third_party.problem(503, "unavailable", "no"))
    with (
        Studio(settings, client=Client(settings, sleep=interrupt)) as studio,
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        studio.generate("paint", "a lake")

    assert caught.value.__notes__ == [StartTrace().note("")]


def test_an_interrupt_of_a_wait_for_the_rate_limit_leaves_no_doubt(
    kernel: Open, settings: Settings, api: Server, backend: DatedApp
) -> None:
    api.script("POST", START, Answer(429, headers={"retry-after": "5"}))
    with (
        Studio(settings, client=Client(settings, sleep=interrupt)) as studio,
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        studio.generate("paint", "a lake")

    assert caught.value.__notes__ == [StartTrace().note("")]
    backend.listing = False  # it is not even searched
    assert kernel().generate("paint", "a lake").id == "job-1"


@pytest.mark.parametrize(
    "call",
    [
        lambda studio: studio.start("paint", "a lake").wait(),
        lambda studio: studio.generate("paint", "a lake", n=2),
    ],
)
def test_an_interrupted_wait_is_shown_without_a_traceback_and_notes_what_continues(
    settings: Settings, backend: DatedApp, call: Callable[[Studio], object]
) -> None:
    backend.polls = 1000
    with (
        Studio(settings, client=Client(settings, sleep=interrupt)) as studio,
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        call(studio)

    lines = caught.value._render_traceback_()  # type: ignore[attr-defined]
    assert lines[-2:] == [
        "KeyboardInterrupt",
        "what was started continues: studio.history.pending() finds it",
    ]


def test_an_error_of_several_results_names_what_was_started(
    kernel: Open, api: Server, backend: DatedApp
) -> None:
    real_start = backend.start

    def start_two(request: third_party.Request) -> Answer:
        if len(backend.orders) == 2:
            return third_party.problem(402, "insufficient_credits", "0.25 required")
        return real_start(request)

    backend.start = start_two  # type: ignore[method-assign]
    with pytest.raises(InsufficientCreditsError) as caught:
        kernel().generate("paint", "a lake", n=3)
    assert caught.value.__notes__ == ["2 of 3 were started, see studio.history: job-1, job-2"]

    backend.start = real_start  # type: ignore[method-assign]
    backend.states, backend.error = ("queued", "error"), "too dark"
    with pytest.raises(GenerationFailedError) as failed:
        kernel().generate("paint", "a fox", n=2)
    assert failed.value.__notes__ == ["2 of 2 were started, see studio.history: job-3, job-4"]


def test_an_interrupt_of_the_download_notes_how_to_fetch_it(
    kernel: Open, settings: Settings, backend: DatedApp, api: Server, media: Server
) -> None:
    backend.polls = 0
    media.script("GET", "/out/job-1.png", Answer(503))
    with (
        Studio(settings, client=Client(settings, sleep=interrupt)) as studio,
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        studio.generate("paint", "a lake")

    assert caught.value.__notes__ == [
        "the generation job-1 is completed: the same call fetches it at no cost"
    ]
    assert kernel().generate("paint", "a lake").output.bytes() == png()
    assert len(read_keys(api)) == 1


def test_the_note_of_a_start_with_again_advises_a_call_without_it() -> None:
    assert "the same call without again=True" in StartTrace(again=True, sent=True).note("")


def test_an_invalid_intent_is_reported(studio: Studio, caplog: pytest.LogCaptureFixture) -> None:
    studio.session.operations.journal.add_intent("k1", {"what": "is this"})

    assert studio.history.pending() == studio.history.pending() == []
    assert caplog.text.count("a start of a model may have been carried out") == 1


def test_an_earlier_version_can_read_the_journal(kernel: Open, settings: Settings) -> None:
    """An intent has no ``id``: a release without intents skips its line."""
    interrupt_start(kernel)
    (path,) = (settings.data / "notebook" / "journal").iterdir()

    line = path.read_text().splitlines()[0]
    assert '"intent"' in line
    assert '"id"' not in line
