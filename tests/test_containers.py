"""Video and sound files with several tracks: which track is decoded."""

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from kit.containers import audio_stream, open_media, video_stream
from kit.engines.media.footage import Footage
from kit.engines.media.soundfile import open_sound
from kit.errors import EngineError


def write_video(path: Path, *, unknown: tuple[int, ...] = (), silent: bool = False) -> Path:
    """Write a video with a quiet and a loud track; the tracks of some numbers cannot be decoded."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        sounds = [container.add_stream("pcm_s16le", rate=48_000, layout="mono") for _ in range(2)]
        for _ in range(25):
            pixels = np.zeros((48, 64, 3), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
        for sound, level in () if silent else zip(sounds, (100, 9999), strict=True):
            samples = np.full((1, 48_000), level, np.int16)
            frame: Any = av.AudioFrame.from_ndarray(samples, "s16", "mono")
            frame.sample_rate = 48_000
            container.mux([*sound.encode(frame), *sound.encode(None)])
    content, at = bytearray(path.read_bytes()), 0
    for number in range(3 if unknown else 0):
        at = content.index(b"stsd", at + 1)
        if number in unknown:
            content[at + 16 : at + 20] = b"zzzz"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("unknown", "number"), [((), 1), ((1,), 2), ((2,), 1)])
def test_an_audio_track_that_cannot_be_decoded_is_skipped(
    tmp_path: Path, unknown: tuple[int, ...], number: int
) -> None:
    path = write_video(tmp_path / "a.mov", unknown=unknown)

    with open_media(path) as container:
        assert audio_stream(container).index == number
    assert open_sound(path).samples.max() == pytest.approx((0, 100, 9999)[number] / 32_768)


def test_a_file_without_a_decodable_track_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mov", unknown=(0, 1, 2))

    with open_media(path) as container:
        with pytest.raises(EngineError, match="holds no video that can be decoded: save it again"):
            video_stream(container)
        with pytest.raises(EngineError, match="holds no sound that can be decoded: save it again"):
            audio_stream(container)


def test_an_empty_audio_track_has_no_samples(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", silent=True)

    with Footage(path) as footage:
        assert footage.has_sound
    assert open_sound(path).count == 0
