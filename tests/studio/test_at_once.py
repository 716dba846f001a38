"""Answers that come at once, and equal requests that are made at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.client.journal import Journal
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.studio import Studio
from kit.studio.operations import Operations
from tests.client import third_party
from tests.client.third_party import Answer, Server, png
from tests.conftest import Service
from tests.studio.broken import Punctual

START = "/v1/creative-studio/generations"


@pytest.fixture
def backend(media: Server) -> Punctual:
    return Punctual(media.url)


@pytest.fixture
def hasty(backend: Punctual) -> Punctual:
    """A service that answers a start with ``completed``, and names the output two polls later."""
    start, shown = backend.start, backend.to_json

    def completed(request: third_party.Request) -> Answer:
        answer = start(request)
        return Answer(200, {**answer.body, "status": "completed"})

    def late(number: str, order: dict[str, Any]) -> dict[str, Any]:
        facts = shown(number, order)
        output = facts["outputUrl"] if order["polled"] >= 3 else None
        return {**facts, "status": "completed", "outputUrl": output}

    backend.start = completed  # type: ignore[method-assign]
    backend.to_json = late  # type: ignore[method-assign]
    return backend


def test_an_output_may_come_after_its_generation(studio: Studio, hasty: Punctual) -> None:
    made = studio.generate("paint", "a lake")

    assert (made.status, made.output.bytes()) == ("completed", png())
    assert made.output.url is not None
    assert studio.history.pending() == []
    assert studio.start("paint", "a fox").wait().output.bytes() == png()


def test_the_same_from_two_cells_at_once_is_paid_once(
    settings: Settings, api: Server, backend: Punctual
) -> None:
    arrived, go, start = threading.Event(), threading.Event(), backend.start

    def slow(request: third_party.Request) -> Answer:
        arrived.set()
        go.wait(30)
        return start(request)

    backend.start = slow  # type: ignore[method-assign]
    waited: list[float] = []

    def rest(seconds: float) -> None:
        waited.append(seconds)
        go.set()  # the second cell waits: now the first one may go on

    operations = Operations(settings)
    with Studio(settings, operations=operations) as one, ThreadPoolExecutor() as pool:
        first = pool.submit(one.generate, "paint", "a lake")
        arrived.wait(30)
        with Studio(settings, client=Client(settings, sleep=rest), operations=operations) as two:
            second = two.generate("paint", "a lake")

    assert second.id == first.result().id == "job-1"
    assert waited
    assert len(api.requests("POST", START)) == 1


def test_an_equal_start_is_waited_for_until_it_is_written_down(
    settings: Settings, api: Server
) -> None:
    class LateJournal(Journal):
        """A journal into which the first start is written when another cell has come."""

        def add_start(self, *args: Any, **facts: Any) -> None:
            if not seconds:
                seconds.append(pool.submit(two.generate, "paint", "a lake"))
                assert rested.wait(10)
            super().add_start(*args, **facts)

    operations = Operations(settings, journal=LateJournal.of(settings))
    rested, seconds = threading.Event(), list[Any]()

    def rest(_: float) -> None:
        rested.set()

    with (
        Studio(settings, operations=operations) as one,
        Studio(settings, client=Client(settings, sleep=rest), operations=operations) as two,
        ThreadPoolExecutor() as pool,
    ):
        first = one.generate("paint", "a lake")

        assert [second.result().id for second in seconds] == [first.id] == ["job-1"]
    assert len(api.requests("POST", START)) == 1


@pytest.mark.parametrize("kernels", [1, 2])
def test_equal_requests_that_are_prepared_at_once_are_paid_once(
    service: Service, key: str, tmp_path: Path, kernels: int
) -> None:
    settings = Settings(service.url, key, data=tmp_path, progress=False)
    picture = np.random.default_rng(3).integers(0, 255, (40, 60, 3), dtype="uint8")
    prepared, first_writes = threading.Barrier(2), iter(range(2))

    class LateJournal(Journal):
        """A journal into which nobody writes before both have looked."""

        def add_intent(self, *args: Any, **facts: Any) -> None:
            if next(first_writes, None) is not None:
                prepared.wait(10)
            super().add_intent(*args, **facts)

    every = [Operations(settings, journal=LateJournal.of(settings)) for _ in range(kernels)]
    with (
        Studio(settings, operations=every[0]) as one,
        Studio(settings, operations=every[-1]) as two,
        ThreadPoolExecutor() as pool,
    ):
        begun = [pool.submit(each.generate, "clay", portrait=picture) for each in (one, two)]

        first, second = (each.result() for each in begun)
        assert first.id == second.id
        assert [entry.id for entry in one.history.list()] == [first.id]
