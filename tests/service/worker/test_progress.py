"""What a parent is told of a task: now and then, never less than before, nothing after its end."""

import numpy as np

from kit.service.worker.child import ProgressReporter


def test_a_task_that_reports_all_the_time_is_told_of_now_and_then() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=60) as report:
        for number in range(1, 1000):
            report(number / 1000)

    assert seen == [0.001]


def test_what_is_told_never_shrinks() -> None:
    seen: list[float] = []

    with ProgressReporter(seen.append, every=0) as report:
        for fraction in (0.1, 0.5, 0.3, 0.6):
            report(fraction)

    assert seen == [0.1, 0.5, 0.5, 0.6]


def test_nothing_is_told_after_a_task() -> None:
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
