"""Errors about refused uploads: messages for the sender, without words of Python."""

import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from kit.engines.media import stills
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.inspection import inspect
from kit.errors import EngineError
from tests.engines.films import record


def error_of(path: Path, content_type: str) -> str:
    with pytest.raises(EngineError) as caught:
        inspect(path, content_type)
    assert caught.value.code == "undecodable"
    return str(caught.value)


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_an_error_about_a_truncated_picture_says_so(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    noise = np.random.default_rng(1).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path, kind)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    assert error_of(path, f"image/{kind}") == "the file is cut off or damaged"


def test_an_error_about_a_recording_without_samples_calls_it_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))

    assert error_of(path, "audio/wav") == "the recording is empty"


@pytest.mark.parametrize("side", [8000, 10_000, 14_000])
def test_a_picture_that_is_too_large_is_refused_by_megapixels(tmp_path: Path, side: int) -> None:
    path, limit = tmp_path / "a", Image.MAX_IMAGE_PIXELS
    Image.new("1", (side, side)).save(path, "PNG")

    with pytest.raises(EngineError, match="megapixels") as caught:
        inspect(path, "image/png")
    assert caught.value.code == "too_large"
    assert limit == Image.MAX_IMAGE_PIXELS


def test_a_heic_picture_is_read_and_limited_if_its_package_is_installed(tmp_path: Path) -> None:
    heif = pytest.importorskip("pillow_heif")
    path, pixels = tmp_path / "a.heic", np.full((48, 64, 3), (200, 60, 40), np.uint8)
    heif.from_pillow(Image.fromarray(pixels)).save(path, quality=95)

    assert inspect(path, "image/heic") == {"width": 64, "height": 48}
    assert np.abs(stills.open_still(path).pixels.astype(int) - pixels).max() < 8
    path.write_bytes(path.read_bytes()[:-200])
    assert error_of(path, "image/heic") == "the file is cut off or damaged"
    large, quickly = Image.new("L", (8000, 6400)), {"preset": "ultrafast"}
    heif.from_pillow(large).save(path, quality=10, enc_params=quickly)
    with pytest.raises(EngineError, match="megapixels"):
        inspect(path, "image/heic")


def record_live(path: Path, count: int) -> Path:
    """Write pictures as a browser records them: the file has no duration and no index."""
    with av.open(str(path), "w", options={"live": "1"}) as container:
        stream: Any = container.add_stream("libvpx-vp9", rate=30)
        stream.width, stream.height = 64, 48
        for number in range(count):
            pixels = np.full((48, 64, 3), 6 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize("count", [1, 36])
def test_a_recording_of_a_browser_is_accepted(tmp_path: Path, count: int) -> None:
    path = record_live(tmp_path / "a.webm", count)

    found = inspect(path, "video/webm")

    assert found["duration_seconds"] == pytest.approx(count / 30, abs=0.02)
    with Footage(path) as footage:
        assert len(list(footage.frames(30))) == count


def write_faststart(path: Path) -> bytes:
    """Write three seconds whose index is before the pictures; return the bytes."""
    noise = np.random.default_rng(1).integers(0, 255, (75, 96, 128, 3), np.uint8)
    with Clip(path, 128, 96, fps=25) as clip:
        for pixels in noise:
            clip.add(rgb_frame(pixels))
    return path.read_bytes()


def test_a_truncated_video_is_refused_although_its_index_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    content = write_faststart(path)

    path.write_bytes(content[: len(content) * 3 // 4])
    assert error_of(path, "video/mp4").startswith("the file is incomplete: it ends after 2.")
    with pytest.raises(EngineError, match="incomplete"):
        Footage(path)

    # One or two missing frames are accepted.
    path.write_bytes(content[: len(content) * 97 // 100])
    assert inspect(path, "video/mp4")["duration_seconds"] == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(("kind", "codec"), [("mp4", "aac"), ("wav", "pcm_u8")])
def test_a_truncated_recording_of_sound_is_refused(tmp_path: Path, kind: str, codec: str) -> None:
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, (1, 144_000)).astype(np.float32)
    path = record(tmp_path / f"a.{kind}", noise, codec, movflags="+faststart")

    assert inspect(path, f"audio/{kind}")["duration_seconds"] == pytest.approx(3.0, abs=0.1)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "incomplete" in error_of(path, f"audio/{kind}")
