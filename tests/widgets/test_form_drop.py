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
from tests.widgets.drop_page import Page
from tests.widgets.forms import Clock

LAKE, HILL = os.urandom(2500), os.urandom(1000)


@dataclass
class Field:
    """A field that records what its drop zone checks and takes."""

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
def box(tmp_path: Path) -> Field:
    folder = tmp_path / "kept"
    folder.mkdir()
    return Field(folder)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "not yet" / "spool"


@pytest.fixture
def zone(box: Field, clock: Clock, spool: Path) -> Drop:
    return Drop(
        check=box.check,
        keep=box.save,
        take=box.taken.append,
        background=clock.background,
        folder=spool,
        label="portrait",
    )


@pytest.fixture
def page(zone: Drop, clock: Clock) -> Page:
    return Page(zone, clock.run)


def test_a_file_arrives_in_pieces(page: Page, box: Field) -> None:
    assert page.drop(("lake.png", LAKE), type="image/png") == {"done": True}

    assert box.checked == [[Offer("lake.png", "image/png", 2500)]]
    assert box.taken == [box.folder / "lake.png"]
    assert box.taken[0].read_bytes() == LAKE


def test_files_arrive_one_after_the_other(page: Page, box: Field, clock: Clock) -> None:
    files = (("lake.png", LAKE), ("hill.png", HILL))

    assert page.drop(*files) == {"done": True}

    assert [path.read_bytes() for path in box.taken] == [LAKE, HILL]
    assert clock.timers == {}


def test_a_file_that_the_field_refuses_is_rejected_before_upload(page: Page, box: Field) -> None:
    box.problem = "takes a picture"

    assert page.drop(("lake.mp3", LAKE)) == {"no": "takes a picture"}
    assert page.sent == 1
    assert "canceled" in page.post("piece", file=0, at=0, piece=LAKE)["no"]


def test_a_file_larger_than_the_free_disk_space_is_refused(page: Page) -> None:
    answer = page.post("offer", files=[{"name": "x", "type": "", "size": 10**18}] * 2)

    assert answer["no"].startswith("the kernel's disk has no room for it: ")
    # three times the size where storing the file needs a copy
    assert answer["no"].endswith(
        (" 2,000,000,000,000 MB are needed", "3,000,000,000,000 MB are needed")
    )


def test_a_lost_response_can_be_requested_again(page: Page, box: Field, clock: Clock) -> None:
    files = (("lake.png", LAKE),)
    wanted = page.offer(*files)
    page.send_piece(files, wanted)

    # the kernel has the piece: asking for it or sending it again changes nothing
    assert page.post("where") == {"file": 0, "at": 1000}
    assert page.send_piece(files, wanted) == {"file": 0, "at": 1000}
    page.send_piece(files, {"file": 0, "at": 1000})
    assert page.post("piece", file=0, at=2000, piece=LAKE[2000:]) is None
    assert page.post("where") == {"wait": True}
    assert page.post("piece", file=0, at=2000, piece=LAKE[2000:]) == {"wait": True}
    clock.run()
    assert page.post("where") == {"done": True}

    assert box.taken[0].read_bytes() == LAKE


def test_pieces_out_of_order_are_not_accepted(page: Page) -> None:
    page.offer(("lake.png", LAKE), ("hill.png", HILL))

    assert page.post("piece", file=0, at=1000, piece=LAKE[1000:]) == {"file": 0, "at": 0}
    assert page.post("piece", file=1, at=0, piece=HILL) == {"file": 0, "at": 0}


@pytest.mark.parametrize("piece", [b"", LAKE + b"!"], ids=["shorter", "longer"])
def test_a_file_that_changes_during_upload_is_rejected(
    page: Page, box: Field, piece: bytes
) -> None:
    page.offer(("lake.png", LAKE))

    answer = page.post("piece", file=0, at=0, piece=piece)

    assert answer == {"no": "lake.png has changed: choose it again"}
    assert "canceled" in page.post("where")["no"]
    assert box.taken == []


def test_a_canceled_file_is_not_put_into_the_field(page: Page, box: Field, clock: Clock) -> None:
    page.offer(("lake.png", LAKE))
    assert page.post("stop") is None
    assert "canceled" in page.post("piece", file=0, at=0, piece=LAKE)["no"]

    # a file that is canceled while it is stored is not put into the field
    page.offer(("lake.png", LAKE))
    page.post("piece", file=0, at=0, piece=LAKE)
    page.post("stop", id="of another page")
    page.post("stop")
    clock.run()

    assert box.taken == []
    assert clock.timers == {}


def test_a_reloaded_page_replaces_the_transfer_of_the_old_one(page: Page, box: Field) -> None:
    page.offer(("lake.png", LAKE), id="old")

    assert page.drop(("hill.png", HILL), id="new") == {"done": True}
    assert "canceled" in page.post("piece", id="old", file=0, at=0, piece=LAKE)["no"]
    assert box.taken == [box.folder / "hill.png"]


def test_an_abandoned_transfer_is_canceled_after_a_timeout(page: Page, clock: Clock) -> None:
    files = (("lake.png", LAKE),)
    page.send_piece(files, page.offer(*files))
    clock.wait(module.TIMEOUT_SECONDS - 1)
    assert page.send_piece(files, {"file": 0, "at": 1000}) == {"file": 0, "at": 2000}

    clock.wait(module.TIMEOUT_SECONDS + 1)

    assert "canceled" in page.post("where")["no"]


@pytest.mark.skipif(os.name == "nt", reason="files of Windows have names")
def test_an_incomplete_file_has_no_name_in_its_folder(page: Page, zone: Drop, spool: Path) -> None:
    files = (("lake.png", LAKE),)
    page.send_piece(files, page.offer(*files))

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
def test_an_error_while_storing_a_file_is_reported(
    page: Page, box: Field, broken: Exception, sentence: str
) -> None:
    box.broken = broken

    assert page.drop(("lake.png", LAKE)) == {"no": f"The file was not kept: {sentence}"}
    box.broken = None
    assert page.drop(("lake.png", LAKE), id="two") == {"done": True}


def test_a_malformed_message_is_rejected_or_ignored(page: Page) -> None:
    assert page.post("dance") is None
    assert "KeyError" in page.post("offer")["no"]
    assert "no" in page.post("offer", files=[])


def test_two_threads_never_write_the_same_piece_twice(page: Page, box: Field, clock: Clock) -> None:
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
    clock.run()

    assert box.taken[0].read_bytes() == LAKE
    assert len(box.taken) == 1


def test_the_widget_state_contains_nothing_of_a_file(page: Page, zone: Drop) -> None:
    before = zone.get_state()

    page.drop(("lake.png", LAKE))

    assert zone.get_state() == before
    assert len(zone._esm) < 6000
    assert "http" not in zone._esm


def loaded_modules(code: str) -> set[str]:
    """Return the modules that a new interpreter has imported after some code."""
    code = f"import sys; {code}; print(*sys.modules)"
    done: Any = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_a_form_without_media_does_not_import_anywidget() -> None:
    form = "from kit import wire; from kit.widgets.form import Form"

    assert "anywidget" not in loaded_modules(f"{form}; Form(wire.Model(id='poster'))")
    medium = "wire.Parameter(name='face', type='image', media=True)"
    loaded = loaded_modules(f"{form}; Form(wire.Model(id='poster', media_parameters=[{medium}]))")
    assert "anywidget" in loaded
