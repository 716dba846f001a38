"""A full or read-only disk after a charge."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.client.settings import Settings
from kit.errors import KitError, NoAnswerError
from kit.studio import Studio
from tests.client.third_party import Server, png

START = "/v1/creative-studio/generations"


def fill_disk(monkeypatch: pytest.MonkeyPatch, holding: bytes) -> None:
    """Make writes of lines that hold a text fail with a full disk."""
    real_write = os.write

    def write(file: int, content: bytes) -> int:
        if holding in content:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real_write(file, content)

    monkeypatch.setattr(os, "write", write)


def test_the_error_of_an_unsaved_paid_start_has_its_id(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fill_disk(patch, b'"state": "processing"')
        with studio.budget(credits=1) as budget, pytest.raises(NoAnswerError) as caught:
            studio.generate("paint", "a lake")

    assert "job-1 was started, and could not be written into the journal" in str(caught.value)
    assert float(budget.spent) == 0.25
    assert caught.value.generation_id == "job-1"
    assert caught.value.resume is not None
    assert caught.value.resume().output.bytes() == png()


def test_a_partly_written_line_is_an_error(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, api: Server
) -> None:
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: real_write(file, content[:20]))

    with pytest.raises(KitError, match="nothing was sent"):
        studio.generate("paint", "a lake")
    assert api.requests("POST", START) == []


def test_an_end_that_cannot_be_saved_is_logged_once(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        fill_disk(patch, b'"state": "completed"')
        made = studio.generate("paint", "a lake")
        studio.history.pending()

    assert made.output.bytes() == png()
    assert caplog.text.count("the end of job-1 could not be saved: No space left") == 1


def test_a_price_that_cannot_be_saved_is_logged_once(
    studio: Studio, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.data / "notebook").mkdir(parents=True)
    (settings.data / "notebook" / "prices").write_text("in the way")

    assert studio.generate("paint", "a lake").output.bytes() == png()
    assert caplog.text.count("the price of job-1 could not be saved") == 1


def block_outputs(settings: Settings) -> Path:
    folder = settings.data / "notebook" / "outputs"
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    return folder


def test_the_error_of_an_unwritten_output_has_its_id(
    studio: Studio, settings: Settings, media: Server
) -> None:
    folder = block_outputs(settings)
    with pytest.raises(NoAnswerError, match=r"could not be written to .*outputs: ") as caught:
        studio.generate("paint", "a lake")
    folder.unlink()

    assert caught.value.generation_id == "job-1"
    assert caught.value.resume is not None
    assert caught.value.resume().output.bytes() == png()
    assert len(media.requests("GET")) == 2  # a retry would fail as well


def test_an_unwritable_history_is_reported_and_kept(studio: Studio, settings: Settings) -> None:
    studio.generate("paint", "a lake")
    assert len(studio.history.frame()) == 1
    [manifest] = (settings.data / "notebook" / "history").rglob("manifest.json")
    folder, aside = manifest.parent, manifest.parent.with_suffix(".aside")
    folder.rename(aside)
    folder.write_text("in the way")

    with pytest.raises(
        KitError, match=r"cannot be written to .*: File exists; sync=False reads it without update"
    ):
        studio.history.frame()
    folder.unlink()
    aside.rename(folder)
    assert len(studio.history.frame(sync=False)) == 1


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_damaged_history_is_reported_with_its_repair(
    studio: Studio, settings: Settings, damage: Callable[[Path], object]
) -> None:
    studio.generate("paint", "a lake")
    assert len(studio.history.frame()) == 1
    [part] = (settings.data / "notebook" / "history").rglob("*.parquet")
    damage(part)
    studio.generate("paint", "a hill")

    with pytest.raises(KitError, match="is damaged: remove that folder, and it is fetched again"):
        studio.history.frame()
    shutil.rmtree(settings.data / "notebook" / "history")
    assert len(studio.history.frame()) == 2
