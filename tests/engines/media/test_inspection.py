"""What is said of an upload that is refused: a sentence for whoever sent it, no word of Python."""

import wave
from pathlib import Path

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
