import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.editing.lipsync.moments import MOMENTS, moments_of
from tests.engines.video.lipsync.speaking import hum, noise, pause, vowel

MIDDLE = slice(20, 60)


def test_there_are_a_hundred_moments_a_second_and_some_silence_after() -> None:
    moments = moments_of(vowel("ah", 1.0), Progress())

    assert MOMENTS < len(moments) < MOMENTS + 40
    assert moments.mouth.shape == (5, len(moments))
    assert moments.heard.shape == (16, len(moments))
    assert moments.partials.shape[1] == len(moments)
    assert moments.mouth[:, -10:].max() < 1e-6 < moments.mouth[:, :100].max()


@pytest.mark.parametrize("pitch", [90.0, 140.0, 220.0, 380.0])
def test_the_pitch_of_a_voice_is_found(pitch: float) -> None:
    moments = moments_of(vowel("ah", 0.8, pitch=pitch), Progress())

    assert np.exp(moments.pitch[MIDDLE]) == pytest.approx(pitch, rel=0.05)
    assert moments.periodic[MIDDLE].min() > 0.38


def test_noise_is_not_periodic_and_silence_neither() -> None:
    assert moments_of(noise(1), Progress()).periodic[MIDDLE].mean() < 0.33
    assert moments_of(pause(1), Progress()).periodic.max() < 0.4


def test_a_full_sine_is_about_0_decibels() -> None:
    wave = np.sin(2 * np.pi * 500 * np.arange(48_000) / 48_000).astype(np.float32)

    moments = moments_of(wave, Progress())

    assert moments.mouth[1, MIDDLE] == pytest.approx(0.8, rel=0.1)
    assert moments.mouth[[0, 2, 3, 4]][:, MIDDLE].max() < 1e-3


def test_a_hum_has_lines_that_stand_out_and_hiss_has_none_that_stay() -> None:
    tone, hiss = (moments_of(sound, Progress()).partials for sound in (hum(1), noise(1)))

    assert tone[:, MIDDLE].mean(axis=1).max() > 1.5
    assert hiss[:, MIDDLE].mean(axis=1).max() < 1
