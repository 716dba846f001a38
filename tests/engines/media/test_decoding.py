from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.sound import Sound
from kit.errors import EngineError
from tests.engines.media.films import clicks, filmed


def combed(path: Path, *, matrix: int = 6) -> Path:
    """Film a bar that moves from one half of each frame to the other, as camcorders did."""
    with av.open(str(path), "w") as container:
        options = {"x264-params": "interlaced=1:tff=1", "crf": "4"}
        stream: Any = container.add_stream("libx264", rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt = 128, 96, "yuv420p"
        context = stream.codec_context
        context.colorspace, context.color_range = matrix, 1
        for number in range(20):
            pixels = np.full((96, 128, 3), 40, np.uint8)
            for half in (0, 1):
                left = 10 + 4 * number + 2 * half
                pixels[half::2, left : left + 12] = 230
            frame: Any = av.VideoFrame.from_ndarray(rgb_frame(pixels), format="yuv420p")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize("matrix", [1, 6])
def test_interlaced_frames_are_whole_and_keep_their_moments_and_colors(
    tmp_path: Path, matrix: int
) -> None:
    with Footage(combed(tmp_path / "a.mp4", matrix=matrix)) as footage:
        frames = [frame.astype(int) for frame in footage.frames(25)]
        late = next(footage.frames(25, start=0.6)).astype(int)

    assert len(frames) == 20
    for frame in frames[1:-1]:
        assert np.abs(np.diff(frame[16:80], axis=0)).mean() < 1.0, "no comb"
        assert frame.max() > 215
        assert abs(int(np.median(frame)) - 40) <= 3
    edges = [int(np.flatnonzero(frame[48, :, 0] > 130)[0]) for frame in frames]
    assert np.abs(np.diff(edges) - 4).max() <= 2, "no frame is shown late"
    assert np.abs(late - frames[15]).mean() < 2


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv420p10le", "yuv422p10le", "yuv444p"])
@pytest.mark.parametrize("size", [(96, 64), (48, 32), (160, 100)])
def test_white_stays_white_at_every_depth_and_size(
    tmp_path: Path, pixel_format: str, size: tuple[int, int]
) -> None:
    white = np.full((64, 96, 3), 255, np.uint8)
    path = filmed(tmp_path / "a.mp4", [white] * 2, codec="libx264", pixel_format=pixel_format)

    with Footage(path) as footage:
        assert next(footage.frames(30, size=size)).min() >= 254


def late(path: Path, start: float, seconds: float) -> Path:
    """Write a Matroska file whose clock begins at a time."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        sound: Any = container.add_stream("pcm_s16le", rate=48_000, layout="mono")
        for number in range(round(seconds * 25)):
            frame: Any = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), "rgb24")
            frame.pts, frame.time_base = round((start + number / 25) * 25), Fraction(1, 25)
            container.mux(stream.encode(frame))
            heard: Any = av.AudioFrame.from_ndarray(np.zeros((1, 1920), np.int16), "s16", "mono")
            heard.sample_rate, heard.time_base = 48_000, Fraction(1, 48_000)
            heard.pts = round(start * 48_000) + 1920 * number
            container.mux(sound.encode(heard))
        container.mux(stream.encode(None))
        container.mux(sound.encode(None))
    return path


def test_a_clock_that_does_not_begin_at_zero_makes_no_video_longer(tmp_path: Path) -> None:
    with Footage(late(tmp_path / "a.mkv", 5.0, 2.0)) as footage:
        assert footage.seconds == pytest.approx(2.0, abs=0.05)
        assert len(list(footage.frames(25))) == pytest.approx(50, abs=1)


def test_a_broken_off_webm_is_refused_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = tmp_path / "a.webm"
    with Clip(path, 64, 48, fps=25, codec="vp9", sound=Sound(clicks(6.0))) as clip:
        for _ in range(150):
            clip.add(rgb_frame(rng.integers(0, 255, (48, 64, 3), np.uint8)))
    whole = path.read_bytes()
    (tmp_path / "b.webm").write_bytes(whole[: len(whole) // 2])

    with Footage(path) as footage:
        assert footage.seconds == pytest.approx(6.0, abs=0.05)
    with pytest.raises(EngineError, match="incomplete") as told, Footage(tmp_path / "b.webm"):
        pass
    assert told.value.code == "undecodable"


def test_the_way_to_a_late_start_can_be_given_up(tmp_path: Path) -> None:
    path = filmed(tmp_path / "a.mp4", [np.zeros((48, 64, 3), np.uint8)] * 60)
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 20:
            raise InterruptedError

    with Footage(path) as footage, pytest.raises(InterruptedError):
        next(footage.frames(30, start=1.9, check=check))
    assert len(asked) == 20
