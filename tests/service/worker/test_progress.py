"""Reports go on while an engine is in a long call, and never backwards."""

import threading

import numpy as np

from kit.service.worker.progress import ProgressReporter


def test_a_silent_task_is_told_of_again_and_again() -> None:
    enough = threading.Event()
    seen: list[float] = []

    def tell(fraction: float) -> None:
        seen.append(fraction)
        if seen.count(0.4) == 3:
            enough.set()

    with ProgressReporter(tell, every=0.01) as report:
        report(0.4)
        assert enough.wait(20)

    assert seen == sorted(seen)
    for thread in threading.enumerate():
        if thread.name == "progress":
            thread.join(20)
    assert not any(thread.name == "progress" for thread in threading.enumerate())


def test_one_reporter_serves_many_tasks_with_one_thread_and_tells_of_none_between() -> None:
    seen: list[float] = []
    enough = threading.Event()

    def tell(fraction: float) -> None:
        seen.append(fraction)
        enough.set()

    reporter = ProgressReporter(tell, every=0.2)
    for _ in range(50):
        with reporter as report:
            report(0.9)
    assert [thread.name for thread in threading.enumerate()].count("progress") == 1
    assert seen == []

    with reporter as report:
        report(0.1)
        assert enough.wait(20)

    assert set(seen) == {0.1}


def test_a_task_that_reports_all_the_time_is_told_of_now_and_then() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=60) as report:
        for number in range(1000):
            report(number / 1000)

    assert seen == []


def test_what_is_told_never_shrinks() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=0) as report:
        for fraction in (0.1, 0.5, 0.3, 0.6):
            report(fraction)

    assert seen == sorted(seen)
    assert {0.1, 0.5, 0.6} == set(seen) - {0.0}


def test_what_is_reported_after_a_task_counts_for_no_other() -> None:
    seen: list[float] = []
    reporter = ProgressReporter(seen.append, every=0)

    with reporter as late:
        late(0.1)
    late(0.9)
    with reporter as report:
        late(0.8)
        report(0.2)

    assert set(seen) - {0.0} == {0.1, 0.2}


def test_a_fraction_may_be_any_number() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=0) as report:
        report(np.float32(0.5))

    assert {type(fraction) for fraction in seen} == {float}
