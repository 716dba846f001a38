"""Generations completed at once, and equal requests made at the same time."""

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
from tests.studio.interrupted_clients import DatedApp

START = "/v1/creative-studio/generations"


@pytest.fixture
def backend(media: Server) -> DatedApp:
    return DatedApp(media.url)


@pytest.fixture
def early(backend: DatedApp) -> DatedApp:
    """A service that answers a start with ``completed``, and names the output two polls later."""
    start, to_json = backend.start, backend.to_json

    def start_completed(request: third_party.Request) -> Answer:
        answer = start(request)
        return Answer(200, {**answer.body, "status": "completed"})

    def hide_output(number: str, order: dict[str, Any]) -> dict[str, Any]:
        facts = to_json(number, order)
        output = facts["outputUrl"] if order["polled"] >= 3 else None
        return {**facts, "status": "completed", "outputUrl": output}

    backend.start = start_completed  # type: ignore[method-assign]
    backend.to_json = hide_output  # type: ignore[method-assign]
    return backend


def test_an_output_may_be_available_after_its_generation(studio: Studio, early: DatedApp) -> None:
    made = studio.generate("paint", "a lake")

    assert (made.status, made.output.bytes()) == ("completed", png())
    assert made.output.url is not None
    assert studio.history.pending() == []
    assert studio.start("paint", "a fox").wait().output.bytes() == png()


def test_equal_requests_of_two_cells_at_once_are_paid_once(
    settings: Settings, api: Server, backend: DatedApp
) -> None:
    started, go, start = threading.Event(), threading.Event(), backend.start

    def start_slowly(request: third_party.Request) -> Answer:
        started.set()
        go.wait(30)
        return start(request)

    backend.start = start_slowly  # type: ignore[method-assign]
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        go.set()  # the second cell waits, so the first one may continue

    operations = Operations(settings)
    with Studio(settings, operations=operations) as one, ThreadPoolExecutor() as pool:
        first = pool.submit(one.generate, "paint", "a lake")
        started.wait(30)
        with Studio(settings, client=Client(settings, sleep=pause), operations=operations) as two:
            second = two.generate("paint", "a lake")

    assert second.id == first.result().id == "job-1"
    assert pauses
    assert len(api.requests("POST", START)) == 1


def test_an_equal_start_waits_until_the_first_is_in_the_journal(
    settings: Settings, api: Server
) -> None:
    class LateJournal(Journal):
        """A journal that saves the first start only after another cell has started."""

        def add_start(self, *args: Any, **facts: Any) -> None:
            if not seconds:
                seconds.append(pool.submit(two.generate, "paint", "a lake"))
                assert paused.wait(10)
            super().add_start(*args, **facts)

    operations = Operations(settings, journal=LateJournal.of(settings))
    paused, seconds = threading.Event(), list[Any]()

    def pause(_: float) -> None:
        paused.set()

    with (
        Studio(settings, operations=operations) as one,
        Studio(settings, client=Client(settings, sleep=pause), operations=operations) as two,
        ThreadPoolExecutor() as pool,
    ):
        first = one.generate("paint", "a lake")

        assert [second.result().id for second in seconds] == [first.id] == ["job-1"]
    assert len(api.requests("POST", START)) == 1


@pytest.mark.parametrize("kernels", [1, 2])
def test_equal_requests_prepared_at_once_are_paid_once(
    service: Service, key: str, tmp_path: Path, kernels: int
) -> None:
    settings = Settings(service.url, key, data=tmp_path, progress=False)
    picture = np.random.default_rng(3).integers(0, 255, (40, 60, 3), dtype="uint8")
    prepared, first_writes = threading.Barrier(2), iter(range(2))

    class LateJournal(Journal):
        """A journal that saves the first intents after both cells have looked for earlier ones."""

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
        jobs = [pool.submit(each.generate, "clay", portrait=picture) for each in (one, two)]

        first, second = (each.result() for each in jobs)
        assert first.id == second.id
        assert [entry.id for entry in one.history.list()] == [first.id]
