from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from kit.engines.media import weaving
from kit.engines.media.clip import rgb_frame
from kit.engines.media.footage import Footage
from tests.engines.films import WHOLE, filmed, spliced, woven

#: Options of encoders that mark what they write as interlaced.
HALVES = {**WHOLE, "flags": "+ildct+ilme"}
MARKED = {"x264-params": "interlaced=1:tff=1", "crf": "4"}


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


def scene(moment: float, size: tuple[int, int] = (160, 128)) -> np.ndarray:
    """Return bars that are as wide as they are apart and move by two pixels in a moment."""
    column = (np.arange(size[0]) - 2 * moment) % 32 < 16
    return np.repeat(np.where(column, 230, 40).astype(np.uint8)[None, :, None], 3, 2).repeat(
        size[1], 0
    )


def halves(count: int, first: int = 0, size: tuple[int, int] = (160, 128)) -> list[np.ndarray]:
    """Return frames of which each shows two moments."""
    return [
        woven(scene(number, size), scene(number + 0.5, size))
        for number in range(first, first + count)
    ]


def comb(frame: np.ndarray) -> float:
    """Return how much rows differ from those next to them."""
    return float(np.abs(np.diff(frame[8:-8].astype(int), axis=0)).mean())


def shown(path: Path, **asked: Any) -> list[np.ndarray]:
    with Footage(path) as footage:
        return list(footage.frames(footage.fps, **asked))


def marked(
    path: Path, pictures: list[np.ndarray], codec: str = "libx264", options: Any = MARKED
) -> Path:
    """Write frames that say of themselves that they are in halves."""
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
def test_what_camcorders_filmed_in_halves_has_no_comb(
    tmp_path: Path, codec: str, ending: str, options: dict[str, str]
) -> None:
    frames = shown(marked(tmp_path / f"a.{ending}", halves(12), codec, options))

    assert len(frames) == 12
    assert max(map(comb, frames)) < 2


def test_a_recording_that_turns_to_halves_in_its_middle_has_no_comb(tmp_path: Path) -> None:
    whole = [scene(number) for number in range(10)]
    path = spliced(tmp_path / "a.mkv", "mpeg2video", [(whole, WHOLE), (halves(15, 10), HALVES)])

    frames = shown(path)

    assert len(frames) == 25
    assert max(map(comb, frames)) < 2


def test_halves_may_change_their_size_on_the_way(tmp_path: Path) -> None:
    parts = [(halves(10), HALVES), (halves(10, 10, (320, 256)), HALVES)]
    path = spliced(tmp_path / "a.mkv", "mpeg2video", parts)

    frames = shown(path)

    assert len(frames) == 20
    assert {frame.shape for frame in frames} == {(128, 160, 3)}
    assert max(map(comb, frames)) < 2


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_halves_have_no_comb_either(tmp_path: Path, count: int) -> None:
    path = spliced(tmp_path / "a.mkv", "mpeg2video", [(halves(count), HALVES)])

    frames = shown(path)

    assert len(frames) == count
    assert max(map(comb, frames)) < 2


def detailed(count: int) -> list[np.ndarray]:
    """Return whole pictures of something that has fine lines and goes by."""
    noise = np.random.default_rng(1).integers(0, 255, (128, 300), np.uint8)
    soft = cv2.GaussianBlur(noise, (0, 0), 1.2)
    fine = cv2.normalize(soft, None, 20, 235, cv2.NORM_MINMAX)  # type: ignore[call-overload]
    color = np.repeat(fine[:, :, None], 3, 2)
    return [np.ascontiguousarray(color[:, 6 * number :][:, :160]) for number in range(count)]


def test_whole_pictures_that_are_marked_as_halves_stay_sharp(tmp_path: Path) -> None:
    pictures = detailed(20)

    frames = shown(marked(tmp_path / "a.mp4", pictures))

    off = [
        np.abs(frame.mean(axis=2) - picture.mean(axis=2)).mean()
        for frame, picture in zip(frames, pictures, strict=True)
    ]
    assert max(off) < 1.2


def test_film_that_was_stretched_for_television_has_no_comb(tmp_path: Path) -> None:
    frames = []
    for first in range(0, 20, 4):
        a, b, c, d = (scene(2 * (first + number)) for number in range(4))
        frames += [a, b, woven(b, c), woven(c, d), d]

    found = shown(marked(tmp_path / "a.mp4", frames))

    assert len(found) == len(frames)
    assert max(map(comb, found)) < 2


def moving(moment: float, speed: float = 3.0, size: tuple[int, int] = (240, 160)) -> np.ndarray:
    """Return a sharp ground past which a camera goes."""
    rng = np.random.default_rng(8)
    ground = cv2.resize(rng.integers(0, 255, (40, 120, 3), np.uint8), (960, 160))
    shift = np.array([[1, 0, -speed * moment], [0, 1, 0]], np.float32)
    return np.asarray(cv2.warpAffine(ground, shift, size))


@pytest.mark.parametrize("first", [0, 1])
def test_a_comb_is_found_without_a_mark_and_whichever_half_is_first(
    tmp_path: Path, first: int
) -> None:
    moments = [(scene(2 * n), scene(2 * n + 1)) for n in range(12)]
    pictures = [woven(*(pair if first == 0 else pair[::-1])) for pair in moments]

    frames = shown(filmed(tmp_path / "a.mp4", pictures, fps=25))

    assert len(frames) == 12
    for number, frame in enumerate(frames):
        assert comb(frame) < 0.1 * comb(pictures[number])
        nearby = (scene(2 * number + moment) for moment in (-1, 0, 1, 2))
        before, *own, after = (np.abs(frame - p.astype(int)).mean() for p in nearby)
        assert min(own) < min(before, after), "no frame is shown late"


@pytest.mark.parametrize("kind", ["pan", "lines", "noise"])
def test_what_shows_one_moment_is_not_touched(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(1)
    pictures = [moving(number) for number in range(10)]
    if kind == "lines":
        # A screen with lines one pixel high, which scrolls by an odd number of rows.
        ground = np.full((160, 240, 3), 220, np.uint8)
        ground[::2] = 40
        pictures = [np.roll(ground, 3 * number, axis=0) for number in range(10)]
    if kind == "noise":
        pictures = [rng.integers(0, 255, (160, 240, 3), np.uint8) for _ in range(10)]

    with av.open(str(filmed(tmp_path / "a.mp4", pictures, fps=25))) as container:
        decoded = list(container.decode(video=0))

    assert [id(frame) for frame in weaving.woven(decoded)] == [id(frame) for frame in decoded]


def lined(light: float) -> np.ndarray:
    """Return a picture with lines one pixel high, as of an old screen, in some light."""
    ground = moving(0).astype(float)
    ground[1::2] *= 0.86
    return np.clip(ground * light, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("lights", [np.linspace(0, 1, 9), 1 + 0.5 * np.sin(np.arange(20) / 3)])
def test_light_that_changes_on_lines_is_no_comb(tmp_path: Path, lights: np.ndarray) -> None:
    pictures = [lined(light) for light in lights]

    with av.open(str(filmed(tmp_path / "a.mp4", pictures, fps=25))) as container:
        decoded = list(container.decode(video=0))

    assert [id(frame) for frame in weaving.woven(decoded)] == [id(frame) for frame in decoded]


def growing(moment: float) -> np.ndarray:
    """Return something that only grows, so that no place gets darker."""
    pixels = np.full((160, 240, 3), 40, np.uint8)
    half = round(8 + 6 * moment)
    pixels[:, 120 - half : 120 + half] = 220
    return pixels


def test_the_comb_of_what_grows_is_not_taken_for_light(tmp_path: Path) -> None:
    pictures = [woven(growing(n), growing(n + 0.5)) for n in range(12)]

    frames = shown(filmed(tmp_path / "a.mp4", pictures, fps=25))

    assert max(map(comb, frames)) < 0.2 * comb(pictures[-1])
