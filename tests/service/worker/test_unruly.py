"""Engines that fork, write to the channel or keep threads: it affects only their own job."""

import asyncio
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kit.service.worker.pool import JobError, LostError, Pool
from tests.service.worker.conftest import use_pool
from tests.service.worker.test_pool import ignore, is_alive, task
from tests.waiting import until

RunJobs = Callable[..., list[Any]]
PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture(autouse=True)
def unruly_engine(monkeypatch: pytest.MonkeyPatch, plugins: None) -> None:
    """Let the service and its render processes find the engine."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(PLUGINS), os.environ["PYTHONPATH"])))


def make_task(folder: Path, does: str) -> dict[str, Any]:
    return {**task(folder), "model_id": "unruly", "prompt": does, "parameters": {}}


@pytest.fixture
def run_jobs(tmp_path: Path) -> RunJobs:
    """Run jobs one after another in a pool of one process; return their metadata or errors."""

    async def work(pool: Pool, names: tuple[str, ...]) -> list[Any]:
        ends: list[Any] = []
        for does in names:
            try:
                ends.append((await pool.run("a", make_task(tmp_path, does), ignore))["metadata"])
            except (JobError, LostError) as error:
                ends.append(error)
        return ends

    scratch = tmp_path / "scratch"
    return lambda *names, **bounds: use_pool(partial(work, names=names), scratch, **bounds)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_copy_of_a_render_process_sends_no_result(run_jobs: RunJobs) -> None:
    before, first, nothing, good, raised = run_jobs(
        "behaves", "forks", "returns nothing", "behaves", "panics"
    )

    assert first == {"copy": 0}, "the copy exited cleanly"
    assert "render returned 'NoneType', not an Asset" in str(nothing)
    assert str(raised) == "the engine failed (_Panic)"
    assert good["process"] == before["process"], "the process is still used"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_copy_uses_neither_the_files_nor_the_connection(run_jobs: RunJobs) -> None:
    raising, reporting, good = run_jobs("forks and raises", "forks and reports", "behaves")

    assert raising == {"folder": True}
    assert reporting == {"copy": 0}, "it exited when it tried to report"
    assert good["process"]


def test_an_invalid_message_or_a_closed_connection_counts_as_a_crash(run_jobs: RunJobs) -> None:
    says = [f"says {what}" for what in ("something else", "nonsense", "a list", "too much", "half")]
    behavior = *says, "hangs up"
    good, *lost, after = run_jobs("behaves", *behavior, "behaves")

    assert [type(end) for end in lost] == [LostError] * len(behavior)
    assert after["process"] != good["process"]


def test_a_message_after_the_result_goes_to_no_other_job(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        await pool.run("a", make_task(tmp_path, "says something later"), ignore)
        [child] = pool.idle
        while not child.channel.broken:
            await asyncio.sleep(0.01)
        return child, await pool.run("b", make_task(tmp_path, "behaves"), ignore)

    noisy, result = use_pool(work, tmp_path)

    assert result["metadata"]["process"] != noisy.process.pid
    assert noisy.process.returncode is not None


def test_a_remaining_thread_reports_progress_for_no_other_job(tmp_path: Path) -> None:
    seen: list[float] = []

    async def work(pool: Pool) -> None:
        await pool.run("a", make_task(tmp_path, "reports later"), ignore)
        await pool.run("b", make_task(tmp_path, "dawdles"), seen.append)

    use_pool(work, tmp_path)

    assert seen == []


@pytest.mark.parametrize("behavior", ["clings", "leaves a process"])
def test_left_threads_and_processes_affect_no_other_job(run_jobs: RunJobs, behavior: str) -> None:
    first, second, _, third = run_jobs("behaves", "behaves", behavior, "behaves")

    assert first["process"] == second["process"]
    # on Windows the processes that an engine started are unknown
    assert (first["folder"] == second["folder"]) == (os.name != "nt")
    assert third["process"] == first["process"]
    assert third["folder"] != first["folder"]
    assert not Path(first["folder"]).exists()


def test_a_process_ends_without_waiting_for_threads_or_exit_hooks(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        await pool.run("a", make_task(tmp_path, "clings"), ignore)
        [child] = pool.idle
        child.channel.close()
        await asyncio.to_thread(child.process.wait, 20)
        assert await pool.run("b", make_task(tmp_path, "behaves"), ignore)

    use_pool(work, tmp_path)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_processes_that_an_engine_started_end_with_its_process(run_jobs: RunJobs) -> None:
    [facts] = run_jobs("leaves a process")

    until(lambda: not is_alive(facts["left"]))


def test_an_error_message_is_shortened_and_printable(run_jobs: RunJobs) -> None:
    [error] = run_jobs("shouts")

    assert isinstance(error, JobError)
    assert error.code == "render_failed"
    assert len(str(error)) == 500
    assert str(error).isprintable()
    assert str(error).startswith("no  [31m no")


def test_render_processes_neither_use_nor_need_the_working_directory(
    run_jobs: RunJobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here := tmp_path / "notebooks").mkdir()
    (here / "random.py").write_text("raise ImportError('of the folder, not of the library')")
    monkeypatch.chdir(here)

    ends = run_jobs("writes here", "wanders", "writes here", "behaves")

    assert not [end for end in ends if isinstance(end, Exception)]
    assert [path.name for path in here.iterdir()] == ["random.py"]
    assert not list((tmp_path / "scratch").rglob("note.txt"))
    if os.name != "nt":  # which keeps it
        shutil.rmtree(here)
        monkeypatch.syspath_prepend("")  # as in a kernel
    assert run_jobs("behaves")[0]["process"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_memory_that_an_engine_keeps_does_not_limit_other_jobs(run_jobs: RunJobs) -> None:
    kept = run_jobs(*["keeps memory"] * 2, "behaves", memory=1 << 30)

    assert not [end for end in kept if isinstance(end, Exception)]
    assert len({end["process"] for end in kept[:2]}) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_job_that_needs_too_much_memory_fails_in_a_new_process(
    run_jobs: RunJobs, capfd: pytest.CaptureFixture[str]
) -> None:
    good, big, after = run_jobs("behaves", "needs too much", "behaves")

    assert (str(big), big.code) == ("the job needs more memory than it may use", "out_of_memory")
    assert "KIT_JOB_MEMORY_BYTES limits" in capfd.readouterr().err
    assert after["process"] != good["process"]


def test_global_state_that_an_engine_breaks_fails_no_other_job(run_jobs: RunJobs) -> None:
    first, second = run_jobs("spoils a library", "uses that library")

    assert second["process"] != first["process"]


def test_unusual_failures_of_a_job_have_a_clear_message(run_jobs: RunJobs) -> None:
    expected = {
        "cleans up and fails": ("dry", "the clay is too dry"),
        "cleans up too much": ("bad_result", "cannot be used: its file is missing"),
        "gives up": ("engine_failed", "the engine failed (CanceledError)"),
        "raises an odd name": ("engine_failed", "the engine failed (Too [31m Dry"),
        "asks": ("engine_failed", "the engine failed (EOFError)"),
        "hoards": ("bad_result", "its metadata is longer than 64 KB"),
        "fails without a word": ("render_failed", "the engine gives no reason"),
    }
    *errors, good = run_jobs(*expected, "behaves")

    for error, (code, sentence) in zip(errors, expected.values(), strict=True):
        assert error.code == code
        assert sentence in str(error)
        assert str(error).isprintable()
    assert good
