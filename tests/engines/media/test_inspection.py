"""What is said of an upload that is refused: a sentence for whoever sent it, no word of Python."""

import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from kit.engines.media.inspection import inspect
from kit.errors import EngineError
from tests.engines.media.films import filmed


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


def test_a_video_without_its_index_is_called_damaged(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (20, 48, 64, 3), dtype=np.uint8)
    path = filmed(tmp_path / "a.mp4", list(noise))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    assert told(path, "video/mp4") == "the file is cut off or damaged"


def test_a_recording_without_a_sample_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)

    assert told(path, "audio/wav") == "the recording is empty"


@pytest.mark.parametrize("side", [8000, 10_000, 14_000])
def test_a_picture_that_is_too_large_is_told_in_our_words_alone(tmp_path: Path, side: int) -> None:
    path, theirs = tmp_path / "a", Image.MAX_IMAGE_PIXELS
    Image.new("1", (side, side)).save(path, "PNG")

    with pytest.raises(EngineError, match="megapixels") as caught:
        inspect(path, "image/png")
    assert caught.value.code == "too_large"
    assert theirs == Image.MAX_IMAGE_PIXELS


def test_a_phone_may_write_more_tracks_than_a_player_shows(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        pictures: Any = container.add_stream("libx264", rate=25)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        tracks: list[Any] = [container.add_stream("pcm_s16le", rate=48_000) for _ in range(9)]
        for track in tracks:
            sound = av.AudioFrame.from_ndarray(np.zeros((1, 3840), np.int16), layout="stereo")
            sound.sample_rate = 48_000
            container.mux(track.encode(sound))
        frame = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8))
        container.mux([*pictures.encode(frame), *pictures.encode(None)])

    assert inspect(path, "video/webm")["width"] == 64
