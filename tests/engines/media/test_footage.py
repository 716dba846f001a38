from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.sound import Sound
from kit.errors import EngineError
from tests.engines.films import clicks, filmed, picture, turned

RED, GREEN = (200, 40, 30), (30, 160, 60)


def grays(count: int, width: int = 64, height: int = 48) -> list[np.ndarray]:
    """Return pictures that tell their number by their gray."""
    return [np.full((height, width, 3), 20 + 6 * number, np.uint8) for number in range(count)]


def numbers(frames: list[np.ndarray]) -> list[int]:
    return [round((float(frame.mean()) - 20) / 6) for frame in frames]


def read(path: Path, fps: float, **asked: object) -> list[np.ndarray]:
    with Footage(path) as footage:
        return list(footage.frames(fps, **asked))  # type: ignore[arg-type]


def test_a_video_tells_its_size_length_rate_and_whether_it_sounds(tmp_path: Path) -> None:
    quiet = filmed(tmp_path / "a.mp4", grays(12), fps=24)
    with Clip(tmp_path / "b.mp4", 64, 48, fps=30, sound=Sound(clicks(1.0))) as clip:
        for pixels in grays(30):
            clip.add(rgb_frame(pixels))

    with Footage(quiet) as footage:
        assert (footage.width, footage.height, footage.fps) == (64, 48, 24.0)
        assert (footage.seconds, footage.has_sound) == (0.5, False)
    with Footage(tmp_path / "b.mp4") as footage:
        assert (footage.seconds, footage.has_sound) == (1.0, True)


@pytest.mark.parametrize(
    ("fps", "expected"),
    [
        (30, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (15, [0, 2, 4, 6, 8, 10]),
        (60, [number // 2 for number in range(24)]),
    ],
)
def test_frames_come_at_any_rate(tmp_path: Path, fps: int, expected: list[int]) -> None:
    path = filmed(tmp_path / "a.mp4", grays(12), fps=30)

    assert numbers(read(path, fps)) == expected


def test_a_varying_rate_is_resampled_by_time_and_not_by_number(tmp_path: Path) -> None:
    times = [0.0, 0.1, 0.2, 0.7, 0.75, 0.8]
    path = filmed(tmp_path / "a.mp4", grays(6), times=times)

    found = numbers(read(path, 20, end=0.9))

    assert found == [0, 0, 1, 1, *[2] * 10, 3, 4, 5]


def test_a_part_begins_and_ends_where_it_was_asked_to(tmp_path: Path) -> None:
    path = filmed(tmp_path / "a.mp4", grays(36), fps=30)

    assert numbers(read(path, 30, start=0.5, end=0.7)) == [15, 16, 17, 18, 19, 20]
    assert numbers(read(path, 30, start=1.0, end=99.0)) == [30, 31, 32, 33, 34, 35]
    assert len(read(path, 30, start=0.5, end=0.5)) == 1


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_video_that_a_phone_filmed_sideways_stands_upright(tmp_path: Path, degrees: int) -> None:
    path = turned(filmed(tmp_path / "a.mp4", [picture(64, 48, RED)] * 4), degrees)
    upright = np.rot90(picture(64, 48, RED), -degrees // 90)

    with Footage(path) as footage:
        (frame, *_) = footage.frames(30)
        assert (footage.height, footage.width) == frame.shape[:2] == upright.shape[:2]
    assert np.abs(frame.astype(int) - upright).mean() < 6


def test_a_turned_video_is_scaled_to_the_upright_size(tmp_path: Path) -> None:
    path = turned(filmed(tmp_path / "a.mp4", [picture(64, 48, RED)] * 2), 90)

    assert read(path, 30, size=(20, 30))[0].shape == (30, 20, 3)


@pytest.mark.parametrize(("tags", "matrix"), [((1, 1, 1, 1), 1), ((6, 1, 1, 13), 5)])
def test_colors_are_read_by_the_matrix_that_the_file_names(
    tmp_path: Path, tags: tuple[int, int, int, int], matrix: int
) -> None:
    path = filmed(tmp_path / "a.mp4", [picture(64, 48, GREEN)] * 2, tags=tags, matrix=matrix)

    assert np.abs(read(path, 30)[0][40, 50].astype(int) - GREEN).max() <= 4


@pytest.mark.parametrize("transfer", [16, 18])
def test_high_dynamic_range_keeps_its_highlights_and_its_order(
    tmp_path: Path, transfer: int
) -> None:
    pixels = np.zeros((48, 96, 3), np.uint8)
    for number, level in enumerate((40, 100, 150, 180, 230, 255)):
        pixels[:, 16 * number : 16 * number + 16] = level
    path = filmed(
        tmp_path / "a.mp4",
        [pixels] * 2,
        pixel_format="yuv420p10le",
        tags=(9, 1, 9, transfer),
        matrix=9,
    )

    shown = read(path, 30)[0][24, 8::16].astype(int)

    assert (np.diff(shown[:5].mean(axis=1)) > 3).all(), "no step of light is lost"
    assert np.ptp(shown, axis=1).max() <= 6, "gray stays gray"
    assert shown[-1].min() > 252


def test_what_a_video_hides_is_black(tmp_path: Path) -> None:
    pixels = np.full((48, 64, 4), 255, np.uint8)
    pixels[:, 32:, 3] = 0
    path = filmed(
        tmp_path / "a.mov", [pixels] * 2, codec="qtrle", pixel_format="argb", tags=(2, 2, 2, 2)
    )

    shown = read(path, 30)[0]

    assert (shown[:, :30].min(), shown[:, 34:].max()) == (255, 0)


def test_a_recording_without_length_and_index_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.webm"
    with av.open(str(path), "w", options={"live": "1"}) as container:
        stream = container.add_stream("libvpx-vp9", rate=30)
        stream.width, stream.height = 64, 48
        for pixels in grays(36):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))

    with Footage(path) as footage:
        assert footage.seconds == pytest.approx(1.2, abs=0.01)
        shown = numbers(list(footage.frames(30, start=0.5, end=0.7)))
    assert shown == [15, 16, 17, 18, 19, 20]


def test_odd_sizes_are_told_as_they_are(tmp_path: Path) -> None:
    path = filmed(tmp_path / "a.webm", [picture(63, 47, RED)] * 3, codec="libvpx-vp9")

    with Footage(path) as footage:
        assert (footage.width, footage.height) == (63, 47)
        assert next(iter(footage.frames(30))).shape == (47, 63, 3)


def test_a_video_that_breaks_off_is_refused_and_not_shown_in_part(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    noise = [rng.integers(0, 255, (96, 128, 3), np.uint8) for _ in range(75)]
    with Clip(tmp_path / "a.mp4", 128, 96, fps=25) as clip:
        for pixels in noise:
            clip.add(rgb_frame(pixels))
    whole = (tmp_path / "a.mp4").read_bytes()
    (tmp_path / "b.mp4").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(EngineError, match=r"incomplete|cut off or damaged") as told:
        read(tmp_path / "b.mp4", 25)
    assert told.value.code == "undecodable"


@pytest.mark.parametrize(
    "content", [b"", b"no video at all" * 20, b"ffconcat version 1.0\n", b"GIF89a" + bytes(60)]
)
def test_what_is_no_video_is_called_that_and_not_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mp4").write_bytes(content)

    with pytest.raises(EngineError, match="not a video in MP4, QuickTime or WebM") as told:
        Footage(tmp_path / "a.mp4")
    assert told.value.code == "wrong_type"


def test_a_sound_file_is_no_video(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 8000), np.int16), format="s16", layout="mono"
        )
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))

    with pytest.raises(EngineError, match="no video") as told:
        Footage(tmp_path / "a.wav")
    assert told.value.code == "wrong_type"


def test_leaving_closes_what_is_still_being_read(tmp_path: Path) -> None:
    path = filmed(tmp_path / "a.mp4", grays(30))

    with Footage(path) as footage:
        half = footage.frames(30)
        next(half)
    opened = Path("/proc/self/fd")

    if opened.exists():
        targets = [fd.readlink() for fd in opened.iterdir() if fd.is_symlink()]
        assert not [target for target in targets if target == path]


def test_a_picture_stays_on_show_while_the_sound_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        video: Any = container.add_stream("libx264", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound: Any = container.add_stream("aac", rate=48_000, layout="mono")
        frame = av.VideoFrame.from_ndarray(picture(64, 48, RED), format="rgb24")
        for stream, given in ((video, [frame]), (sound, _silence(3))):
            for one in given:
                container.mux(stream.encode(one))
            container.mux(stream.encode(None))

    with Footage(path) as footage:
        assert footage.seconds == pytest.approx(3.0, abs=0.1)
        frames = list(footage.frames(10))
    assert len(frames) == pytest.approx(30, abs=1)
    assert (frames[-1] == frames[0]).all()


def _silence(seconds: int) -> Iterator[av.AudioFrame]:
    for number in range(seconds * 48):
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1000), np.float32), "fltp", "mono")
        frame.sample_rate, frame.pts = 48_000, 1000 * number
        yield frame


def test_the_rate_of_the_fast_stretches_is_known(tmp_path: Path) -> None:
    times = [0.0]
    for number in range(29):
        times.append(times[-1] + (0.02 if number % 20 else 0.25))
    varying = filmed(tmp_path / "a.mp4", grays(30), times=times)
    even = filmed(tmp_path / "b.mp4", grays(10), fps=25)

    with Footage(varying) as footage:
        assert footage.quick == pytest.approx(50, rel=0.01)
        assert footage.fps < 45
    with Footage(even) as footage:
        assert footage.quick == footage.fps == 25


def test_what_a_webm_hides_is_not_shown(tmp_path: Path) -> None:
    pixels = np.full((48, 64, 4), 255, np.uint8)
    pixels[:, :32, 3] = 0
    path = tmp_path / "a.webm"
    filmed(path, [pixels] * 5, codec="libvpx-vp9", pixel_format="yuva420p")

    shown = read(path, 30)[2]

    assert shown[:, 4:24].max() < 12
    assert shown[:, 40:60].min() > 240
