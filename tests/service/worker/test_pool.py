"""Render processes: a crash, a hang or a cancel affects one job, and none outlives its parent."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.service.worker.pool import ENVIRONMENT, JobError, LostError, Pool
from tests.conftest import PLUGINS
from tests.service.worker.conftest import use_pool
from tests.waiting import until

WithPool = Callable[..., Any]


def task(folder: Path, does: str = "works") -> dict[str, Any]:
    return {
        "do": "render",
        "generation_id": "gen_01JD0000000000000000000000",
        "engines": [str(folder / "engines.toml"), str(folder / "engines.cache")],
        "outputs": str(folder / "objects"),
        "model_id": "flat",
        "prompt": "x",
        "parameters": {"does": does},
        "seed": 7,
        "media": {},
        "seconds": {},
    }


#: The behavior of macOS since version 12.3.
LIKE_MACOS = """\
import resource

allow = resource.setrlimit


def setrlimit(which, limits):
    if which == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    allow(which, limits)


resource.setrlimit = setrlimit
"""


def ignore(_: float) -> None:
    """Ignore progress."""


def test_a_job_returns_the_facts_about_its_file(with_pool: WithPool, tmp_path: Path) -> None:
    seen: list[float] = []

    result = with_pool(lambda pool: pool.run("a", task(tmp_path), seen.append))

    kept = tmp_path / "objects" / result["key"]
    assert kept.stat().st_size == result["size_bytes"]
    assert (result["width"], result["height"], result["metadata"]) == (1, 1, {"seed": 7})
    assert "thumbnail" not in result  # one pixel is small enough
    assert len(result["sha256"]) == 64
    assert all(0 <= fraction <= 1 for fraction in seen)


def test_a_render_process_uses_the_path_of_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.syspath_prepend(PLUGINS)

    result = use_pool(lambda pool: pool.run("a", task(tmp_path), ignore), tmp_path / "scratch")

    assert result["width"] == 1


def test_the_job_after_a_crash_works(with_pool: WithPool, tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(LostError):
            await pool.run("a", task(tmp_path, "crashes"), ignore)
        return await pool.run("b", task(tmp_path), ignore)

    assert with_pool(work)["content_type"] == "image/png"


@pytest.mark.parametrize(
    ("does", "code", "sentence"),
    [
        ("fails", "dry", "the clay is too dry"),
        ("overflows", "not_stored", "there is no room for the result; try again later"),
        (
            "babbles",
            "bad_result",
            "the engine's result cannot be used: its metadata makes no sense",
        ),
        ("strays", "bad_result", "cannot be used: its file lies outside the job's folder"),
    ],
)
def test_a_failure_that_an_engine_reports_keeps_the_process(
    with_pool: WithPool, tmp_path: Path, does: str, code: str, sentence: str
) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(JobError) as caught:
            await pool.run("a", task(tmp_path, does), ignore)
        [child] = pool.idle
        await pool.run("b", task(tmp_path), ignore)
        return caught.value, child.process is pool.idle[0].process

    error, same = with_pool(work)

    assert error.code == code
    assert sentence in str(error)
    assert str(tmp_path) not in str(error)
    assert same


def test_a_job_of_a_missing_model_fails_with_its_code(with_pool: WithPool, tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(JobError, match="the model is not offered any more") as caught:
            await pool.run("a", {**task(tmp_path), "model_id": "uninstalled"}, ignore)
        return caught.value.code

    assert with_pool(work) == "model_gone"


@pytest.mark.parametrize(("does", "kind"), [("raises", "RuntimeError"), ("quits", "SystemExit")])
def test_after_an_unexpected_failure_the_process_is_not_used_again(
    tmp_path: Path, does: str, kind: str
) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(JobError) as caught:
            await pool.run("a", task(tmp_path, does), ignore)
        assert not pool.idle
        await pool.run("b", task(tmp_path), ignore)
        return caught.value

    error = use_pool(work, tmp_path / "scratch")

    assert (str(error), error.code) == (f"the engine failed ({kind})", "engine_failed")


def test_a_job_that_hangs_times_out(with_pool: WithPool, tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(JobError, match=r"longer than 0\.2 s") as caught:
            await pool.run("a", task(tmp_path, "hangs"), ignore)
        return caught.value.code

    assert with_pool(work, seconds=0.2) == "timed_out"


def test_a_canceled_job_ends_soon_and_its_process_is_kept(
    with_pool: WithPool, tmp_path: Path
) -> None:
    async def work(pool: Pool) -> Any:
        await pool.run("first", task(tmp_path), ignore)
        [child] = pool.idle
        took = []
        for _ in range(3):
            started = asyncio.Event()
            report = lambda _, started=started: started.set()  # noqa: E731
            job = asyncio.create_task(pool.run("a", task(tmp_path, "hangs"), report))
            await started.wait()
            canceled = time.perf_counter()
            pool.cancel("a")
            with pytest.raises((JobError, LostError), match="canceled"):
                await job
            async with asyncio.timeout(5):  # the pool is never idle if the process was killed
                while not pool.idle:
                    await asyncio.sleep(0.001)
            took.append(time.perf_counter() - canceled)
            assert pool.idle[0].process is child.process
        return min(took)

    try:
        took = with_pool(work)
    except TimeoutError:  # on a loaded machine the process may exceed its grace, and is killed
        took = with_pool(work)
    assert took < 0.15, "the engine checks every 20 ms"


@pytest.mark.skipif(os.name != "posix", reason="passes a socket by its number")
def test_a_late_cancel_does_not_end_the_next_job(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    limits = (theirs.fileno(), 0, 0, 0)
    command = [sys.executable, "-m", "kit.service.worker.child", *map(str, limits)]
    with subprocess.Popen(command, pass_fds=limits[:1]) as process, ours:
        theirs.close()
        lines = ours.makefile("rb")

        def send(**message: Any) -> None:
            ours.sendall(json.dumps(message).encode() + b"\n")

        def receive() -> Any:
            return json.loads(lines.readline())

        assert receive()["task"] == ""
        send(**task(tmp_path, "hangs"), folder=str(tmp_path / "job"), task="second")
        send(cancel="first")
        assert [receive().get("progress") for _ in range(5)] == [0.5] * 5
        send(cancel="second")
        until(lambda: receive().get("error"), lambda error: error == "canceled")
        third = {**task(tmp_path, "deaf"), "folder": str(tmp_path / "job"), "task": "third"}
        ours.sendall(b'%b\n{"cancel": "third"}\n' % json.dumps(third).encode())
        assert receive().get("error") == "canceled", "before it has begun"
        ours.shutdown(socket.SHUT_RDWR)
        assert process.wait(20) == 1, "it ends with its parent"


def test_a_cancel_ends_only_its_job_even_if_that_ignores_it(
    with_pool: WithPool, tmp_path: Path
) -> None:
    async def work(pool: Pool) -> Any:
        started = asyncio.Event()
        job = asyncio.create_task(pool.run("a", task(tmp_path, "deaf"), lambda _: started.set()))
        await started.wait()
        assert pool.cancel("b") is False
        assert pool.cancel("a") is True
        with pytest.raises(LostError):
            await job
        assert pool.cancel("a") is False
        return await pool.run("b", task(tmp_path), ignore)

    assert with_pool(work)["size_bytes"] > 0


def test_a_job_uses_a_process_that_is_starting(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        await pool.warm(1)
        [child] = pool.idle
        await pool.run("a", task(tmp_path), ignore)
        return child.process is pool.idle[0].process

    assert use_pool(work, tmp_path, slots=2)


def test_closing_a_pool_ends_every_process(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        await pool.warm()
        [child] = pool.idle
        pool.close()
        return child.process.returncode

    assert use_pool(work, tmp_path) == -getattr(signal, "SIGKILL", -1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_job_may_not_use_more_memory_than_allowed(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(LostError, match="exit code"):
            await pool.run("a", task(tmp_path), ignore)

    use_pool(work, tmp_path / "scratch", memory=1 << 20)


def test_jobs_are_rendered_if_the_system_cannot_limit_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(LIKE_MACOS)
    paths = os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"]))
    monkeypatch.setenv("PYTHONPATH", paths)

    result = use_pool(lambda pool: pool.run("a", task(tmp_path), ignore), tmp_path / "scratch")

    assert result["width"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_job_that_uses_up_its_processor_time_times_out(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(JobError, match="more than 1 s of processor time") as raised:
            await pool.run("a", task(tmp_path, "burns"), ignore)
        assert raised.value.code == "timed_out"
        return await pool.run("b", task(tmp_path), ignore)

    assert use_pool(work, tmp_path / "scratch", cpu_seconds=1)["width"] == 1


def test_files_that_an_engine_leaves_are_removed(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        with pytest.raises(JobError):
            await pool.run("a", task(tmp_path, "fails"), ignore)
        await pool.run("b", task(tmp_path), ignore)
        return [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]

    assert use_pool(work, tmp_path / "scratch") == []


def test_the_output_of_an_engine_goes_to_the_log_if_there_is_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "service.log"

    for given in (log, None):
        with pytest.raises(JobError):
            use_pool(
                lambda pool: pool.run("a", task(tmp_path, "raises"), ignore), tmp_path, log=given
            )

    named = "gen_01JD0000000000000000000000 of flat: Traceback (most recent call last):"
    assert log.read_text().count(named) == 1
    assert capfd.readouterr().err.count(named) == 1


_PARENT = """
import asyncio, os, sys
from pathlib import Path
from kit.service.worker.pool import Pool
from tests.service.worker.test_pool import task

async def main():
    pool = Pool(1, seconds=60, cpu_seconds=60, memory=4 << 30, scratch=Path(sys.argv[1]))
    await pool.warm()
    [child] = pool.idle
    begun = lambda _: print(child.process.pid, flush=True)
    await pool.run("a", task(Path(sys.argv[1]), "hangs"), begun)

asyncio.run(main())
"""


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_a_render_process_gets_library_settings_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_API_KEY", "of no business to an engine")

    async def work(pool: Pool) -> list[str]:
        await pool.warm()
        [child] = pool.idle
        await child.channel.wait_ready()  # while it starts, the file may be empty
        return Path(f"/proc/{child.process.pid}/environ").read_text().split("\0")

    variables = use_pool(work, tmp_path)

    assert {f"{name}={value}" for name, value in ENVIRONMENT.items()} <= set(variables)
    assert not any("KIT_API_KEY" in line or "business" in line for line in variables)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_a_render_process_is_killed_first_when_memory_runs_out(tmp_path: Path) -> None:
    async def work(pool: Pool) -> str:
        await pool.run("a", task(tmp_path), ignore)
        [child] = pool.idle
        return Path(f"/proc/{child.process.pid}/oom_score_adj").read_text().strip()

    assert use_pool(work, tmp_path) == "1000"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_a_busy_process_ends_with_its_parent(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join([root, os.environ["PYTHONPATH"]])
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert parent.stdout
    with parent.stdout:
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
        parent.wait()

    until(lambda: not is_alive(pid))


def test_a_job_that_is_canceled_during_its_start_leaves_no_process(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        for _ in range(3):
            job = asyncio.create_task(pool.run("a", task(tmp_path), ignore))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job
        assert pool.cancel("a") is False
        return await pool.run("b", task(tmp_path), ignore)

    assert use_pool(work, tmp_path)["size_bytes"] > 0
