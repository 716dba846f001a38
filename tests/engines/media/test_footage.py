"""Videos of cameras, phones, browsers and broadcasts, read as upright frames in time."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from kit.containers import measure
from kit.engines.media.clip import rgb_of
from kit.engines.media.footage import Footage
from kit.engines.media.lengths import limit_seconds
from kit.engines.media.soundfile import open_sound
from kit.errors import EngineError
from tests.engines.films import WHOLE, clicks, encode, picture, rotate, weave
from tests.engines.rendering import film, frames_of

RED, GREEN = (200, 40, 30), (30, 160, 60)


def grays(count: int, width: int = 64, height: int = 48) -> list[np.ndarray]:
    """Return pictures whose gray encodes their number."""
    return [np.full((height, width, 3), 20 + 6 * number, np.uint8) for number in range(count)]


def numbers(frames: list[np.ndarray]) -> list[int]:
    return [round((float(frame.mean()) - 20) / 6) for frame in frames]


def read(path: Path, fps: float | None = None, **asked: Any) -> list[np.ndarray]:
    with Footage(path) as footage:
        return list(footage.frames(fps or footage.fps, **asked))


def test_a_video_has_its_size_duration_rate_and_sound(tmp_path: Path) -> None:
    quiet = encode(tmp_path / "a.mp4", grays(12), fps=24)
    film(tmp_path / "b.mp4", grays(30), fps=30, samples=clicks(1.0))

    with Footage(quiet) as footage:
        assert (footage.width, footage.height, footage.fps) == (64, 48, 24.0)
        assert (footage.seconds, footage.has_sound) == (0.5, False)
    with Footage(tmp_path / "b.mp4") as footage:
        assert (footage.seconds, footage.has_sound) == (1.0, True)


@pytest.mark.parametrize("fps", [15, 30, 60])
def test_frames_are_read_at_any_rate(tmp_path: Path, fps: int) -> None:
    path = encode(tmp_path / "a.mp4", grays(12), fps=30)

    assert numbers(read(path, fps)) == [number * 30 // fps for number in range(12 * fps // 30)]


def test_a_varying_rate_is_resampled_by_time_and_not_by_number(tmp_path: Path) -> None:
    times = [0.0, 0.1, 0.2, 0.7, 0.75, 0.8]
    path = encode(tmp_path / "a.mp4", grays(6), times=times)

    assert numbers(read(path, 20, end=0.9)) == [0, 0, 1, 1, *[2] * 10, 3, 4, 5]


def test_a_part_begins_and_ends_at_the_given_times(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", grays(36), fps=30)

    assert numbers(read(path, 30, start=0.5, end=0.7)) == [15, 16, 17, 18, 19, 20]
    assert numbers(read(path, 30, start=1.0, end=99.0)) == [30, 31, 32, 33, 34, 35]
    assert len(read(path, 30, start=0.5, end=0.5)) == 1


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_video_that_a_phone_recorded_sideways_is_upright(
    tmp_path: Path, degrees: int, mirrored: bool
) -> None:
    seen = picture(64, 48, RED)
    path = rotate(encode(tmp_path / "a.mp4", [seen] * 4), degrees, mirrored=mirrored)
    upright = np.rot90(seen[:, ::-1] if mirrored else seen, -degrees // 90)

    with Footage(path) as footage:
        (frame, *_), (planes, *_) = footage.frames(30), footage.frames(30, i420=True)
        assert (footage.height, footage.width) == frame.shape[:2] == upright.shape[:2]
    for shown in (frame, rgb_of(planes)):
        assert np.abs(shown.astype(int) - upright).mean() < 6


@pytest.mark.parametrize(("tags", "matrix"), [((1, 1, 1, 1), 1), ((6, 1, 1, 13), 5)])
def test_colors_are_read_by_the_matrix_that_the_file_names(
    tmp_path: Path, tags: tuple[int, int, int, int], matrix: int
) -> None:
    path = encode(tmp_path / "a.mp4", [picture(64, 48, GREEN)] * 2, tags=tags, matrix=matrix)

    assert np.abs(read(path, 30)[0][40, 50].astype(int) - GREEN).max() <= 4


@pytest.mark.parametrize("transfer", [16, 18])
def test_high_dynamic_range_keeps_its_highlights_and_its_order(
    tmp_path: Path, transfer: int
) -> None:
    pixels = np.zeros((48, 96, 3), np.uint8)
    for number, level in enumerate((40, 100, 150, 180, 230, 255)):
        pixels[:, 16 * number : 16 * number + 16] = level
    path = encode(
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


def test_exif_data_in_the_frames_of_a_camera_is_skipped(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mov", grays(2), codec="mjpeg", pixel_format="yuvj420p")
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01" + bytes(6)
    content = path.read_bytes()
    start = content.index(b"\xff\xd8") + 2  # the first frame has 36 bytes before the picture
    path.write_bytes(content[:start] + b"\xff\xe1\0\x22" + exif + content[start + 36 :])

    assert len(read(path)) == 2


def test_transparent_parts_of_a_video_are_black(tmp_path: Path) -> None:
    pixels = np.full((48, 64, 4), 255, np.uint8)
    pixels[:, 32:, 3] = 0
    path = encode(
        tmp_path / "a.mov", [pixels] * 2, codec="qtrle", pixel_format="argb", tags=(2, 2, 2, 2)
    )

    shown = read(path, 30)[0]

    assert (shown[:, :30].min(), shown[:, 34:].max()) == (255, 0)


def test_a_truncated_video_is_refused(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (75, 96, 128, 3), np.uint8)
    whole = film(tmp_path / "a.mp4", list(noise), fps=25).read_bytes()
    (tmp_path / "b.mp4").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(EngineError, match=r"incomplete|cut off or damaged") as caught:
        read(tmp_path / "b.mp4", 25)
    assert caught.value.code == "undecodable"


@pytest.mark.parametrize(
    "content", [b"", b"no video at all" * 20, b"ffconcat version 1.0\n", b"GIF89a" + bytes(60)]
)
def test_a_file_that_is_neither_video_nor_sound_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mp4").write_bytes(content)

    for opened in (Footage, open_sound):
        with pytest.raises(EngineError) as caught:
            opened(tmp_path / "a.mp4")
        assert caught.value.code == "undecodable"


def test_the_last_picture_is_repeated_while_the_sound_continues(tmp_path: Path) -> None:
    with Footage(delay(tmp_path / "a.mov", 0.0, 3.0, most=1)) as footage:
        assert footage.seconds == pytest.approx(3.0, abs=0.1)
        frames = list(footage.frames(10))
    assert len(frames) == pytest.approx(30, abs=1)
    assert (frames[-1] == frames[0]).all()


@pytest.mark.parametrize("tall", [False, True])
def test_pixels_that_are_not_square_keep_the_shape_of_the_picture(
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

    assert read(path)[0].shape == ((540, 720, 3) if tall else (576, 1024, 3))


@pytest.mark.parametrize(("primaries", "expected"), [(9, (249, 0, 8)), (12, (218, 0, 5))])
def test_colors_of_a_wide_gamut_are_converted(
    tmp_path: Path, primaries: int, expected: tuple[int, int, int]
) -> None:
    pixels = np.full((64, 96, 3), 128, np.uint8)
    pixels[:, 48:] = 200, 40, 30
    path = encode(tmp_path / "a.mp4", [pixels] * 2, tags=(1, 1, primaries, 1), matrix=1)

    frame = read(path)[0].astype(int)

    assert np.abs(frame[32, 20] - 128).max() <= 2, "gray stays gray"
    assert np.abs(frame[32, 80] - expected).max() <= 4


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv420p10le", "yuv422p10le", "yuv444p"])
@pytest.mark.parametrize("size", [(96, 64), (48, 32), (160, 100)])
def test_white_stays_white_at_every_depth_and_size(
    tmp_path: Path, pixel_format: str, size: tuple[int, int]
) -> None:
    white = np.full((64, 96, 3), 255, np.uint8)
    path = encode(tmp_path / "a.mp4", [white] * 2, codec="libx264", pixel_format=pixel_format)

    with Footage(path) as footage:
        assert next(footage.frames(30, size=size)).min() >= 254


def test_a_video_read_at_half_its_size_is_the_mean_of_its_pixels(tmp_path: Path) -> None:
    pictures = [scene(number / 24, (640, 512)) for number in range(24)]
    path = encode(tmp_path / "large.mp4", pictures)
    with Footage(path) as footage:
        whole = list(footage.frames(30, size=(640, 512), i420=True))
        half = list(footage.frames(30, size=(320, 256), i420=True))
    assert len(whole) == len(half) == 24
    for large, small in zip(whole, half, strict=True):
        mean = cv2.resize(large[:512], (320, 256), interpolation=cv2.INTER_AREA)
        assert cv2.PSNR(mean, np.ascontiguousarray(small[:256])) > 38


def delay(path: Path, start: float, seconds: float, offset: float = 0.0, most: int = 999) -> Path:
    """Write a file whose clock begins late, its sound later still, with `most` pictures at most."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        sound: Any = container.add_stream("pcm_s16le", rate=48_000, layout="mono")
        for number in range(round(seconds * 25)):
            frame: Any = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), "rgb24")
            frame.pts, frame.time_base = round((start + number / 25) * 25), Fraction(1, 25)
            container.mux(stream.encode(frame) if number < most else [])
            frame = av.AudioFrame.from_ndarray(np.full((1, 1920), 9999, np.int16), "s16", "mono")
            frame.sample_rate, frame.time_base = 48_000, Fraction(1, 48_000)
            frame.pts = round((start + offset) * 48_000) + 1920 * number
            container.mux(sound.encode(frame))
        container.mux(stream.encode(None))
        container.mux(sound.encode(None))
    return path


@pytest.mark.parametrize("offset", [0.3, -1.5])
def test_a_clock_that_does_not_begin_at_zero_adds_no_time(tmp_path: Path, offset: float) -> None:
    path = delay(tmp_path / "a.mkv", 5.0, 2.0, offset=offset)
    with Footage(path) as footage:
        assert footage.seconds == pytest.approx(2.0, abs=0.05)
        assert len(list(footage.frames(25))) == pytest.approx(50, abs=1)
    seconds = measure(path, "audio")  # from the first picture on
    with limit_seconds({path: seconds}):
        sound = open_sound(path)
    assert [seconds, sound.seconds] == pytest.approx([2.0 + offset] * 2, abs=0.05)
    begin = np.argmax(sound.samples[0] > 0.1) / 48_000
    assert begin == pytest.approx(max(offset, 0.0), abs=0.003)


def test_seeking_to_a_late_start_can_be_canceled(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", [np.zeros((48, 64, 3), np.uint8)] * 60)
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 20:
            raise InterruptedError

    with Footage(path) as footage, pytest.raises(InterruptedError):
        next(footage.frames(30, start=1.9, check=check))
    assert len(asked) == 20


#: Options of encoders that mark what they write as interlaced.
HALVES = {**WHOLE, "flags": "+ildct+ilme"}

MARKED = {"x264-params": "interlaced=1:tff=1", "crf": "4"}


def scene(moment: float, size: tuple[int, int] = (160, 128)) -> np.ndarray:
    """Return bars that are as wide as their gaps and move by two pixels per frame."""
    column = (np.arange(size[0]) - 2 * moment) % 32 < 16
    return np.repeat(np.where(column, 230, 40).astype(np.uint8)[None, :, None], 3, 2).repeat(
        size[1], 0
    )


def halves(count: int, first: int = 0, size: tuple[int, int] = (160, 128)) -> list[np.ndarray]:
    """Return frames that each show two moments."""
    return [
        weave(scene(number, size), scene(number + 0.5, size))
        for number in range(first, first + count)
    ]


def comb(frame: np.ndarray) -> float:
    """Return how much rows differ from those next to them."""
    return float(np.abs(np.diff(frame[8:-8].astype(int), axis=0)).mean())


def write_interlaced(
    path: Path, pictures: list[np.ndarray], codec: str = "libx264", options: Any = MARKED
) -> Path:
    """Write frames that are tagged as interlaced."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=25, options=options)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv422p10le" if codec == "prores_ks" else "yuv420p"
        for pixels in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("codec", "ending", "options"),
    [
        ("libx264", "mp4", {"x264-params": "interlaced=1:tff=1"}),
        ("libx264", "mp4", {"x264-params": "interlaced=1:bff=1"}),
        ("mpeg2video", "mkv", HALVES),
        ("mpeg2video", "mov", HALVES),
        ("prores_ks", "mov", {"flags": "+ildct"}),
    ],
)
def test_interlaced_video_is_deinterlaced(
    tmp_path: Path, codec: str, ending: str, options: dict[str, str]
) -> None:
    frames = read(write_interlaced(tmp_path / f"a.{ending}", halves(12), codec, options))

    assert len(frames) == 12
    assert max(map(comb, frames)) < 2


@pytest.mark.parametrize("kind", ["pan", "lines", "noise"])
def test_progressive_video_is_not_deinterlaced(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(1)
    ground = cv2.resize(rng.integers(0, 255, (40, 120, 3), np.uint8), (960, 160))
    pictures = [ground[:, 3 * number : 3 * number + 240] for number in range(10)]
    if kind == "lines":
        # A screen with lines one pixel high, scrolled by an odd number of rows.
        ground[:], ground[::2] = 220, 40
        pictures = [np.roll(ground[:, :240], 3 * number, axis=0) for number in range(10)]
    if kind == "noise":
        pictures = [rng.integers(0, 255, (160, 240, 3), np.uint8) for _ in range(10)]
    path = encode(tmp_path / "a.mp4", [np.ascontiguousarray(one) for one in pictures], fps=25)

    pairs = zip(read(path), frames_of(path), strict=True)

    assert max(np.abs(one.mean(axis=2) - other.mean(axis=2)).mean() for one, other in pairs) < 3
