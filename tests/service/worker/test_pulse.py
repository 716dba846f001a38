"""Reports go on while an engine is in a long call, and never backwards."""

import threading

from kit.service.worker.pulse import Pulse


def test_a_silent_task_is_told_of_again_and_again() -> None:
    enough = threading.Event()
    seen: list[float] = []

    def tell(fraction: float) -> None:
        seen.append(fraction)
        if seen.count(0.4) == 3:
            enough.set()

    with Pulse(tell, every=0.01) as pulse:
        pulse.report(0.4)
        assert enough.wait(20)

    assert seen == sorted(seen)
    assert not any(thread.name == "pulse" for thread in threading.enumerate())


def test_a_task_that_reports_all_the_time_is_told_of_now_and_then() -> None:
    seen: list[float] = []

    with Pulse(seen.append, every=60) as pulse:
        for number in range(1000):
            pulse.report(number / 1000)

    assert seen == []


def test_what_is_told_never_shrinks() -> None:
    seen: list[float] = []

    with Pulse(seen.append, every=0) as pulse:
        for fraction in (0.1, 0.5, 0.3, 0.6):
            pulse.report(fraction)

    assert seen == sorted(seen)
    assert {0.1, 0.5, 0.6} == set(seen) - {0.0}
