"""What is said of an upload that is refused: a sentence for whoever sent it, no word of Python."""

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
from tests.engines.films import written


def told(path: Path, content_type: str) -> str:
    with pytest.raises(EngineError) as caught:
        inspect(path, content_type)
    assert caught.value.code == "undecodable"
    return str(caught.value)


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_a_picture_that_is_cut_off_is_called_that(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    noise = np.random.default_rng(1).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path, kind)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    assert told(path, f"image/{kind}") == "the file is cut off or damaged"


def test_a_recording_without_a_sample_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))

    assert told(path, "audio/wav") == "the recording is empty"


@pytest.mark.parametrize("side", [8000, 10_000, 14_000])
def test_a_picture_that_is_too_large_is_told_in_our_words_alone(tmp_path: Path, side: int) -> None:
    path, theirs = tmp_path / "a", Image.MAX_IMAGE_PIXELS
    Image.new("1", (side, side)).save(path, "PNG")

    with pytest.raises(EngineError, match="megapixels") as caught:
        inspect(path, "image/png")
    assert caught.value.code == "too_large"
    assert theirs == Image.MAX_IMAGE_PIXELS


def test_a_picture_of_a_phone_is_read_and_bounded_where_the_package_for_it_is_installed(
    tmp_path: Path,
) -> None:
    heif = pytest.importorskip("pillow_heif")
    path, pixels = tmp_path / "a.heic", np.full((48, 64, 3), (200, 60, 40), np.uint8)
    heif.from_pillow(Image.fromarray(pixels)).save(path, quality=95)

    assert inspect(path, "image/heic") == {"width": 64, "height": 48}
    assert np.abs(stills.open_still(path).pixels.astype(int) - pixels).max() < 8
    path.write_bytes(path.read_bytes()[:-200])
    assert told(path, "image/heic") == "the file is cut off or damaged"
    large, quickly = Image.new("L", (8000, 6400)), {"preset": "ultrafast"}
    heif.from_pillow(large).save(path, quality=10, enc_params=quickly)
    with pytest.raises(EngineError, match="megapixels"):
        inspect(path, "image/heic")


def recorded(path: Path, count: int) -> Path:
    """Write pictures as a browser records them: neither a length nor an index is in the file."""
    with av.open(str(path), "w", options={"live": "1"}) as container:
        stream: Any = container.add_stream("libvpx-vp9", rate=30)
        stream.width, stream.height = 64, 48
        for number in range(count):
            pixels = np.full((48, 64, 3), 6 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize("count", [1, 36])
def test_what_a_browser_recorded_is_taken(tmp_path: Path, count: int) -> None:
    path = recorded(tmp_path / "a.webm", count)

    found = inspect(path, "video/webm")

    assert found["duration_seconds"] == pytest.approx(count / 30, abs=0.02)
    with Footage(path) as footage:
        assert len(list(footage.frames(30))) == count


def faststart(path: Path) -> bytes:
    """Write three seconds whose index stands before the pictures; return the file."""
    noise = np.random.default_rng(1).integers(0, 255, (75, 96, 128, 3), np.uint8)
    with Clip(path, 128, 96, fps=25) as clip:
        for pixels in noise:
            clip.add(rgb_frame(pixels))
    return path.read_bytes()


def test_a_download_that_broke_off_is_refused_though_its_index_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    content = faststart(path)

    path.write_bytes(content[: len(content) * 3 // 4])
    assert told(path, "video/mp4").startswith("the file is incomplete: it ends after 2.")
    with pytest.raises(EngineError, match="incomplete"):
        Footage(path)

    # A frame or two are no reason to send it again.
    path.write_bytes(content[: len(content) * 97 // 100])
    assert inspect(path, "video/mp4")["duration_seconds"] == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(("kind", "codec"), [("mp4", "aac"), ("wav", "pcm_u8")])
def test_a_broken_off_recording_of_sound_is_refused(tmp_path: Path, kind: str, codec: str) -> None:
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, (1, 144_000)).astype(np.float32)
    path = written(tmp_path / f"a.{kind}", noise, codec, movflags="+faststart")

    assert inspect(path, f"audio/{kind}")["duration_seconds"] == pytest.approx(3.0, abs=0.1)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "incomplete" in told(path, f"audio/{kind}")
