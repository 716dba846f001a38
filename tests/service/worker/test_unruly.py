"""Engines that fork, chatter, hoard or cling: it costs their own job and no other one."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kit.service.worker.pool import JobError, LostError, Pool
from tests.service.worker.conftest import in_pool
from tests.service.worker.test_pool import alive, silent, task
from tests.waiting import until

Done = Callable[..., list[Any]]
PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture(autouse=True)
def unruly(monkeypatch: pytest.MonkeyPatch, plugins: None) -> None:
    """Let the service and its render processes find the engine."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(PLUGINS), os.environ["PYTHONPATH"])))


def deed(folder: Path, does: str) -> dict[str, Any]:
    return {**task(folder), "model_id": "unruly", "prompt": does, "parameters": {}}


@pytest.fixture
def done(tmp_path: Path) -> Done:
    """Return how some jobs ended, one after another in a pool of one process, and who is left."""

    async def work(pool: Pool, deeds: tuple[str, ...]) -> list[Any]:
        ends: list[Any] = []
        for does in deeds:
            try:
                ends.append((await pool.run("a", deed(tmp_path, does), silent))["metadata"])
            except (JobError, LostError) as error:
                ends.append(error)
        return ends

    scratch = tmp_path / "scratch"
    return lambda *deeds, **bounds: in_pool(partial(work, deeds=deeds), scratch, **bounds)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes")
def test_a_copy_that_an_engine_makes_of_its_process_answers_nothing(done: Done) -> None:
    before, first, nothing, good, raised = done(
        "behaves", "forks", "returns nothing", "behaves", "panics"
    )

    assert first == {"copy": 0}, "the copy has left in good order"
    assert "the engine returned none" in str(nothing)
    assert str(raised) == "the engine failed (_Panic)"
    assert good["process"] == before["process"], "and the process is as good as before"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes")
def test_a_copy_touches_neither_the_files_nor_the_line(done: Done) -> None:
    raising, reporting, good = done("forks and raises", "forks and reports", "behaves")

    assert raising == {"folder": True}
    assert reporting == {"copy": 0}, "it left when it wanted to tell something"
    assert good["process"]


def test_an_answer_that_nobody_can_vouch_for_counts_as_a_crash(done: Done) -> None:
    mischief = ("says something else", "says nonsense", "says a list", "says too much", "says half")
    good, *lost, after = done("behaves", *mischief, "behaves")

    assert [type(end) for end in lost] == [LostError] * len(mischief)
    assert after["process"] != good["process"]


def test_what_is_said_after_the_answer_goes_to_no_other_job(tmp_path: Path) -> None:
    async def work(pool: Pool) -> Any:
        await pool.run("a", deed(tmp_path, "says something later"), silent)
        [child] = pool.idle
        while not child.channel.broken:
            await asyncio.sleep(0.01)
        return child, await pool.run("b", deed(tmp_path, "behaves"), silent)

    noisy, result = in_pool(work, tmp_path)

    assert result["metadata"]["process"] != noisy.process.pid
    assert noisy.process.returncode is not None


def test_a_thread_left_running_reports_for_no_other_job(tmp_path: Path) -> None:
    seen: list[float] = []

    async def work(pool: Pool) -> None:
        await pool.run("a", deed(tmp_path, "reports later"), silent)
        await pool.run("b", deed(tmp_path, "dawdles"), seen.append)

    in_pool(work, tmp_path)

    assert seen == []


@pytest.mark.parametrize("mischief", ["clings", "leaves a process"])
def test_what_an_engine_has_left_running_writes_to_no_other_job(done: Done, mischief: str) -> None:
    first, second, _, third = done("behaves", "behaves", mischief, "behaves")

    assert first["process"] == second["process"]
    # on Windows nobody knows what an engine has started
    assert (first["folder"] == second["folder"]) == (os.name != "nt")
    assert third["process"] == first["process"]
    assert third["folder"] != first["folder"]
    assert not Path(first["folder"]).exists()


def test_a_process_that_is_told_to_end_waits_for_no_thread_and_no_exit_hook(tmp_path: Path) -> None:
    async def work(pool: Pool) -> None:
        await pool.run("a", deed(tmp_path, "clings"), silent)
        [child] = pool.idle
        child.channel.close()
        await asyncio.to_thread(child.process.wait, 20)
        assert await pool.run("b", deed(tmp_path, "behaves"), silent)

    in_pool(work, tmp_path)


def test_a_job_that_hangs_up_holds_up_nobody(done: Done) -> None:
    lost, good = done("hangs up", "behaves")

    assert isinstance(lost, LostError)
    assert good["process"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_what_an_engine_has_started_ends_with_its_process(done: Done) -> None:
    [facts] = done("leaves a process")

    until(lambda: not alive(facts["left"]))


def test_what_an_engine_says_is_cut_to_what_can_be_shown(done: Done) -> None:
    [error] = done("shouts")

    assert isinstance(error, JobError)
    assert error.code == "render_failed"
    assert len(str(error)) == 500
    assert str(error).isprintable()
    assert str(error).startswith("no  [31m no")


def test_an_engine_that_asks_is_not_waited_for(done: Done) -> None:
    asked, good = done("asks", "behaves")

    assert str(asked) == "the engine failed (EOFError)"
    assert good


def test_what_an_engine_writes_just_so_is_its_jobs(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "notebooks"
    here.mkdir()
    monkeypatch.chdir(here)

    first, away, second, good = done("writes here", "wanders", "writes here", "behaves")

    assert not [end for end in (first, away, second, good) if isinstance(end, Exception)]
    assert not list(here.iterdir())
    assert not list((tmp_path / "scratch").rglob("note.txt"))


def test_render_processes_import_nothing_from_where_the_service_was_started(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise ImportError('of the folder, not of the library')")
    monkeypatch.chdir(tmp_path)

    [good] = done("behaves")

    assert good["process"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_memory_that_an_engine_keeps_is_taken_from_no_other_job(done: Done) -> None:
    kept = done(*["keeps memory"] * 2, "behaves", memory=1 << 30)

    assert not [end for end in kept if isinstance(end, Exception)]
    assert len({end["process"] for end in kept[:2]}) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_job_that_needs_too_much_fails_in_a_new_process_too(done: Done) -> None:
    good, big, after = done("behaves", "needs too much", "behaves")

    assert (str(big), big.code) == ("the job needs more memory than it may use", "out_of_memory")
    assert after["process"] != good["process"]


def test_what_an_engine_spoils_for_all_fails_no_job_of_another(done: Done) -> None:
    first, second = done("spoils a library", "uses that library")

    assert second["process"] != first["process"]


def test_an_odd_end_of_a_job_is_told_in_a_clear_sentence(done: Done) -> None:
    odd = {
        "cleans up and fails": ("dry", "the clay is too dry"),
        "cleans up too much": ("bad_result", "cannot be used: its file is missing"),
        "gives up": ("engine_failed", "the engine failed (CanceledError)"),
        "raises an odd name": ("engine_failed", "the engine failed (Too [31m Dry"),
        "hoards": ("bad_result", "its metadata is longer than 64 KB"),
        "fails without a word": ("render_failed", "the engine gives no reason"),
    }
    *errors, good = done(*odd, "behaves")

    for error, (code, sentence) in zip(errors, odd.values(), strict=True):
        assert error.code == code
        assert sentence in str(error)
        assert str(error).isprintable()
    assert good
