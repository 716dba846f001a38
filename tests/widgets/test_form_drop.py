from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kit.errors import UploadError
from kit.widgets.form import uploads as module
from kit.widgets.form.uploads import Drop, Offer
from tests.widgets.dropping import Page
from tests.widgets.forming import Stage

LAKE, HILL = os.urandom(2500), os.urandom(1000)


@dataclass
class Field:
    """What a zone tells a field, and what the field thinks of it."""

    folder: Path
    checked: list[Sequence[Offer]] = field(default_factory=list)
    taken: list[Path] = field(default_factory=list)
    problem: str | None = None
    broken: Exception | None = None

    def check(self, offers: Sequence[Offer]) -> str | None:
        self.checked.append(offers)
        return self.problem

    def save(self, name: str, content: memoryview, settle: Any) -> Path:
        if self.broken:
            raise self.broken
        path = self.folder / name
        path.write_bytes(content)
        return path


@pytest.fixture
def one(tmp_path: Path) -> Field:
    kept = tmp_path / "kept"
    kept.mkdir()
    return Field(kept)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "not yet" / "spool"


@pytest.fixture
def zone(one: Field, stage: Stage, spool: Path) -> Drop:
    return Drop(
        check=one.check,
        keep=one.save,
        take=one.taken.append,
        background=stage.background,
        folder=spool,
        label="portrait",
    )


@pytest.fixture
def page(zone: Drop, stage: Stage) -> Page:
    return Page(zone, stage.run)


def test_a_file_arrives_in_pieces(page: Page, one: Field) -> None:
    assert page.give(("lake.png", LAKE), type="image/png") == {"done": True}

    assert one.checked == [[Offer("lake.png", "image/png", 2500)]]
    assert one.taken == [one.folder / "lake.png"]
    assert one.taken[0].read_bytes() == LAKE


def test_files_arrive_one_after_the_other(page: Page, one: Field, stage: Stage) -> None:
    files = (("lake.png", LAKE), ("hill.png", HILL))

    assert page.give(*files) == {"done": True}

    assert [path.read_bytes() for path in one.taken] == [LAKE, HILL]
    assert stage.timers == {}


def test_what_does_not_fit_is_said_before_anything_is_sent(page: Page, one: Field) -> None:
    one.problem = "takes a picture"

    assert page.give(("lake.mp3", LAKE)) == {"no": "takes a picture"}
    assert page.sent == 1
    assert "canceled" in page.say("piece", file=0, at=0, piece=LAKE)["no"]


def test_a_file_that_no_disk_holds_is_refused(page: Page) -> None:
    answer = page.say("offer", files=[{"name": "x", "type": "", "size": 10**18}] * 2)

    assert answer["no"].startswith("the kernel's disk has no room for it: ")
    # a third time where the file cannot be kept without a copy
    assert answer["no"].endswith(
        (" 2,000,000,000,000 MB are needed", "3,000,000,000,000 MB are needed")
    )


def test_a_lost_answer_is_asked_for_again(page: Page, one: Field, stage: Stage) -> None:
    files = (("lake.png", LAKE),)
    wanted = page.offer(*files)
    page.piece(files, wanted)

    # the kernel has it: neither asking nor sending it twice changes anything
    assert page.say("where") == {"file": 0, "at": 1000}
    assert page.piece(files, wanted) == {"file": 0, "at": 1000}
    page.piece(files, {"file": 0, "at": 1000})
    assert page.say("piece", file=0, at=2000, piece=LAKE[2000:]) is None
    assert page.say("where") == {"wait": True}
    assert page.say("piece", file=0, at=2000, piece=LAKE[2000:]) == {"wait": True}
    stage.run()
    assert page.say("where") == {"done": True}

    assert one.taken[0].read_bytes() == LAKE


def test_pieces_in_another_order_are_not_taken(page: Page) -> None:
    page.offer(("lake.png", LAKE), ("hill.png", HILL))

    assert page.say("piece", file=0, at=1000, piece=LAKE[1000:]) == {"file": 0, "at": 0}
    assert page.say("piece", file=1, at=0, piece=HILL) == {"file": 0, "at": 0}


@pytest.mark.parametrize("piece", [b"", LAKE + b"!"])
def test_a_file_that_changes_on_its_way_is_given_up(page: Page, one: Field, piece: bytes) -> None:
    page.offer(("lake.png", LAKE))

    answer = page.say("piece", file=0, at=0, piece=piece)

    assert answer == {"no": "lake.png has changed: choose it again"}
    assert "canceled" in page.say("where")["no"]
    assert one.taken == []


def test_a_canceled_file_is_neither_kept_nor_taken(page: Page, one: Field, stage: Stage) -> None:
    page.offer(("lake.png", LAKE))
    assert page.say("stop") is None
    assert "canceled" in page.say("piece", file=0, at=0, piece=LAKE)["no"]

    # and one that is being kept is not put into the field
    page.offer(("lake.png", LAKE))
    page.say("piece", file=0, at=0, piece=LAKE)
    page.say("stop", id="of another page")
    page.say("stop")
    stage.run()

    assert one.taken == []
    assert stage.timers == {}


def test_a_page_that_is_loaded_anew_takes_over(page: Page, one: Field) -> None:
    page.offer(("lake.png", LAKE), id="old")

    assert page.give(("hill.png", HILL), id="new") == {"done": True}
    assert "canceled" in page.say("piece", id="old", file=0, at=0, piece=LAKE)["no"]
    assert one.taken == [one.folder / "hill.png"]


def test_what_nobody_goes_on_with_is_forgotten(page: Page, stage: Stage) -> None:
    files = (("lake.png", LAKE),)
    page.piece(files, page.offer(*files))
    stage.wait(module.TIMEOUT_SECONDS - 1)
    assert page.piece(files, {"file": 0, "at": 1000}) == {"file": 0, "at": 2000}

    stage.wait(module.TIMEOUT_SECONDS + 1)

    assert "canceled" in page.say("where")["no"]


@pytest.mark.skipif(os.name == "nt", reason="files of Windows have names")
def test_half_a_file_has_no_name(page: Page, zone: Drop, spool: Path) -> None:
    files = (("lake.png", LAKE),)
    page.piece(files, page.offer(*files))

    assert list(spool.iterdir()) == []
    zone.close()
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (UploadError("no place for files"), "no place for files"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (RuntimeError("odd"), "RuntimeError('odd')"),
    ],
)
def test_a_file_that_cannot_be_kept_is_said(
    page: Page, one: Field, broken: Exception, sentence: str
) -> None:
    one.broken = broken

    assert page.give(("lake.png", LAKE)) == {"no": f"The file was not kept: {sentence}"}
    one.broken = None
    assert page.give(("lake.png", LAKE), id="two") == {"done": True}


def test_a_message_that_makes_no_sense_is_answered_or_ignored(page: Page) -> None:
    assert page.say("dance") is None
    assert "KeyError" in page.say("offer")["no"]
    assert "no" in page.say("offer", files=[])


def test_two_threads_never_write_the_same_piece_twice(page: Page, one: Field, stage: Stage) -> None:
    page.offer(("lake.png", LAKE))
    start = threading.Barrier(8)

    def send() -> None:
        start.wait()
        message = {"do": "piece", "id": "one", "n": 2, "file": 0, "at": 0}
        data = {"method": "custom", "content": message}
        page.call({"content": {"data": data}, "buffers": [memoryview(LAKE)]})

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stage.run()

    assert one.taken[0].read_bytes() == LAKE
    assert len(one.taken) == 1


def test_nothing_of_a_file_is_in_the_state(page: Page, zone: Drop) -> None:
    before = zone.get_state()

    page.give(("lake.png", LAKE))

    assert zone.get_state() == before
    assert len(zone._esm) < 6000
    assert "http" not in zone._esm


def loaded(code: str) -> set[str]:
    """What a fresh interpreter has imported after some code."""
    code = f"import sys; {code}; print(*sys.modules)"
    done: Any = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_a_form_without_media_does_not_load_what_a_zone_needs() -> None:
    form = "from kit import wire; from kit.widgets.form import Form"

    assert "anywidget" not in loaded(f"{form}; Form(wire.Model(id='poster'))")
    medium = "wire.Parameter(name='face', type='image', media=True)"
    made = loaded(f"{form}; Form(wire.Model(id='poster', media_parameters=[{medium}]))")
    assert "anywidget" in made
