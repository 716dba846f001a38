"""Clips of interrupted jobs: the next attempt continues them, and each is made once."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from kit.engines.base import Asset, Job, Progress
from kit.engines.configured.entries import read
from kit.engines.remote.endpoints import videos as engines
from kit.engines.remote.orders import open_note
from kit.engines.remote.requests import order_of
from kit.engines.remote.site import VideosEntry
from tests.engines.remote.conftest import Answer, Jobs, Server, png

START = ("POST", "/v1/videos")
LEFT = ("GET", "/v1/videos/left")


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    return tmp_path / "copies"


@pytest.fixture
def notes(copies: Path) -> Path:
    return copies / "underway"


def render(server: Server, copies: Path, job: Job) -> Asset:
    data = {"id": "film", "url": server.url, "model": "film-1", "price": 1, "pause": 0.01}
    (engine,) = engines(data, copies, False)
    return engine.render(job, Progress())


def entry(url: str, **more: str) -> VideosEntry:
    return read(VideosEntry, {"id": "film", "url": url, "model": "m", "price": 1, **more})


def leave_note(server: Server, notes: Path, job: Job) -> Path:
    """Leave the note of a process that was killed after it started a clip."""
    notes.mkdir(parents=True)
    path = notes / f"{order_of(entry(server.url, model='film-1'), job)}.clip"
    path.write_text("v1/videos/left")
    return path


def clip(name: str, status: str, **more: Any) -> Answer:
    return Answer(body={"id": name, "status": status, **more})


def test_a_clip_of_an_interrupted_job_is_continued(
    server: Server, job: Jobs, mp4: bytes, copies: Path, notes: Path
) -> None:
    order = job()
    note = leave_note(server, notes, order)
    server.on(*LEFT, clip("an-alias", "in_progress"), clip("an-alias", "completed"))
    server.on("GET", "/v1/videos/left/content", Answer(body=mp4))

    assert render(server, copies, order).width == 32
    assert server.to(*START) == []
    assert not note.exists()


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404, {"detail": "Video not found"}),
        clip("left", "failed"),
        Answer(500, {"id": "left", "status": "failed"}),
    ],
)
def test_a_clip_that_is_lost_or_failed_is_started_again(
    server: Server, job: Jobs, mp4: bytes, copies: Path, notes: Path, answer: Answer
) -> None:
    order = job()
    leave_note(server, notes, order)
    server.on(*LEFT, answer)
    server.on(*START, clip("new", "completed"))
    server.on("GET", "/v1/videos/new/content", Answer(body=mp4))

    assert render(server, copies, order).width == 32
    assert len(server.to(*START)) == 1


def test_two_jobs_with_the_same_order_have_their_own_notes(tmp_path: Path) -> None:
    with open_note(tmp_path, "order") as first:
        first.write("v1/videos/first")
        with open_note(tmp_path, "order") as second:
            assert second.address == ""
            second.write("v1/videos/second")
        assert (tmp_path / "order.clip").read_text() == "v1/videos/first"


def test_an_old_note_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / "old.clip", tmp_path / "new.clip"
    for path in (old, new):
        path.write_text("v1/videos/x")
    os.utime(old, (time.time() - 90_000,) * 2)

    with open_note(tmp_path, "other"):
        assert not old.exists()
        assert new.exists()


def test_an_order_id_depends_on_everything_that_makes_the_clip(job: Jobs, tmp_path: Path) -> None:
    site = entry("https://host")
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(png(8))
    two.write_bytes(png(9))
    jobs = [
        job("a"),
        job("b"),
        job("a", seed=8),
        job("a", parameters={"seconds": 4}),
        job("a", media={"image": [one]}),
        job("a", media={"image": [two]}),
    ]
    orders = {order_of(site, each) for each in jobs}
    orders |= {order_of(entry("https://other"), jobs[0])}
    orders |= {order_of(entry("https://host", model="n"), jobs[0])}
    orders |= {order_of(entry("https://host", path="video"), jobs[0])}

    assert len(orders) == 9
    assert order_of(site, job("a")) in orders
