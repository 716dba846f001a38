import contextlib
import threading
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from av.video.reformatter import Interpolation

from kit.engines.media.clip import FORMATS, Clip, rgb_frame, rgb_of
from kit.engines.media.sound import Sound
from kit.errors import EngineError
from tests.engines.films import clicks


def make_frames(count: int) -> list[np.ndarray]:
    ramp = np.linspace(0, 200, 64)[None, :, None].repeat(48, 0).repeat(3, 2)
    return [rgb_frame((ramp + n).astype(np.uint8)) for n in range(count)]


#: Conversion by FFmpeg without the losses of its fast paths.
EXACT = Interpolation.FULL_CHR_H_INT | Interpolation.ACCURATE_RND


def encoder_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "clip-encoder"]


@pytest.mark.parametrize(
    "size", [(62, 50), (64, 46), (66, 54), (854, 480), (1280, 720), (1920, 1080)]
)
def test_decoded_colors_are_those_of_a_player(tmp_path: Path, size: tuple[int, int]) -> None:
    colors = np.array([[220, 30, 30], [30, 200, 40], [40, 60, 220], [250, 250, 250], [8, 8, 8]])
    pixels = np.repeat(colors[None].astype(np.uint8), 6, axis=1)
    pixels = np.ascontiguousarray(cv2.resize(pixels, size, interpolation=cv2.INTER_NEAREST))
    with Clip(tmp_path / "a.mp4", *size, fps=24, quality=1) as clip:
        clip.add(rgb_frame(pixels))

    with av.open(str(tmp_path / "a.mp4")) as container:
        frame = next(container.decode(video=0))
        shown = frame.reformat(format="rgb24", interpolation=EXACT).to_ndarray()

    middles = ((np.arange(5) + 0.5) * size[0] / 5).astype(int)
    for back in (shown, rgb_of(rgb_frame(pixels))):
        assert np.abs(back[:, middles].astype(int) - colors).max() <= 2


def test_odd_sizes_and_frames_of_another_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="even sizes, not 63 x 48"):
        Clip(tmp_path / "a.mp4", 63, 48, fps=24)
    with (
        pytest.raises(EngineError, match="does not fit"),
        Clip(tmp_path / "b.mp4", 64, 48, fps=24) as clip,
    ):
        clip.add(np.zeros((10, 10), np.uint8))

    assert encoder_threads() == []


@pytest.mark.parametrize(
    ("count", "kind", "sentence"),
    [
        (0, np.uint8, "the drawing broke"),
        (30, np.uint8, "the drawing broke"),
        # The shape fits, the type does not: only the encoder can notice.
        (60, np.float64, "could not be encoded"),
    ],
)
def test_an_error_in_drawing_or_encoding_is_raised_and_ends_the_encoder(
    tmp_path: Path, count: int, kind: type, sentence: str
) -> None:
    def draw() -> None:
        with Clip(tmp_path / "a.mp4", 64, 48, fps=24) as clip:
            for frame in make_frames(count):
                clip.add(frame.astype(kind))
            raise RuntimeError("the drawing broke")

    with pytest.raises((RuntimeError, EngineError), match=sentence):
        draw()

    assert encoder_threads() == []


@pytest.mark.parametrize("kind", FORMATS)
def test_a_clip_can_be_canceled_while_the_encoder_is_flushed(tmp_path: Path, kind: str) -> None:
    _, ending, codec = FORMATS[kind]
    rng = np.random.default_rng(1)
    drawn = threading.Event()

    def check() -> None:
        if drawn.is_set():
            raise InterruptedError

    def draw() -> None:
        path = tmp_path / f"a{ending}"
        with Clip(path, 320, 240, fps=24, codec=codec, check=check) as clip:
            for _ in range(40):
                clip.add(rng.integers(0, 255, (360, 320), np.uint8))
            drawn.set()

    with pytest.raises(InterruptedError):
        draw()

    assert encoder_threads() == []


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_has_its_frames_rate_tags_sound_and_is_deterministic(
    tmp_path: Path, kind: str
) -> None:
    _, ending, codec = FORMATS[kind]

    def write_clip(name: str) -> bytes:
        path = tmp_path / f"{name}{ending}"
        with Clip(path, 64, 48, fps=30, codec=codec, sound=Sound.of(clicks(1.0))) as clip:
            for frame in make_frames(31):
                clip.add(frame)
        return path.read_bytes()

    content = write_clip("a")
    assert content == write_clip("b")
    assert ending == ".webm" or 0 < content.index(b"moov") < content.index(b"mdat")
    with av.open(str(tmp_path / f"a{ending}")) as container:
        picture, sound = container.streams.video[0], container.streams.audio[0]
        context = picture.codec_context
        tags = (context.colorspace, context.color_range, context.color_primaries, context.color_trc)
        assert (context.pix_fmt, tags) == ("yuv420p", (1, 1, 1, 1))
        assert (context.width, context.height, float(picture.average_rate)) == (64, 48, 30.0)
        assert sound.codec_context.name == ("opus" if ending == ".webm" else "aac")
        assert len(list(container.decode(picture))) == 31


def test_sound_ends_with_the_last_frame(tmp_path: Path) -> None:
    with Clip(tmp_path / "a.mp4", 64, 48, fps=24, sound=Sound.of(clicks(9.0))) as clip:
        for frame in make_frames(48):
            clip.add(frame)

    with av.open(str(tmp_path / "a.mp4")) as container:
        sound = container.streams.audio[0]
        assert float(sound.duration * sound.time_base) == pytest.approx(2.0, abs=0.001)


@pytest.mark.parametrize("kind", FORMATS)
def test_encoders_print_nothing_even_when_a_clip_is_canceled(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    _, ending, codec = FORMATS[kind]
    for ends in (True, False):
        with (
            contextlib.suppress(RuntimeError),
            Clip(tmp_path / f"a{ending}", 64, 48, fps=24, codec=codec) as clip,
        ):
            for frame in make_frames(3):
                clip.add(frame)
            if not ends:
                raise RuntimeError

    assert capfd.readouterr() == ("", "")
