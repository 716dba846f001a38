import threading
from pathlib import Path

import pytest

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.editing.attending import attended


def job(folder: Path) -> Job:
    return Job(prompt="", parameters={}, folder=folder)


def test_a_cancel_does_not_wait_for_work_that_cannot_be_stopped(tmp_path: Path) -> None:
    release, stopped = threading.Event(), threading.Event()

    def edit(job: Job, progress: Progress) -> Asset:
        progress.report(0.2)
        release.wait(20)
        try:
            progress.check()
        except CanceledError:
            stopped.set()
            raise
        raise AssertionError

    progress = Progress(lambda done: progress.cancel() if done else None)
    with pytest.raises(CanceledError):
        attended(job(tmp_path), progress, edit)

    release.set()
    assert stopped.wait(20)


def test_work_without_news_is_reported_again_and_again(tmp_path: Path) -> None:
    enough = threading.Event()
    seen: list[float] = []

    def hear(done: float) -> None:
        seen.append(done)
        if seen.count(0.4) == 3:
            enough.set()

    def edit(job: Job, progress: Progress) -> Asset:
        progress.report(0.4)
        assert enough.wait(20)
        progress.report(1.0)
        return Asset(path=tmp_path, content_type="image/png", width=1, height=1)

    assert attended(job(tmp_path), Progress(hear), edit).width == 1
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_what_goes_wrong_is_raised_as_it_is(tmp_path: Path) -> None:
    def edit(job: Job, progress: Progress) -> Asset:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        attended(job(tmp_path), Progress(), edit)
