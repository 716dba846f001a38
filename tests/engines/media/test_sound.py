"""Sound of any file at one rate: cut, stretched, mixed and normalized, never all in memory."""

import os
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition

from kit.engines.media.clip import FORMATS, Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.inspection import inspect
from kit.engines.media.sound import (
    RATE,
    Sound,
    crossfade,
    cut,
    fit_length,
    gather,
    measure,
    mix,
    normalize,
    overlay,
    stretch,
)
from kit.engines.media.soundfile import open_sound
from kit.errors import EngineError
from tests.engines.films import clicks, onsets, picture, record


def tone(seconds: float, *, pitch: float = 440.0, level: float = 0.5, channels: int = 2) -> Sound:
    wave = level * np.sin(2 * np.pi * pitch * np.arange(round(seconds * RATE)) / RATE)
    return Sound.of(np.repeat(wave[None], channels, 0).astype(np.float32))


def pitch(sound: Sound) -> float:
    line = sound.samples[0]
    spectrum = np.abs(np.fft.rfft(line * np.hanning(len(line))))
    return float(np.argmax(spectrum)) / sound.seconds


@pytest.mark.parametrize(
    ("ending", "codec"),
    [
        ("wav", "pcm_s16le"),
        ("mp3", "libmp3lame"),
        ("ogg", "libopus"),
        ("flac", "flac"),
        ("m4a", "aac"),
    ],
)
def test_every_format_of_sound_is_read_at_one_rate(tmp_path: Path, ending: str, codec: str) -> None:
    path = record(tmp_path / f"a.{ending}", clicks(3.0), codec)

    sound = open_sound(path)

    assert (sound.channels, sound.samples.dtype) == (2, np.float32)
    assert sound.seconds == pytest.approx(3.0, abs=0.06)
    assert onsets(sound.samples) == pytest.approx(
        [0.5, 1.5, 2.5], abs=0.002 if ending != "mp3" else 0.03
    )


def test_other_rates_and_channels_are_converted(tmp_path: Path) -> None:
    path = record(tmp_path / "a.wav", tone(1.0, channels=1).samples[:, :8000], "pcm_s16le", 8000)

    assert open_sound(path).samples.shape == pytest.approx((2, RATE), abs=40)
    assert open_sound(path, channels=1).samples.shape == pytest.approx((1, RATE), abs=40)


def test_an_mp3_of_a_slow_rate_needs_no_tag(tmp_path: Path) -> None:
    path = record(tmp_path / "a.mp3", clicks(3.0, channels=1)[:, :8000], "libmp3lame", 8000)
    content = path.read_bytes()
    path.write_bytes(content[content.index(b"\xff\xe3") :])

    assert inspect(path, "audio/mpeg")["duration_seconds"] == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("kind", FORMATS)
def test_flash_and_click_stay_in_sync_in_every_format(tmp_path: Path, kind: str) -> None:
    _, ending, codec = FORMATS[kind]
    path = tmp_path / f"a{ending}"
    with Clip(path, 64, 48, fps=30, codec=codec, sound=Sound.of(clicks(3.0))) as clip:
        for number in range(90):
            lit = 15 <= number % 30 < 18
            clip.add(rgb_frame(np.full((48, 64, 3), 235 if lit else 20, np.uint8)))

    with Footage(path) as footage:
        bright = [frame.mean() > 128 for frame in footage.frames(30)]
    flashes = [n / 30 for n in range(1, 90) if bright[n] and not bright[n - 1]]

    assert flashes == pytest.approx([0.5, 1.5, 2.5], abs=0.001)
    assert onsets(open_sound(path).samples) == pytest.approx(flashes, abs=0.003)


def test_a_part_is_cut_and_filled_with_silence_outside_of_the_sound() -> None:
    sound = tone(1.0)

    part = cut(sound, 0.75, 1.25)

    assert part.seconds == 0.5
    assert np.array_equal(part.samples[:, : RATE // 4], sound.samples[:, -RATE // 4 :])
    assert not part.samples[:, RATE // 4 :].any()
    assert not cut(sound, -0.5, 0.0).samples.any()
    assert not normalize(overlay([], 1.0)).samples.any()
    assert normalize(overlay([], 0.0)).seconds == 0.0


def test_fit_length_cuts_fills_repeats_and_fades() -> None:
    sound = tone(1.0)

    assert fit_length(sound, 0.4).seconds == 0.4
    assert not fit_length(sound, 2.0).samples[:, RATE:].any()
    long = fit_length(sound, 2.5, loop=True, fade_in=0.1, fade_out=0.2)
    assert long.seconds == 2.5
    loud = np.abs(long.samples[0]).reshape(-1, RATE // 10).max(axis=1)
    assert loud[2:22].min() > 0.45
    assert np.abs(long.samples[:, [0, -1]]).max() < 1e-6
    assert loud[-1] < 0.4


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.0, 1.5, 4.0])
def test_stretched_sound_keeps_its_pitch_and_has_the_exact_length(speed: float) -> None:
    sound = stretch(tone(2.0), speed)

    assert sound.samples.shape == (2, round(2 * RATE / speed))
    assert pitch(sound) == pytest.approx(440, abs=4)
    assert np.abs(sound.samples[0, -RATE // 20 :]).max() > 0.3, "the end is not lost"


def test_a_known_tone_has_the_loudness_of_the_standard() -> None:
    left = tone(3.0, pitch=997, level=1.0).samples * np.array([[1.0], [0.0]], np.float32)

    assert measure(Sound.of(left))[0] == pytest.approx(-3.01, abs=0.05)
    assert measure(Sound.of(left * 0.1))[0] == pytest.approx(-23.01, abs=0.05)


@pytest.mark.parametrize("level", [0.04, 0.2, 0.9])
def test_normalized_sound_has_the_given_loudness_and_a_limited_peak(level: float) -> None:
    rng = np.random.default_rng(3)
    speech = tone(4.0, level=level).samples * (rng.random(4 * RATE) < 0.999)
    sound = normalize(Sound.of(speech.astype(np.float32)), -14.0)

    assert measure(Sound.of(sound.samples))[0] == pytest.approx(-14.0, abs=0.3)
    assert np.abs(sound.samples).max() <= 10 ** (-1 / 20) + 1e-4


def test_peaks_are_reduced_instead_of_clipped() -> None:
    samples = tone(4.0, level=0.02).samples.copy()
    samples[:, 2 * RATE : 2 * RATE + 200] *= 45

    sound = normalize(Sound.of(samples), -14.0)

    assert np.abs(sound.samples).max() <= 10 ** (-1 / 20) + 1e-4
    assert np.abs(sound.samples[:, RATE : RATE + 4800]).max() > 4 * 0.02


def test_music_is_quieter_during_a_voice_and_loud_again_after_it() -> None:
    voice = cut(cut(tone(2.0, pitch=200), 0.0, 2.0), -2.0, 6.0)
    music = tone(8.0, pitch=3000, level=0.3)

    both = mix(voice, music).samples[0]
    under = [np.abs(np.fft.rfft(both[at : at + 4800])[300]) for at in (RATE, 3 * RATE, 7 * RATE)]
    plain = mix(voice, music, duck=False).samples[0]

    assert under[1] < 0.35 * under[0]
    assert under[2] == pytest.approx(under[0], rel=0.05)
    assert np.abs(np.fft.rfft(plain[3 * RATE : 3 * RATE + 4800])[300]) == pytest.approx(
        under[0], rel=0.05
    )


def test_a_song_with_a_cover_picture_is_not_delayed_and_not_a_video(tmp_path: Path) -> None:
    plain = record(tmp_path / "a.mp3", clicks(3.0), "libmp3lame")
    with av.open(str(tmp_path / "b.mp3"), "w") as container, av.open(str(plain)) as song:
        image: Any = container.add_stream("mjpeg", rate=1)
        image.width, image.height, image.pix_fmt = 64, 64, "yuvj420p"
        image.disposition = Disposition.attached_pic
        stream = container.add_stream_from_template(song.streams.audio[0])
        shown: Any = av.VideoFrame.from_ndarray(picture(64, 64, (200, 30, 30)), "rgb24")
        container.mux([*image.encode(shown.reformat(format="yuvj420p")), *image.encode(None)])
        for packet in song.demux(audio=0):
            if packet.dts is not None:
                packet.stream = stream
                container.mux(packet)

    assert onsets(open_sound(tmp_path / "b.mp3").samples) == onsets(open_sound(plain).samples)
    with pytest.raises(EngineError, match="no video"):
        Footage(tmp_path / "b.mp3")


def test_a_timestamp_that_jumps_by_a_day_does_not_fill_the_memory(tmp_path: Path) -> None:
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

    sound = open_sound(path, seconds=5.0)

    assert sound.seconds == 5.0
    assert np.abs(sound.samples[:, : RATE - 100]).min() > 0.3
    assert not sound.samples[:, RATE + 100 :].any()


def test_samples_that_are_not_numbers_become_silence(tmp_path: Path) -> None:
    samples = tone(1.0, level=1e30).samples
    samples[:, 9000:9100] = np.nan
    result = open_sound(record(tmp_path / "a.wav", samples, "pcm_f32le")).samples
    assert not result[:, 9000:9100].any()
    assert np.abs(result).max() == 100


def test_the_number_of_channels_may_change_within_a_file(tmp_path: Path) -> None:
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

    result = open_sound(path)

    assert result.channels == 2
    assert onsets(result.samples) == pytest.approx([0.5, 1.524, 2.548], abs=0.03)


@pytest.mark.parametrize("pace", [0.97, 1.03])
def test_sound_with_a_fast_or_slow_clock_stays_in_sync(tmp_path: Path, pace: float) -> None:
    path = record(tmp_path / "a.mkv", clicks(20.0), "pcm_s16le", pace=pace)

    result = onsets(open_sound(path).samples)

    # A part that was cut may have been a beep.
    assert len(result) >= 18
    assert max(abs((moment / pace) % 1 - 0.5) for moment in result) < 0.13
    assert result[-1] == pytest.approx(19.5 * pace, abs=0.13)


def test_cuts_for_the_clock_make_no_click(tmp_path: Path) -> None:
    samples = tone(12.0, pitch=97).samples
    path = record(tmp_path / "a.mkv", samples, "pcm_s16le", pace=0.97)

    result = open_sound(path).samples

    assert result.shape[1] < 11.8 * RATE, "a part was cut"
    assert np.abs(np.diff(result)).max() < 1.5 * np.abs(np.diff(samples)).max()


def noise(seconds: float, seed: int = 1, level: float = 0.2) -> Sound:
    count = round(seconds * RATE)
    rng = np.random.default_rng(seed)
    loud = np.repeat(rng.random(-(-count // 4800)) ** 2, 4800)[:count]
    samples = rng.standard_normal((2, count)) * level * loud
    return Sound.of(samples.astype(np.float32))


def make_hum(seconds: float) -> Sound:
    """Return a long sound whose samples are computed when they are read."""

    def part(first: int, last: int) -> np.ndarray:
        line = 0.2 * np.sin(np.arange(first, last) * (2 * np.pi * 300 / RATE))
        return np.stack([line, line]).astype(np.float32)

    return Sound(2, round(seconds * RATE), part)


SOUNDS = {
    "louder, its peaks held": lambda: normalize(noise(2.0), -6.0),
    "over music": lambda: mix(noise(2.0), noise(3.0, seed=2)),
    "repeated and faded": lambda: fit_length(noise(0.4), 3.0, loop=True, fade_in=0.7, fade_out=0.9),
    "one after another": lambda: crossfade(noise(1.0), noise(1.0, seed=2), 0.3),
    "laid over one another": lambda: overlay([(500, noise(1.0)), (9000, noise(2.0))], 2.0),
    "slower": lambda: stretch(noise(1.0), 0.5),
}


@pytest.mark.parametrize("make", SOUNDS.values(), ids=SOUNDS)
def test_parts_of_any_length_equal_the_whole_sound(make: Callable[[], Sound]) -> None:
    sound = make()
    whole = sound.samples
    bounds = [0, 1, 4800, 4831, 20_000, 21_111, 50_001, sound.count]

    parts = [sound.part(a, b) for a, b in pairwise(bounds)]

    assert whole.shape == (2, sound.count)
    assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert whole.any()


def test_sound_in_a_temporary_file_is_the_same_and_the_file_is_removed(tmp_path: Path) -> None:
    parts = [noise(0.5).samples, noise(0.7, seed=2).samples]

    held, kept = gather(parts, 2), gather(parts, 2, tmp_path)

    assert kept.seconds == held.seconds == 1.2
    assert np.array_equal(kept.samples, held.samples)
    assert np.array_equal(kept.part(23_000, 25_000), held.part(23_000, 25_000))
    assert os.name == "nt" or list(tmp_path.iterdir()) == []
    assert gather([], 1, tmp_path).samples.shape == (1, 0)


def test_minutes_of_sound_are_never_all_in_memory(tmp_path: Path) -> None:
    minutes = make_hum(100.0)  # 38 MB
    tracemalloc.start()
    try:
        kept = gather((part for _, part in minutes.parts()), 2, tmp_path)
        both = normalize(mix(kept, fit_length(noise(3.0), 100.0, loop=True)))
        loudest = max(float(np.abs(part).max()) for _, part in both.parts())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 0.2 < loudest < 0.9
    assert most < 25e6
