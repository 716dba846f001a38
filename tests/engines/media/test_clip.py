import threading
from pathlib import Path

import av
import numpy as np
import pytest

from kit.engines.media.clip import Clip, rgb_frame, rgb_of
from kit.errors import EngineError


def frames(count: int, width: int = 64, height: int = 48) -> list[np.ndarray]:
    ramp = np.linspace(0, 200, width)[None, :, None]
    return [
        rgb_frame(np.broadcast_to(ramp + 4 * n, (height, width, 3)).astype(np.uint8))
        for n in range(count)
    ]


def write(path: Path, count: int = 12, fps: int = 24) -> bytes:
    with Clip(path, 64, 48, fps=fps) as clip:
        for frame in frames(count):
            clip.add(frame)
    return path.read_bytes()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "clip-encoder"]


def test_a_clip_has_the_frames_size_rate_and_color_tags_it_was_given(tmp_path: Path) -> None:
    write(tmp_path / "a.mp4", count=31, fps=30)

    with av.open(str(tmp_path / "a.mp4")) as container:
        stream = container.streams.video[0]
        context = stream.codec_context
        decoded = list(container.decode(video=0))

    assert (context.name, context.width, context.height) == ("h264", 64, 48)
    assert (len(decoded), float(stream.average_rate)) == (31, 30.0)
    assert decoded[0].format.name == "yuv420p"
    tags = (context.colorspace, context.color_range, context.color_primaries, context.color_trc)
    assert tags == (6, 1, 1, 13)


def test_colors_survive_the_clip(tmp_path: Path) -> None:
    source = np.zeros((48, 64, 3), np.uint8)
    source[:, :32], source[:, 32:] = (200, 60, 40), (30, 90, 180)
    with Clip(tmp_path / "a.mp4", 64, 48, fps=24) as clip:
        for _ in range(5):
            clip.add(rgb_frame(source))

    with av.open(str(tmp_path / "a.mp4")) as container:
        shown = next(container.decode(video=0)).to_ndarray(format="rgb24")

    assert np.abs(shown[:, 4:24].mean(axis=(0, 1)) - source[0, 0]).max() < 5
    assert np.abs(shown[:, 40:60].mean(axis=(0, 1)) - source[0, 40]).max() < 5


def test_the_index_comes_before_the_frames(tmp_path: Path) -> None:
    content = write(tmp_path / "a.mp4")

    assert 0 < content.index(b"moov") < content.index(b"mdat")


def test_the_same_frames_give_the_same_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "a.mp4", count=40) == write(tmp_path / "b.mp4", count=40)


def test_odd_sizes_and_frames_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="even sizes, not 63 x 48"):
        Clip(tmp_path / "a.mp4", 63, 48, fps=24)
    with (
        pytest.raises(EngineError, match="does not fit"),
        Clip(tmp_path / "b.mp4", 64, 48, fps=24) as clip,
    ):
        clip.add(np.zeros((10, 10), np.uint8))

    assert threads() == []


@pytest.mark.parametrize("count", [0, 1, 30])
def test_an_error_while_drawing_comes_through_and_ends_the_encoder(
    tmp_path: Path, count: int
) -> None:
    def draw() -> None:
        with Clip(tmp_path / "a.mp4", 64, 48, fps=24) as clip:
            for frame in frames(count):
                clip.add(frame)
            raise RuntimeError("the drawing broke")

    with pytest.raises(RuntimeError, match="the drawing broke"):
        draw()

    assert threads() == []


def test_an_error_in_the_encoder_reaches_the_drawing_thread(tmp_path: Path) -> None:
    def draw() -> None:
        with Clip(tmp_path / "a.mp4", 64, 48, fps=24) as clip:
            for frame in frames(60):
                # The shape fits, the type does not: only the encoder can notice.
                clip.add(frame.astype(np.float64))

    with pytest.raises(EngineError, match="could not be encoded"):
        draw()

    assert threads() == []


def test_a_frame_there_and_back_looks_the_same() -> None:
    source = np.full((48, 64, 3), (120, 90, 60), np.uint8)

    assert np.abs(rgb_of(rgb_frame(source)).astype(int) - source).max() <= 3
