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
    for thread in threading.enumerate():
        if thread.name == "pulse":
            thread.join(20)
    assert not any(thread.name == "pulse" for thread in threading.enumerate())


def test_one_pulse_serves_many_tasks_with_one_thread_and_tells_of_none_between() -> None:
    seen: list[float] = []
    enough = threading.Event()

    def tell(fraction: float) -> None:
        seen.append(fraction)
        enough.set()

    pulse = Pulse(tell, every=0.2)
    for _ in range(50):
        with pulse:
            pulse.report(0.9)
    assert [thread.name for thread in threading.enumerate()].count("pulse") == 1
    assert seen == []

    with pulse:
        pulse.report(0.1)
        assert enough.wait(20)

    assert set(seen) == {0.1}


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
