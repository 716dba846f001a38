from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.engines.editing.lipsync.voice import Speech, heard
from kit.engines.media import sound
from kit.engines.media.sound import Sound
from tests.engines.video.lipsync.speaking import (
    applause,
    chords,
    drums,
    hiss,
    hum,
    noise,
    over,
    pause,
    saved,
    sentence,
    vowel,
    wind,
)

FPS = 25


def said(*parts: np.ndarray, fps: int = FPS) -> Speech:
    return heard(Sound(np.concatenate(parts).astype(np.float32)[None]), fps)


def during(track: np.ndarray, start: float, end: float) -> float:
    return float(track[round(start * FPS) : round(end * FPS)].mean())


@pytest.mark.parametrize(
    ("seconds", "fps", "frames"), [(1.0, 25, 25), (1.01, 30, 31), (0.001, 24, 1)]
)
def test_there_is_a_mouth_for_every_frame(seconds: float, fps: int, frames: int) -> None:
    speech = said(vowel("ah", seconds), fps=fps)

    assert len(speech) == frames
    assert all(
        track.shape == (frames,) and track.dtype == np.float32
        for track in (speech.jaw, speech.spread, speech.hiss, speech.closure, speech.stress)
    )


def test_louder_vowels_open_the_mouth_more() -> None:
    levels = (0.05, 0.12, 0.3, 0.8)
    parts = [part for level in levels for part in (vowel("ah", 0.4, level), pause(0.2))]

    jaw = said(*parts).jaw
    opened = [during(jaw, 0.6 * n + 0.12, 0.6 * n + 0.35) for n in range(len(levels))]

    assert opened == sorted(opened)
    assert opened[0] < 0.45 * opened[-1]
    assert opened[-1] > 0.7


@pytest.mark.parametrize("room", [0.0, 0.0004])
def test_silence_keeps_the_mouth_closed(room: float) -> None:
    noise = room * np.random.default_rng(1).standard_normal(48_000)

    speech = said(noise)

    assert speech.jaw.max() == pytest.approx(0, abs=1e-3)
    assert speech.hiss.max() == pytest.approx(0, abs=1e-3)


def test_the_mouth_closes_in_the_pauses_of_a_noisy_recording() -> None:
    speech = said(pause(0.4), vowel("ah", 0.5), pause(0.6), vowel("ah", 0.5), pause(0.3))
    noise = 0.004 * np.random.default_rng(1).standard_normal(round(2.3 * 48_000))
    noisy = said(
        np.concatenate([pause(0.4), vowel("ah", 0.5), pause(0.6), vowel("ah", 0.5), pause(0.3)])
        + noise
    )

    for track in (speech.jaw, noisy.jaw):
        assert during(track, 1.15, 1.4) < 0.04
        assert during(track, 0.5, 0.85) > 0.6


def test_lips_spread_for_ee_and_round_for_oo() -> None:
    spread = said(vowel("ee", 0.5), pause(0.2), vowel("oo", 0.5)).spread

    assert during(spread, 0.1, 0.45) > 0.35
    assert during(spread, 0.8, 1.15) < -0.35


def test_an_open_vowel_opens_wider_than_a_close_one_and_a_hum_hardly() -> None:
    parts = (vowel("ah", 0.4), pause(0.2), vowel("oo", 0.4), pause(0.2), hum(0.4))

    jaw = said(*parts).jaw

    ah, oo, mm = (during(jaw, 0.6 * n + 0.1, 0.6 * n + 0.35) for n in range(3))
    assert ah > oo > 0.1
    assert mm < 0.3 * ah


def test_hissing_brings_the_teeth_together() -> None:
    speech = said(vowel("ah", 0.4), hiss(0.3), vowel("ah", 0.4))

    assert during(speech.hiss, 0.45, 0.62) > 0.5
    assert during(speech.hiss, 0.1, 0.3) < 0.05
    assert during(speech.jaw, 0.5, 0.6) < 0.4 * during(speech.jaw, 0.1, 0.3)


def test_a_short_gap_between_vowels_closes_the_lips() -> None:
    speech = said(vowel("ah", 0.4), pause(0.08), vowel("ah", 0.4))

    at = slice(round(0.36 * FPS), round(0.50 * FPS))
    assert speech.closure[at].max() > 0.6
    assert speech.jaw[at].min() < 0.3 * speech.jaw.max()
    assert during(speech.closure, 0.1, 0.3) < 0.05


def test_the_mouth_moves_with_the_sound_and_not_after_it() -> None:
    jaw = said(pause(0.6), vowel("ah", 0.6), pause(0.6)).jaw

    opens = int(np.argmax(jaw > 0.3 * jaw.max())) / FPS
    closes = (len(jaw) - int(np.argmax(jaw[::-1] > 0.3 * jaw.max()))) / FPS
    assert opens == pytest.approx(0.6, abs=0.06)
    assert closes == pytest.approx(1.22, abs=0.09)


@pytest.mark.parametrize(
    ("ending", "likeness"), [(".mp3", 0.98), (".ogg", 0.98), (".flac", 0.999), (".m4a", 0.98)]
)
def test_the_same_speech_in_another_format_moves_the_mouth_alike(
    tmp_path: Path, ending: str, likeness: float
) -> None:
    parts = (
        pause(0.2),
        vowel("ah", 0.3),
        pause(0.08),
        vowel("ee", 0.3, 0.3),
        hiss(0.15),
        vowel("oo", 0.4),
        pause(0.2),
    )
    jaw, spread = (
        [
            getattr(heard(sound.opened(saved(tmp_path / f"a{kind}", *parts)), FPS), name)
            for kind in (".wav", ending)
        ]
        for name in ("jaw", "spread")
    )

    for one, other in (jaw, spread):
        assert abs(len(one) - len(other)) <= 2
        count = min(len(one), len(other))
        assert np.corrcoef(one[:count], other[:count])[0, 1] > likeness
        assert np.abs(one[:count] - other[:count]).mean() < 0.06


def test_stereo_is_heard_as_its_middle_and_frame_rates_agree() -> None:
    voice = np.concatenate([vowel("ah", 0.4), pause(0.2), vowel("ee", 0.4)])

    mono, stereo = heard(Sound(voice[None]), 25), heard(Sound(np.stack([voice, voice])), 25)
    faster = heard(Sound(voice[None]), 50)

    assert np.array_equal(mono.jaw, stereo.jaw)
    assert np.abs(faster.jaw[::2] - mono.jaw).max() < 0.35
    assert np.corrcoef(faster.jaw[::2], mono.jaw)[0, 1] > 0.97


_OTHERS = {
    "white noise": noise(4),
    "pink noise": noise(4, 0.5, 0.5),
    "rumble": noise(4, 1.0, 0.6),
    "hum": np.tile(hum(1), 4),
    "wind": wind(4),
    "applause": applause(4),
    "plucked chords": chords(4),
    "bowed chords": chords(4, attack=0.1, each=1.0),
    "drums": drums(4),
    "band": 0.5 * (drums(4) + chords(4)),
}
_VOICES: dict[str, dict[str, Any]] = {
    "man": {},
    "deep man": {"pitch": 85, "larger": 0.95},
    "woman": {"pitch": 210, "larger": 1.15},
    "child": {"pitch": 300, "larger": 1.35},
    "whisper": {"manner": "whispered"},
    "singer": {"pitch": 180, "manner": "sung"},
}


@pytest.mark.parametrize("name", _OTHERS)
def test_noise_and_music_keep_the_mouth_shut(name: str) -> None:
    speech = said(_OTHERS[name])

    assert speech.jaw.mean() < 0.03
    assert speech.jaw.max() < 0.15
    assert np.abs(speech.spread).max() < 0.15
    assert speech.hiss.max() < 0.1
    assert speech.stress.mean() < 0.05


@pytest.mark.parametrize("name", _VOICES)
def test_all_kinds_of_voices_move_the_mouth(name: str) -> None:
    jaw = said(sentence(4, **_VOICES[name])).jaw

    assert 0.25 < jaw.mean() < 0.65
    assert np.percentile(jaw, 90) > 0.6
    assert np.percentile(jaw, 10) < 0.1


@pytest.mark.parametrize("name", _VOICES)
def test_noise_and_soft_music_behind_a_voice_leave_its_mouth_as_it_is(name: str) -> None:
    voice = sentence(4, **_VOICES[name])
    alone = said(voice).jaw

    for other, decibels in ((noise(4), 6), (chords(4), 12)):
        jaw = said(over(voice, other, decibels)).jaw
        assert np.corrcoef(jaw, alone)[0, 1] > 0.85
        assert jaw.mean() > 0.75 * alone.mean()


def test_music_before_and_after_words_keeps_the_mouth_shut() -> None:
    jaw = said(0.4 * _OTHERS["band"], sentence(3), 0.4 * _OTHERS["band"]).jaw

    assert during(jaw, 0, 3) < 0.03
    assert during(jaw, 4.1, 6.9) > 0.3
    assert during(jaw, 8, 11) < 0.03


def test_a_mouth_that_speaks_in_steady_hiss_closes_in_the_pauses() -> None:
    voice = np.concatenate([sentence(2), pause(0.8), sentence(2)])
    jaw = said(over(voice, noise(4.8), 8)).jaw

    assert during(jaw, 2.25, 2.65) < 0.05


def test_single_words_are_taken_for_a_voice() -> None:
    jaw = said(vowel("ah", 0.5)).jaw

    assert jaw.max() > 0.6


@pytest.mark.parametrize("background", [0.0, 0.01])
def test_syllables_and_the_mouth_are_together_within_40_ms(background: float) -> None:
    voice = sentence(5)
    steps = np.abs(voice).reshape(-1, 480).mean(axis=1)
    jaw = said(voice + background * noise(5) / 0.2, fps=100).jaw

    def likeness(late: int) -> float:
        return float(np.corrcoef(steps[20:-20], jaw[20 + late : len(steps) - 20 + late])[0, 1])

    assert abs(max(range(-15, 16), key=likeness)) <= 4


def test_the_mouth_does_not_tremble() -> None:
    jaw = said(over(sentence(5), noise(5), 6), fps=100).jaw

    power = np.abs(np.fft.rfft((jaw - jaw.mean()) * np.hanning(len(jaw)))) ** 2
    fast = np.fft.rfftfreq(len(jaw), 0.01) > 12
    assert power[fast].sum() < 0.03 * power.sum()
