from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition

from kit.engines.media.footage import Footage
from kit.engines.media.soundfile import _Clock, _Shears, opened
from kit.engines.media.tracks import RATE
from kit.errors import EngineError
from tests.engines.films import clicks, onsets, picture


def sung(path: Path, codec: str, *, cover: bool) -> Path:
    """Write a song, with the picture of an album in front or without."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=RATE)
        stream.codec_context.layout = "stereo"
        frame: Any = av.AudioFrame.from_ndarray(clicks(3.0), format="fltp", layout="stereo")
        frame.sample_rate, frame.pts = RATE, 0
        if cover:
            image: Any = container.add_stream("mjpeg", rate=1)
            image.width, image.height, image.pix_fmt = 64, 64, "yuvj420p"
            image.disposition = Disposition.attached_pic
            shown: Any = av.VideoFrame.from_ndarray(picture(64, 64, (200, 30, 30)), "rgb24")
            shown.pts = 0
            container.mux(image.encode(shown.reformat(format="yuvj420p")))
            container.mux(image.encode(None))
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def test_the_cover_of_a_song_neither_delays_it_nor_makes_it_a_video(tmp_path: Path) -> None:
    plain = sung(tmp_path / "a.mp3", "libmp3lame", cover=False)
    covered = sung(tmp_path / "b.mp3", "libmp3lame", cover=True)

    with av.open(str(covered)) as container:
        assert len(container.streams.video) == 1, "it has a cover"
    assert onsets(opened(covered).samples) == onsets(opened(plain).samples)
    with pytest.raises(EngineError, match="no video"):
        Footage(covered)


def test_a_clock_that_jumps_by_a_day_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("pcm_s16le", rate=RATE)
        stream.codec_context.layout = "mono"
        for start in (0, 86_400 * RATE):
            frame: Any = av.AudioFrame.from_ndarray(
                np.full((1, RATE), 0.5, np.float32), format="fltp", layout="mono"
            )
            frame.sample_rate, frame.pts, frame.time_base = RATE, start, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))

    sound = opened(path, seconds=5.0)

    assert sound.seconds == 5.0
    assert np.abs(sound.samples[:, : RATE - 100]).min() > 0.3
    assert not sound.samples[:, RATE + 100 :].any()


def test_a_picture_is_called_no_sound_and_not_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.mp3").write_bytes(b"GIF89a" + bytes(60))

    with pytest.raises(EngineError, match="not sound in MP3") as told:
        opened(tmp_path / "a.mp3")
    assert told.value.code == "wrong_type"


def test_what_lies_on_the_disk_is_what_was_decoded(tmp_path: Path) -> None:
    path = sung(tmp_path / "a.mp3", "libmp3lame", cover=False)

    kept = opened(path, seconds=2.0, folder=tmp_path)

    assert kept.seconds == 2.0
    assert np.array_equal(kept.samples, opened(path, seconds=2.0).samples)
    assert list(tmp_path.iterdir()) == [path]


def test_one_channel_is_as_loud_from_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        samples = np.full((1, 8000), 16_384, np.int16)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))

    heard = opened(path).samples

    assert heard.shape == (2, RATE)
    assert np.abs(heard[:, 4800:-4800] - 0.5).max() < 0.01


def test_channels_may_change_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    packets: list[Any] = []
    for layout, channels in (("stereo", 2), ("5.1", 6), ("mono", 1)):
        context: Any = av.CodecContext.create("ac3", "w")
        context.sample_rate, context.layout, context.format = RATE, layout, "fltp"
        beeps = clicks(1.024, channels=channels)
        for first in range(0, beeps.shape[1], 1536):
            part = np.ascontiguousarray(beeps[:, first : first + 1536])
            frame = av.AudioFrame.from_ndarray(part, "fltp", layout)
            frame.sample_rate = RATE
            packets += context.encode(frame)
        packets += context.encode(None)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ac3", rate=RATE, layout="stereo")
        container.start_encoding()
        for number, packet in enumerate(packets):
            packet.stream, packet.time_base = stream, Fraction(1, 1000)
            packet.pts = packet.dts = 32 * number
            container.mux(packet)

    heard = opened(path)

    assert heard.channels == 2
    assert onsets(heard.samples) == pytest.approx([0.5, 1.524, 2.548], abs=0.03)


@pytest.mark.parametrize("pace", [0.97, 1.03])
def test_sound_whose_clock_runs_at_another_pace_stays_with_the_pictures(
    tmp_path: Path, pace: float
) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("pcm_s16le", rate=RATE)
        stream.codec_context.layout = "stereo"
        samples, size = clicks(20.0), RATE // 50
        for number in range(samples.shape[1] // size):
            part = np.ascontiguousarray(samples[:, number * size :][:, :size])
            frame: Any = av.AudioFrame.from_ndarray(part, format="fltp", layout="stereo")
            frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
            frame.pts = round(number * size * pace)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))

    heard = onsets(opened(path).samples)

    # What is too much may have been a beep.
    assert len(heard) >= 18
    assert max(abs((moment / pace) % 1 - 0.5) for moment in heard) < 0.13
    assert heard[-1] == pytest.approx(19.5 * pace, abs=0.13)


def test_a_clock_that_stands_still_leaves_the_sound_as_it_is() -> None:
    clock = _Clock(0.0)
    frames = [SimpleNamespace(time=0.0, samples=4800, sample_rate=RATE) for _ in range(100)]

    assert [clock.off(frame) for frame in frames] == [0.0] * 100


def test_what_is_left_out_for_the_clock_leaves_no_click(tmp_path: Path) -> None:
    path, size = tmp_path / "a.mkv", RATE // 50
    hum = 0.5 * np.sin(2 * np.pi * 97 * np.arange(12 * RATE) / RATE)
    samples = np.repeat(hum[None], 2, 0).astype(np.float32)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("pcm_s16le", rate=RATE)
        stream.codec_context.layout = "stereo"
        for number in range(samples.shape[1] // size):
            part = np.ascontiguousarray(samples[:, number * size :][:, :size])
            frame: Any = av.AudioFrame.from_ndarray(part, format="fltp", layout="stereo")
            frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
            frame.pts = round(number * size * 0.97)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))

    heard = opened(path).samples

    assert heard.shape[1] < 11.8 * RATE, "something was left out"
    assert np.abs(np.diff(heard)).max() < 1.5 * np.abs(np.diff(samples)).max()


@pytest.mark.parametrize("size", [100, 1024])
def test_sound_before_the_first_picture_leaves_no_trace(size: int) -> None:
    shears, samples = _Shears(), np.random.default_rng(1).normal(0, 0.1, (2, 4096))
    shears.leave_out(1500)

    kept = [shears.cut(samples[:, at : at + size]) for at in range(0, 4096, size)]

    assert np.array_equal(np.concatenate(kept, axis=1), samples[:, 1500:])


def test_a_cut_is_as_soft_whichever_way_the_sound_comes() -> None:
    samples = np.sin(np.arange(6000) / 40)[None].astype(np.float32)
    cuts = []
    for size in (6000, 130):
        shears = _Shears()
        begun = shears.cut(samples[:, :1000])
        shears.leave_out(700)
        parts = [shears.cut(samples[:, at : at + size]) for at in range(1000, 6000, size)]
        cuts.append(np.concatenate([begun, *parts], axis=1))

    assert cuts[0].shape == (1, 5300)
    assert np.array_equal(*cuts)
    assert np.abs(np.diff(cuts[0])).max() < 0.04
