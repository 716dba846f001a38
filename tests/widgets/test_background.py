"""Background work of widgets: few threads, which are used again."""

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest

from kit.widgets.background import run_in_thread, run_later
from tests.waiting import until


class Work:
    """A function that records the threads on which it ran."""

    def __init__(self) -> None:
        self.threads: set[threading.Thread] = set()
        self.ended = threading.Event()

    def run(self) -> None:
        self.threads.add(threading.current_thread())
        self.ended.set()


@pytest.mark.parametrize("begin", [run_in_thread, partial(run_later, 0)])
def test_works_one_after_another_share_few_threads(begin: Callable[..., object]) -> None:
    # In a kernel each thread that updates a widget keeps a socket for up to 10 s after its end.
    work = Work()
    for _ in range(200):
        work.ended.clear()
        begin(work.run)
        assert work.ended.wait(10)

    assert len(work.threads) < 50


def test_works_at_the_same_time_do_not_wait_for_each_other() -> None:
    meeting = threading.Barrier(30)

    def meet() -> None:
        meeting.wait(10)

    for _ in range(29):
        run_in_thread(meet)
    meeting.wait(10)


def test_a_thread_works_for_the_kernel_of_the_page_that_started_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Solara shows a widget on the page for which the thread that makes it was started.
    def run() -> set[threading.Thread]:
        work = Work()
        run_in_thread(work.run)
        until(lambda: any(thread.name == "kit-form-idle" for thread in work.threads))
        return work.threads

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    first, one = run(), shell.kernel
    shell.kernel = object()
    second = run()
    shell.kernel = one

    assert first != second
    assert run() == first


def test_canceled_work_is_not_run_and_an_idle_thread_keeps_no_work() -> None:
    canceled, work = Work(), Work()
    run_later(0.02, canceled.run)()
    run_later(0.05, work.run)
    assert work.ended.wait(10)
    assert not canceled.ended.is_set()

    kept = [weakref.ref(canceled), weakref.ref(work)]
    del canceled, work
    until(lambda: all(one() is None for one in kept))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    code = """
import os, threading
from kit.widgets.background import run_in_thread, run_later

def run(begin):
    ended = threading.Event()
    begin(ended.set)
    print(ended.wait(10), flush=True)

run(run_in_thread)
child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    run(run_in_thread)
    run(lambda work: run_later(0, work))
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.stdout == "True\n" * 3
