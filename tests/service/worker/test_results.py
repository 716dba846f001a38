"""Results of an engine: stored only if they are in the job's folder and as described."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import ExifTags, Image

from kit.engines.base import Asset
from kit.engines.media.clip import Clip
from kit.errors import EngineError
from kit.service.storage.output_folder import OutputFolder
from kit.service.worker.results import store_result

ID = "gen_01JD0000000000000000000000"
links = pytest.mark.skipif(os.name == "nt", reason="links need rights")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder_path = tmp_path / "job"
    folder_path.mkdir()
    return folder_path


@pytest.fixture
def keep(tmp_path: Path, folder: Path) -> Callable[..., dict[str, Any]]:
    """Store an asset; its facts are right unless a test changes them."""

    def keep(path: Any, *, makes: str = "", **facts: Any) -> dict[str, Any]:
        plain = {"content_type": "image/png", "width": 40, "height": 30}
        asset = Asset(path=path, **{**plain, **facts})
        kind = makes or str(asset.content_type).partition("/")[0]
        return store_result(asset, kind, ID, folder, output_folder(tmp_path))

    return keep


def output_folder(tmp_path: Path) -> OutputFolder:
    return OutputFolder(tmp_path / "objects", lambda _: None)


def draw(path: Path, size: tuple[int, int] = (40, 30)) -> Path:
    Image.new("RGB", size, (200, 40, 40)).save(path)
    return path


def record(path: Path) -> Path:
    green = np.full((96, 128, 3), (0, 180, 0), dtype=np.uint8)
    with Clip(path, 128, 96, fps=10) as clip:
        for _ in range(10):
            clip.add(cv2.cvtColor(green, cv2.COLOR_RGB2YUV_I420))
    return path


def test_a_valid_file_is_stored_with_its_thumbnail(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    path, small = draw(folder / "a.png"), draw(folder / "small.jpg")
    content, preview = path.read_bytes(), small.read_bytes()

    facts = keep(path, thumbnail=small, metadata={"scene": np.int64(3)})

    assert (tmp_path / "objects" / facts["key"]).read_bytes() == content
    assert (tmp_path / "objects" / facts["thumbnail"]).read_bytes() == preview
    assert (facts["size_bytes"], facts["metadata"]) == (len(content), {"scene": 3})
    assert facts["key"].endswith(".png")


@pytest.mark.parametrize(
    "way", ["plain", "dots", *(pytest.param(way, marks=links) for way in ("link", "folder link"))]
)
@pytest.mark.parametrize("thumbnail", [False, True])
def test_a_file_outside_the_folder_is_refused_and_not_moved(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]], way: str, thumbnail: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = draw(outside / ("secret.jpg" if thumbnail else "secret.png"))
    before = secret.read_bytes()
    if "link" in way:
        (folder / "link").symlink_to(secret)
        (folder / "there").symlink_to(outside)
    stray = {
        "plain": secret,
        "dots": folder / ".." / "outside" / secret.name,
        "link": folder / "link",
        "folder link": folder / "there" / secret.name,
    }[way]
    good = draw(folder / "good.png")
    asked = (good, {"thumbnail": stray}) if thumbnail else (stray, {})

    with pytest.raises(EngineError, match="lies outside the job's folder") as caught:
        keep(asked[0], **asked[1])

    assert caught.value.code == "bad_result"
    assert str(tmp_path) not in str(caught.value)
    assert str(folder) in caught.value.detail
    assert secret.read_bytes() == before
    assert good.exists()
    assert not (tmp_path / "objects").exists()


def test_a_result_of_another_asset_type_is_refused(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    with pytest.raises(EngineError, match="the model makes videos, not image/png"):
        keep(draw(folder / "a.png"), makes="video")
    with pytest.raises(EngineError, match="the model makes images, not video/mp4"):
        keep(record(folder / "a.mp4"), makes="image", content_type="video/mp4")

    assert not (tmp_path / "objects").exists()


@links
def test_a_link_within_the_folder_is_followed(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    content = draw(folder / "a.png").read_bytes()
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
def test_a_file_that_does_not_match_its_content_type_is_refused(
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
    ("name", "value"),
    [
        ("width", "wide"),
        ("height", None),
        ("metadata", [7]),
        ("metadata", {"x": "\ud800"}),
        *(("duration_seconds", value) for value in ("long", math.inf, math.nan, -1.0)),
        pytest.param("duration_seconds", 10**400, id="huge"),
    ],
)
def test_invalid_facts_are_refused(
    folder: Path, keep: Callable[..., dict[str, Any]], name: str, value: Any
) -> None:
    with pytest.raises(EngineError, match=f"its {name} makes no sense"):
        keep(record(folder / "a.mp4"), content_type="video/mp4", **{name: value})


@pytest.mark.parametrize("seconds", [0.0, 4.0, math.inf])
def test_a_picture_with_a_duration_is_refused(
    folder: Path, keep: Callable[..., dict[str, Any]], seconds: float
) -> None:
    with pytest.raises(EngineError, match="a picture has no length"):
        keep(draw(folder / "a.png"), duration_seconds=seconds)


def test_metadata_is_kept_up_to_a_limit(folder: Path, keep: Callable[..., dict[str, Any]]) -> None:
    most = {"x": "y" * (64_000 - len('{"x":""}'))}

    assert keep(draw(folder / "a.png"), metadata=most)["metadata"] == most
    with pytest.raises(EngineError, match="its metadata is longer than 64 KB") as caught:
        keep(draw(folder / "b.png"), metadata={"x": most["x"] + "y"})

    assert caught.value.code == "bad_result"
    assert "64,001 bytes" in caught.value.detail


def test_the_size_is_read_from_the_file(folder: Path, keep: Callable[..., dict[str, Any]]) -> None:
    wide = keep(draw(folder / "a.png", (600, 300)), width=9999, height=1)
    small = keep(draw(folder / "b.png"), width=9999, height=1)
    film = keep(
        record(folder / "c.mp4"), content_type="video/mp4", width=1, height=1, duration_seconds=1
    )

    assert (wide["width"], wide["height"]) == (600, 300)
    assert "thumbnail" in wide
    assert (small["width"], small["height"]) == (40, 30)
    assert "thumbnail" not in small
    assert (film["width"], film["height"]) == (128, 96)


@pytest.mark.parametrize("claimed", [(40, 30), (30, 40), (7, 7)])
def test_a_rotated_photograph_may_have_its_size_either_way(
    folder: Path, keep: Callable[..., dict[str, Any]], claimed: tuple[int, int]
) -> None:
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    path = folder / "a.jpg"
    Image.new("RGB", (40, 30)).save(path, exif=turned)

    facts = keep(path, content_type="image/jpeg", width=claimed[0], height=claimed[1])

    stored = (facts["width"], facts["height"])
    assert stored == ((40, 30) if claimed == (40, 30) else (30, 40))


@links
def test_a_link_in_place_of_the_folder_is_not_followed(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = draw(outside / "secret.png")
    folder.rmdir()
    folder.symlink_to(outside)

    with pytest.raises(EngineError, match="lies outside the job's folder"):
        keep(folder / "secret.png")

    assert secret.exists()


@pytest.mark.parametrize("value", [None, 7, "a.png"])
def test_a_result_that_is_not_an_asset_is_refused(tmp_path: Path, folder: Path, value: Any) -> None:
    with pytest.raises(EngineError, match=r"render returned '.*', not an Asset"):
        store_result(value, "image", ID, folder, output_folder(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_refused(folder: Path, keep: Callable[..., dict[str, Any]]) -> None:
    os.mkfifo(folder / "a.png")

    with pytest.raises(EngineError, match="its file is not a file"):
        keep(folder / "a.png")


@pytest.mark.parametrize("given", ["nothing", "itself", "no JPEG"])
def test_a_picture_without_a_thumbnail_gets_one(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]], given: str
) -> None:
    path = draw(folder / "thumbnail.png", (1600, 800))
    other = {"nothing": None, "itself": path, "no JPEG": draw(folder / "small.png")}[given]

    facts = keep(path, thumbnail=other, width=1600, height=800)

    with Image.open(tmp_path / "objects" / facts["thumbnail"], formats=["JPEG"]) as small:
        assert small.size == (512, 256)
        assert small.getpixel((100, 100)) == pytest.approx((200, 40, 40), abs=4)
    with Image.open(tmp_path / "objects" / facts["key"]) as whole:
        assert whole.size == (1600, 800)


def test_a_video_without_a_poster_frame_gets_one(
    tmp_path: Path, folder: Path, keep: Callable[..., dict[str, Any]]
) -> None:
    facts = keep(record(folder / "a.mp4"), content_type="video/mp4", duration_seconds=1.0)

    with Image.open(tmp_path / "objects" / facts["thumbnail"], formats=["JPEG"]) as small:
        assert small.size == (128, 96)
        red, green, blue = small.convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert green > 140 > 60 > max(red, blue)
