"""The blocking and the async client give the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from kit import wire
from kit.client import calls, downloads, flows, uploads
from kit.client.aio import AsyncClient
from kit.client.calls import Flow
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.client.waiting import SharedWait
from kit.errors import KitError
from tests.client import third_party
from tests.client.fixtures import Clock
from tests.client.third_party import Answer, Server

ORDER = wire.StartGeneration(model_id="paint", prompt="p")
Run = Callable[[Flow[Any]], Any]


@pytest.fixture(params=["sync", "aio"])
def run(request: pytest.FixtureRequest, settings: Settings, clock: Clock) -> Iterator[Run]:
    """A function that runs a flow to its end, on either client."""
    if request.param == "sync":
        with closing(Client(settings, sleep=clock.sleep)) as client:
            yield client.run
    else:
        aclient = AsyncClient(settings, sleep=clock.async_sleep)
        yield lambda flow: aclient.run(flow).result()
        aclient.disconnect()


def test_a_generation_is_started_and_downloaded(run: Run, api: Server, settings: Settings) -> None:
    receipt = run(flows.ask(calls.start_generation(ORDER)))
    done = run(SharedWait().wait(receipt.id))
    cache = downloads.Cache(settings.data, settings.base_url)

    path = run(downloads.output(cache, done))

    assert path.read_bytes() == third_party.png()
    assert [(s.method, s.path) for s in api.seen] == [
        ("POST", "/v1/creative-studio/generations"),
        ("GET", "/v1/creative-studio/generations/job-1"),
        ("GET", "/v1/creative-studio/generations/job-1"),
    ]


def test_retries_send_the_same_key(run: Run, api: Server, clock: Clock) -> None:
    path = "/v1/creative-studio/generations"
    busy = third_party.problem(503, "unavailable", "busy", **{"Retry-After": "2"})
    api.script("POST", path, busy, busy)

    receipt = run(flows.ask(calls.start_generation(ORDER)))

    keys = [seen.headers["idempotency-key"] for seen in api.requests("POST", path)]
    assert receipt.id == "job-1"
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert clock.slept[1] >= 2.0


def test_a_start_is_repeated_with_its_key_where_the_service_replays_answers(
    run: Run, api: Server
) -> None:
    path = "/v1/creative-studio/generations"
    kept = Answer(200, {"id": "job-7"}, {"Idempotency-Replayed": "true"})
    api.script("POST", path, kept, Answer(drop=True))

    run(flows.ask(calls.start_generation(ORDER)))
    receipt = run(flows.ask(calls.start_generation(ORDER)))

    keys = [seen.headers["idempotency-key"] for seen in api.requests("POST", path)]
    assert receipt.id == "job-1"
    assert keys[1] == keys[2] != keys[0]


def test_a_file_is_uploaded_completely(run: Run, media: Server) -> None:
    file = uploads.source(third_party.png())

    assert run(uploads.upload("retouch", file)) == "u-upload.png"
    assert media.seen[0].body == third_party.png()


def test_an_error_of_the_service_raises_its_class(run: Run, api: Server) -> None:
    path = "/v1/creative-studio/generations"
    api.script("POST", path, third_party.problem(402, "insufficient_credits", "1 needed"))

    with pytest.raises(KitError, match="1 needed") as caught:
        run(flows.ask(calls.start_generation(ORDER)))

    assert type(caught.value).__name__ == "InsufficientCreditsError"
