from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from textwrap import dedent

import pytest

from kit.client.bridge import Bridge, KitLoop, to_thread


@pytest.fixture
def bridge() -> Bridge:
    return Bridge()


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def fail() -> None:
    raise ValueError("as told")


def test_run_returns_the_result(bridge: Bridge) -> None:
    assert bridge.run(double(4)) == 8


def test_run_raises_the_error(bridge: Bridge) -> None:
    with pytest.raises(ValueError, match="as told"):
        bridge.run(fail())


def test_a_blocking_call_works_inside_a_running_loop(bridge: Bridge) -> None:
    async def cell() -> int:
        return bridge.run(double(4))

    assert asyncio.run(cell()) == 8


def test_a_job_is_awaited_from_any_loop(bridge: Bridge) -> None:
    async def cell() -> int:
        return await bridge.submit(double(4))

    assert [asyncio.run(cell()) for _ in range(2)] == [8, 8]


def test_many_threads_share_one_loop(bridge: Bridge) -> None:
    async def thread_id() -> int:
        return threading.get_ident()

    with ThreadPoolExecutor(20) as pool:
        threads = set(pool.map(lambda _: bridge.run(thread_id()), range(100)))

    assert len(threads) == 1


def test_a_job_awaited_on_its_own_loop_raises_an_error(bridge: Bridge) -> None:
    async def outer() -> None:
        job = bridge.submit(double(1))
        with pytest.raises(RuntimeError, match="write `await job`"):
            job.result()
        assert await job == 2

    bridge.run(outer())


def test_a_canceled_job_runs_its_cleanup(bridge: Bridge) -> None:
    started, cleaned = threading.Event(), threading.Event()

    async def long() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    job = bridge.submit(long())
    assert started.wait(5)
    assert job.cancel()
    assert cleaned.wait(5)
    with pytest.raises(CancelledError):
        job.result(5)


def test_jobs_canceled_at_once_do_not_block_the_loop(bridge: Bridge) -> None:
    jobs = [bridge.submit(double(n)) for n in range(50)]
    for job in jobs:
        job.cancel()

    assert bridge.run(double(1)) == 2


def test_canceling_the_await_cancels_the_job(bridge: Bridge) -> None:
    cleaned = threading.Event()

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    async def cell() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(bridge.submit(long()), 0.05)

    asyncio.run(cell())

    assert cleaned.wait(5)


def run_code(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(code)],
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_nested_calls_run_on_the_kits_loop_without_patching_asyncio() -> None:
    done = run_code(
        """
        import asyncio
        from kit.client.bridge import KitLoop, bridge

        run, loop_class = asyncio.run, asyncio.SelectorEventLoop

        async def inner():
            await asyncio.sleep(0.01)
            return 21

        async def outer():
            return bridge.run(inner()) + bridge.run(inner())

        assert bridge.run(outer()) == 42
        assert asyncio.run is run
        assert hasattr(KitLoop, "_nest_patched")
        assert not hasattr(loop_class, "_nest_patched")

        async def cell():
            return await bridge.submit(outer())

        assert asyncio.run(cell()) == 42
        """
    )

    assert done.stderr == ""
    assert done.returncode == 0


def test_a_plain_call_does_not_patch_the_loop_class(bridge: Bridge) -> None:
    bridge.run(double(1))

    assert "_nest_patched" not in vars(asyncio.SelectorEventLoop)
    assert issubclass(KitLoop, asyncio.SelectorEventLoop)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_loop_of_its_own() -> None:
    done = run_code(
        """
        import os, warnings
        from kit.client.bridge import bridge

        async def answer():
            return os.getpid()

        parent = bridge.run(answer())
        warnings.simplefilter("ignore")  # of threads beside a fork
        child = os.fork()
        if child == 0:
            os._exit(0 if bridge.run(answer()) == os.getpid() != parent else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert bridge.run(answer()) == parent
        """
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_cancels_the_await_of_a_thread() -> None:
    release, loop = threading.Event(), asyncio.new_event_loop()
    work = loop.create_task(to_thread(release.wait, 10))
    before = signal.signal(signal.SIGINT, lambda *_: work.cancel())
    # as in a kernel, it does not wake the loop
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    began = time.monotonic()
    try:
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(work)
        assert time.monotonic() - began < 5
    finally:
        signal.signal(signal.SIGINT, before)
        release.set()
        loop.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals work otherwise there")
def test_an_interrupt_cancels_the_job_after_its_cleanup() -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            dedent(
                """
                import asyncio
                from kit.client.bridge import bridge

                async def long():
                    try:
                        print("begun", flush=True)
                        await asyncio.Event().wait()
                    finally:
                        print("cleaned", flush=True)

                try:
                    bridge.run(long())
                except KeyboardInterrupt:
                    print("interrupted", flush=True)
                """
            ),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()

    assert output == "cleaned\ninterrupted\n"
