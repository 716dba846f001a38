from pathlib import Path

import av
import numpy as np
import pytest

from kit.engines.media.clip import FORMATS, Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.loudness import ducking, loudness
from kit.engines.media.sound import (
    RATE,
    Sound,
    cut,
    fitted,
    joined,
    leveled,
    mixed,
    opened,
    silence,
    stretched,
)
from kit.errors import EngineError
from tests.engines.films import clicks, filmed, onsets, picture


def tone(seconds: float, *, pitch: float = 440.0, level: float = 0.5, channels: int = 2) -> Sound:
    wave = level * np.sin(2 * np.pi * pitch * np.arange(round(seconds * RATE)) / RATE)
    return Sound(np.repeat(wave[None], channels, 0).astype(np.float32))


def pitch(sound: Sound) -> float:
    line = sound.samples[0]
    spectrum = np.abs(np.fft.rfft(line * np.hanning(len(line))))
    return float(np.argmax(spectrum)) / sound.seconds


def written(path: Path, samples: np.ndarray, codec: str, rate: int = RATE) -> Path:
    layout = "mono" if len(samples) == 1 else "stereo"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.codec_context.layout = layout
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples), format="fltp", layout=layout
        )
        frame.sample_rate, frame.pts = rate, 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


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
def test_every_kind_of_sound_file_is_read_at_one_rate(
    tmp_path: Path, ending: str, codec: str
) -> None:
    path = written(tmp_path / f"a.{ending}", clicks(3.0), codec)

    sound = opened(path)

    assert (sound.channels, sound.samples.dtype) == (2, np.float32)
    assert sound.seconds == pytest.approx(3.0, abs=0.06)
    assert onsets(sound.samples) == pytest.approx(
        [0.5, 1.5, 2.5], abs=0.002 if ending != "mp3" else 0.03
    )


def test_other_rates_and_channels_are_converted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", tone(1.0, channels=1).samples[:, :8000], "pcm_s16le", 8000)

    assert opened(path).samples.shape == pytest.approx((2, RATE), abs=40)
    assert opened(path, channels=1).samples.shape == pytest.approx((1, RATE), abs=40)


@pytest.mark.parametrize("kind", FORMATS)
def test_flash_and_click_stay_together_through_every_format(tmp_path: Path, kind: str) -> None:
    _, ending, codec = FORMATS[kind]
    path = tmp_path / f"a{ending}"
    with Clip(path, 64, 48, fps=30, codec=codec, sound=Sound(clicks(3.0))) as clip:
        for number in range(90):
            lit = 15 <= number % 30 < 18
            clip.add(rgb_frame(np.full((48, 64, 3), 235 if lit else 20, np.uint8)))

    with Footage(path) as footage:
        bright = [frame.mean() > 128 for frame in footage.frames(30)]
    flashes = [n / 30 for n in range(1, 90) if bright[n] and not bright[n - 1]]

    assert flashes == pytest.approx([0.5, 1.5, 2.5], abs=0.001)
    assert onsets(opened(path).samples) == pytest.approx(flashes, abs=0.003)


def test_only_as_much_is_read_as_was_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "a.wav", clicks(3.0), "pcm_s16le")

    assert opened(path, seconds=1.25).samples.shape == (2, 60_000)
    assert opened(path, seconds=99).seconds == 3.0


def test_a_silent_video_and_a_broken_file_are_refused_in_a_sentence(tmp_path: Path) -> None:
    quiet = filmed(tmp_path / "a.mp4", [picture(64, 48, (9, 9, 9))] * 3)
    (tmp_path / "b.mp3").write_bytes(b"ID3 but nothing else")

    with pytest.raises(EngineError, match="no sound") as told:
        opened(quiet)
    assert told.value.code == "no_sound"
    with pytest.raises(EngineError, match="cut off or damaged"):
        opened(tmp_path / "b.mp3")


def test_a_part_is_cut_and_filled_with_silence_where_there_is_none() -> None:
    sound = tone(1.0)

    part = cut(sound, 0.75, 1.25)

    assert part.seconds == 0.5
    assert np.array_equal(part.samples[:, : RATE // 4], sound.samples[:, -RATE // 4 :])
    assert not part.samples[:, RATE // 4 :].any()
    assert not cut(sound, -0.5, 0.0).samples.any()


def test_fitting_cuts_fills_repeats_and_fades() -> None:
    sound = tone(1.0)

    assert fitted(sound, 0.4).seconds == 0.4
    assert not fitted(sound, 2.0).samples[:, RATE:].any()
    long = fitted(sound, 2.5, loop=True, fade_in=0.1, fade_out=0.2)
    assert long.seconds == 2.5
    loud = np.abs(long.samples[0]).reshape(-1, RATE // 10).max(axis=1)
    assert loud[2:22].min() > 0.45
    assert np.abs(long.samples[:, [0, -1]]).max() < 1e-6
    assert loud[-1] < 0.4


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.0, 1.5, 4.0])
def test_another_speed_keeps_the_pitch_and_has_the_exact_length(speed: float) -> None:
    sound = stretched(tone(2.0), speed)

    assert sound.samples.shape == (2, round(2 * RATE / speed))
    assert pitch(sound) == pytest.approx(440, abs=4)
    assert np.abs(sound.samples[0, -RATE // 20 :]).max() > 0.3, "the end is not lost"


def test_a_known_tone_has_the_loudness_of_the_standard() -> None:
    left = tone(3.0, pitch=997, level=1.0).samples * np.array([[1.0], [0.0]], np.float32)

    assert loudness(left) == pytest.approx(-3.01, abs=0.05)
    assert loudness(left * 0.1) == pytest.approx(-23.01, abs=0.05)


@pytest.mark.parametrize("level", [0.04, 0.2, 0.9])
def test_leveled_sound_has_the_asked_loudness_and_no_peak_over_the_top(level: float) -> None:
    rng = np.random.default_rng(3)
    speech = tone(4.0, level=level).samples * (rng.random(4 * RATE) < 0.999)
    sound = leveled(Sound(speech.astype(np.float32)), -14.0)

    assert loudness(sound.samples) == pytest.approx(-14.0, abs=0.3)
    assert np.abs(sound.samples).max() <= 10 ** (-1 / 20) + 1e-4


def test_peaks_are_turned_down_instead_of_clipped() -> None:
    samples = tone(4.0, level=0.02).samples.copy()
    samples[:, 2 * RATE : 2 * RATE + 200] *= 45

    sound = leveled(Sound(samples), -14.0)

    assert np.abs(sound.samples).max() <= 10 ** (-1 / 20) + 1e-4
    assert np.abs(sound.samples[:, RATE : RATE + 4800]).max() > 4 * 0.02


def test_silence_stays_silence() -> None:
    assert not leveled(silence(1.0)).samples.any()
    assert leveled(silence(0.0)).seconds == 0.0


def test_music_makes_room_for_a_voice_and_comes_back() -> None:
    voice = cut(cut(tone(2.0, pitch=200), 0.0, 2.0), -2.0, 6.0)
    music = tone(8.0, pitch=3000, level=0.3)

    both = mixed(voice, music).samples[0]
    under = [np.abs(np.fft.rfft(both[at : at + 4800])[300]) for at in (RATE, 3 * RATE, 7 * RATE)]
    plain = mixed(voice, music, duck=False).samples[0]

    assert under[1] < 0.35 * under[0]
    assert under[2] == pytest.approx(under[0], rel=0.05)
    assert np.abs(np.fft.rfft(plain[3 * RATE : 3 * RATE + 4800])[300]) == pytest.approx(
        under[0], rel=0.05
    )


def test_two_sounds_join_without_a_dip() -> None:
    rng = np.random.default_rng(5)
    one, other = (Sound(rng.standard_normal((2, RATE)).astype(np.float32) * 0.1) for _ in range(2))

    both = joined(one, other, 0.5)

    assert both.seconds == 1.5
    power = np.square(both.samples[0]).reshape(-1, RATE // 10).mean(axis=1)
    assert power.min() > 0.8 * power.mean()
    assert joined(one, other, 9.0).seconds == 1.0


def test_music_gives_way_to_a_soft_voice_that_falls_silent() -> None:
    # What is left of a resampled voice beyond its end is less than a sum of loud values can tell.
    end = tone(0.005, level=3e-7).samples
    voice = Sound(
        np.hstack([tone(1.003, level=0.015).samples, end, np.zeros((2, RATE), np.float32)])
    )

    gains = ducking(voice)

    assert gains[500] == pytest.approx(0.28, abs=0.01)
    assert gains[-1] == pytest.approx(1.0, abs=0.01)
