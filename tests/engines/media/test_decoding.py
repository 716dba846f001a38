from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.inspection import inspect
from kit.engines.media.sound import Sound
from kit.errors import EngineError
from tests.engines.films import WHOLE, clicks, filmed, spliced


def shown(path: Path, **asked: Any) -> list[np.ndarray]:
    with Footage(path) as footage:
        return list(footage.frames(footage.fps, **asked))


@pytest.mark.parametrize(
    ("size", "rows", "columns"),
    [((320, 128), slice(34, 94), slice(None)), ((96, 128), slice(None), slice(34, 126))],
)
def test_a_window_that_is_drawn_wider_or_narrower_is_shown_whole(
    tmp_path: Path, size: tuple[int, int], rows: slice, columns: slice
) -> None:
    pictures = [np.full((height, width, 3), 220, np.uint8) for width, height in ((160, 128), size)]
    parts = [([one] * 5, WHOLE) for one in pictures]

    first, *_, last = shown(spliced(tmp_path / "a.mkv", "mpeg2video", parts))

    assert first.shape == last.shape
    assert first.min() > 210
    inside = np.zeros(last.shape[:2], bool)
    inside[rows, columns] = True
    assert last[inside].min() > 210
    assert np.median(last[~inside]) == 0


@pytest.mark.parametrize("tall", [False, True])
def test_pixels_that_are_no_squares_keep_the_shape_of_the_picture(
    tmp_path: Path, tall: bool
) -> None:
    path = tmp_path / "a.mov"
    size = (720, 480) if tall else (720, 576)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("dvvideo", rate=Fraction(30000, 1001) if tall else 25)
        (stream.width, stream.height), stream.pix_fmt = size, "yuv411p" if tall else "yuv420p"
        stream.sample_aspect_ratio = Fraction(8, 9) if tall else Fraction(64, 45)
        pixels = np.zeros((size[1], size[0], 3), np.uint8)
        frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
        container.mux([*stream.encode(frame), *stream.encode(None)])

    assert shown(path)[0].shape == ((540, 720, 3) if tall else (576, 1024, 3))


@pytest.mark.parametrize(("primaries", "expected"), [(9, (249, 0, 8)), (12, (218, 0, 5))])
def test_wide_colors_are_shown_as_vivid_as_they_were_meant(
    tmp_path: Path, primaries: int, expected: tuple[int, int, int]
) -> None:
    pixels = np.full((64, 96, 3), 128, np.uint8)
    pixels[:, 48:] = 200, 40, 30
    path = filmed(tmp_path / "a.mp4", [pixels] * 2, tags=(1, 1, primaries, 1), matrix=1)

    frame = shown(path)[0].astype(int)

    assert np.abs(frame[32, 20] - 128).max() <= 2, "gray stays gray"
    assert np.abs(frame[32, 80] - expected).max() <= 4


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
    with pytest.raises(EngineError, match="incomplete"):
        inspect(tmp_path / "b.webm", "video/webm")
    assert inspect(path, "video/webm")["duration_seconds"] == pytest.approx(6.0, abs=0.05)


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
