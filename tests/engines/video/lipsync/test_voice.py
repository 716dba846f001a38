from pathlib import Path

import numpy as np
import pytest

from kit.engines.media import sound
from kit.engines.media.sound import Sound
from kit.engines.video.lipsync.voice import Speech, heard
from tests.engines.video.lipsync.speaking import hiss, hum, pause, saved, vowel

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
