"""The progress reports of a task: limited in rate, never decreasing, none after its end."""

import numpy as np

from kit.service.worker.child import ProgressReporter


def test_frequent_progress_is_reported_at_intervals() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=60) as report:
        for number in range(1, 1000):
            report(number / 1000)

    assert seen == [0.001]


def test_reported_progress_never_decreases() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=0) as report:
        for fraction in (0.1, 0.5, 0.3, 0.6):
            report(fraction)

    assert seen == [0.1, 0.5, 0.5, 0.6]


def test_no_progress_is_reported_after_a_task() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=0) as late:
        late(0.1)
    late(0.9)

    assert seen == [0.1]


def test_a_fraction_may_be_any_number() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=0) as report:
        report(np.float32(0.5))

    assert {type(fraction) for fraction in seen} == {float}
