"""What an engine hands over: kept only if it lies in the job's folder and is what it says."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset
from kit.engines.media.clip import Clip
from kit.errors import EngineError
from kit.service.storage.shelf import Shelf
from kit.service.worker.outcome import kept

ID = "gen_01JD0000000000000000000000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "job"
    made.mkdir()
    return made


@pytest.fixture
def keep(tmp_path: Path, folder: Path) -> Callable[..., dict[str, Any]]:
    """Keep an asset; its facts are right unless a test says otherwise."""

    def keep(path: Any, **facts: Any) -> dict[str, Any]:
        plain = {"content_type": "image/png", "width": 40, "height": 30}
        return kept(Asset(path=path, **{**plain, **facts}), ID, folder, shelf(tmp_path))

    return keep


def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "objects", lambda _: None)


def drawn(path: Path, size: tuple[int, int] = (40, 30)) -> Path:
    Image.new("RGB", size, (200, 40, 40)).save(path)
    return path


def filmed(path: Path) -> Path:
    green = np.full((96, 128, 3), (0, 180, 0), dtype=np.uint8)
    with Clip(path, 128, 96, fps=10) as clip:
        for _ in range(10):
            clip.add(cv2.cvtColor(green, cv2.COLOR_RGB2YUV_I420))
    return path


def test_a_good_file_is_kept_with_its_thumbnail(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    path, small = drawn(folder / "a.png"), drawn(folder / "small.jpg")
    content, preview = path.read_bytes(), small.read_bytes()

    facts = keep(path, thumbnail=small, metadata={"scene": np.int64(3)})

    assert (tmp_path / "objects" / facts["key"]).read_bytes() == content
    assert (tmp_path / "objects" / facts["thumbnail"]).read_bytes() == preview
    assert (facts["size_bytes"], facts["metadata"]) == (len(content), {"scene": 3})
    assert facts["key"].endswith(".png")


@pytest.mark.parametrize("way", ["plain", "dots", "link", "folder link"])
@pytest.mark.parametrize("thumbnail", [False, True])
def test_a_file_outside_the_folder_is_refused_and_stays(
    tmp_path: Path,
    folder: Path,
    keep: Callable[..., dict[str, Any]],
    way: str,
    thumbnail: bool,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    treasure = drawn(outside / ("treasure.jpg" if thumbnail else "treasure.png"))
    before = treasure.read_bytes()
    (folder / "link").symlink_to(treasure)
    (folder / "there").symlink_to(outside)
    stray = {
        "plain": treasure,
        "dots": folder / ".." / "outside" / treasure.name,
        "link": folder / "link",
        "folder link": folder / "there" / treasure.name,
    }[way]
    good = drawn(folder / "good.png")
    asked = (good, {"thumbnail": stray}) if thumbnail else (stray, {})

    with pytest.raises(EngineError, match="lies outside the job's folder") as caught:
        keep(asked[0], **asked[1])

    assert caught.value.code == "bad_result"
    assert str(tmp_path) not in str(caught.value)
    assert str(folder) in caught.value.detail
    assert treasure.read_bytes() == before
    assert good.exists()
    assert not (tmp_path / "objects").exists()


def test_a_link_within_the_folder_is_followed(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    content = drawn(folder / "a.png").read_bytes()
    (folder / "b.png").symlink_to(folder / "a.png")

    stored = tmp_path / "objects" / keep(folder / "b.png")["key"]

    assert not stored.is_symlink()
    assert stored.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "facts", "sentence"),
    [
        (b"not a png", {}, "its content is not image/png"),
        (b"", {}, "its content is not image/png"),
        (b"<html>", {"content_type": "text/html"}, "its type 'text/html' is none"),
        (b"RIFF0000WAVE", {"content_type": "audio/wav"}, "its type 'audio/wav' is none"),
        (b"\x89PNG\r\n\x1a\n and no more", {}, "its file cannot be read"),
        (b"\0\0\0\x18ftypisom", {"content_type": "video/mp4"}, "its file cannot be read"),
        (None, {}, "its file is missing"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(
    folder: Path,
    keep: Callable[..., dict[str, Any]],
    content: bytes | None,
    facts: dict[str, Any],
    sentence: str,
) -> None:
    path = folder / "a.png"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(EngineError) as caught:
        keep(path, **facts)

    assert sentence in str(caught.value)
    assert caught.value.code == "bad_result"


@pytest.mark.parametrize(
    "facts", [{"width": "wide"}, {"height": None}, {"duration_seconds": "long"}, {"metadata": [7]}]
)
def test_facts_that_make_no_sense_are_refused(
    folder: Path, keep: Callable[..., dict[str, Any]], facts: dict[str, Any]
) -> None:
    with pytest.raises(EngineError, match="makes no sense"):
        keep(drawn(folder / "a.png"), **facts)


@pytest.mark.parametrize("odd", [None, 7, "a.png"])
def test_what_is_no_asset_is_refused(tmp_path: Path, folder: Path, odd: Any) -> None:
    with pytest.raises(EngineError, match="the engine returned none"):
        kept(odd, ID, folder, shelf(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_no_file(folder: Path, keep: Callable[..., dict[str, Any]]) -> None:
    os.mkfifo(folder / "a.png")

    with pytest.raises(EngineError, match="its file is no file"):
        keep(folder / "a.png")


@pytest.mark.parametrize("given", ["nothing", "itself", "no JPEG"])
def test_a_picture_without_a_thumbnail_gets_one(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]], given: str
) -> None:
    path = drawn(folder / "thumbnail.png", (1600, 800))
    other = {"nothing": None, "itself": path, "no JPEG": drawn(folder / "small.png")}[given]

    facts = keep(path, thumbnail=other, width=1600, height=800)

    with Image.open(tmp_path / "objects" / facts["thumbnail"], formats=["JPEG"]) as small:
        assert small.size == (512, 256)
        assert small.getpixel((100, 100)) == pytest.approx((200, 40, 40), abs=4)
    with Image.open(tmp_path / "objects" / facts["key"]) as whole:
        assert whole.size == (1600, 800)


def test_a_small_picture_goes_without(folder: Path, keep: Callable[..., dict[str, Any]]) -> None:
    assert "thumbnail" not in keep(drawn(folder / "small.png"))


def test_a_video_without_a_poster_frame_gets_one(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    facts = keep(filmed(folder / "a.mp4"), content_type="video/mp4", duration_seconds=1.0)

    with Image.open(tmp_path / "objects" / facts["thumbnail"], formats=["JPEG"]) as small:
        assert small.size == (128, 96)
        red, green, blue = small.convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert green > 140 > 60 > max(red, blue)
