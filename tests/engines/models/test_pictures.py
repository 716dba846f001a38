"""Unusual pictures: each model that edits pictures reads them, or reports the reason."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.editing.edit_thread import keep_reporting
from kit.engines.media.stills import info_of
from kit.errors import EngineError
from tests.engines.drawings import ball
from tests.engines.rendering import edit, pixels_of, save
from tests.engines.unusual_pictures import READ, REFUSED

ORDERS: Mapping[str, Mapping[str, Any]] = {
    "background": {"operation": "remove", "feather": 3},
    "reframe": {"mode": "smart_crop"},
    "restyle": {"text": "Hello", "look": "neon", "stylize": "poster"},
    "retouch": {"operation": "erase"},
    "title-card": {"prompt": "Hello"},
}
#: Reasons to refuse a picture that can be read: it has no subject, a mask covers all of it, or no
#: letter fits in.
ALLOWED_CODES = {"no_background", "no_subject", "unsure_subject", "mask_full", "text_too_long"}


def edit_file(model: str, folder: Path, content: bytes) -> Asset:
    path = folder / "input.bin"
    path.write_bytes(content)
    others = {"mask": make_mask(path)} if model == "retouch" else {}
    return edit(model, folder, path, others=others, **ORDERS[model])


def make_mask(path: Path) -> np.ndarray:
    """Return a mask of a picture's shape; of any shape if it is not a picture."""
    height, width = 9, 9
    with suppress(OSError, Image.DecompressionBombError):
        found = info_of(path)
        height, width = found.height, found.width
    pixels = np.zeros((height, width), np.uint8)
    pixels[height // 3 : -(height // 3) or None, : max(1, width // 3)] = 255
    return pixels


@pytest.mark.parametrize("model", ORDERS)
@pytest.mark.parametrize("kind", READ)
def test_every_picture_is_edited_or_gets_a_reason(tmp_path: Path, model: str, kind: str) -> None:
    why: EngineError | None = None
    try:
        asset = edit_file(model, tmp_path, READ[kind]())
    except EngineError as error:
        why = error

    if why is not None:
        assert why.code in ALLOWED_CODES
        assert len(str(why).split()) > 4
    else:
        assert pixels_of(asset).shape[:2] == (asset.height, asset.width)
        assert asset.thumbnail is not None


@pytest.mark.parametrize("model", ORDERS)
@pytest.mark.parametrize("kind", REFUSED)
def test_a_broken_file_is_refused_with_its_code(tmp_path: Path, model: str, kind: str) -> None:
    code, content = REFUSED[kind]

    with pytest.raises(EngineError) as caught:
        edit_file(model, tmp_path, content())

    assert caught.value.code == code
    assert len(str(caught.value).split()) > 4


@pytest.mark.parametrize("model", ["restyle", "retouch", "reframe"])
def test_a_photo_taken_sideways_is_edited_upright(tmp_path: Path, model: str) -> None:
    pixels = np.zeros((60, 100, 3), np.uint8)
    pixels[:, :50] = 255
    exif = Image.Exif()
    exif[0x0112] = 6
    image = save(pixels, tmp_path / "in.jpg", exif=exif)
    values = {"restyle": {"look": "noir"}, "retouch": {}, "reframe": {"aspect_ratio": "2:3"}}

    out = pixels_of(edit(model, tmp_path, image, **values[model]))

    assert out.shape[0] > out.shape[1]
    assert out[len(out) // 5].mean() > 180
    assert out[-len(out) // 5].mean() < 70


@pytest.mark.parametrize(
    ("model", "values"), [("restyle", {"look": "warm"}), ("retouch", {"scale": 2})]
)
def test_transparency_is_kept(tmp_path: Path, model: str, values: dict[str, Any]) -> None:
    pixels = np.dstack([ball(60, 40), np.full((40, 60), 255, np.uint8)])
    pixels[:20, :, 3] = 0

    alpha = pixels_of(edit(model, tmp_path, pixels, **values))[..., 3]

    assert alpha[: len(alpha) // 2 - 2].max() == 0
    assert alpha[len(alpha) // 2 + 2 :].min() == 255


def test_a_cancel_does_not_wait_for_uninterruptible_work(tmp_path: Path) -> None:
    release, stopped = threading.Event(), threading.Event()

    def work(job: Job, progress: Progress) -> Asset:
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
        keep_reporting(work)(Job(prompt="", parameters={}, folder=tmp_path), progress)

    release.set()
    assert stopped.wait(20)


def test_the_last_progress_is_repeated_and_an_error_is_raised(tmp_path: Path) -> None:
    enough = threading.Event()
    seen: list[float] = []
    job = Job(prompt="", parameters={}, folder=tmp_path)

    def note(done: float) -> None:
        seen.append(done)
        if seen.count(0.4) == 3:
            enough.set()

    def work(job: Job, progress: Progress) -> Asset:
        progress.report(0.4)
        assert enough.wait(20)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        keep_reporting(work)(job, Progress(note))
    assert seen == sorted(seen)
