import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.editing.lipsync.ear import judged, soft, traits, voiced
from kit.engines.editing.lipsync.moments import moments_of
from tests.engines.video.lipsync.speaking import chords, drums, noise, pause, sentence, vowel


def sure(samples: np.ndarray) -> np.ndarray:
    return voiced(moments_of(samples.astype(np.float32), Progress()))


def test_speech_is_a_voice_and_noise_and_music_are_none() -> None:
    assert sure(sentence(4))[20:380].min() > 0.8
    for other in (noise(4), chords(4), drums(4)):
        assert sure(other)[20:380].max() < 0.1


def test_the_volume_does_not_matter() -> None:
    samples = np.concatenate([sentence(3), chords(3)])

    loud, soft_one = sure(samples), sure(0.05 * samples)

    assert np.abs(loud - soft_one).mean() < 0.03


def test_a_voice_begins_and_ends_about_where_it_is_heard() -> None:
    found = sure(np.concatenate([noise(3, level=0.1), sentence(3), noise(3, level=0.1)]))

    assert found[:180].max() < 0.2
    assert found[350:550].min() > 0.8
    assert found[720:880].max() < 0.2


@pytest.mark.parametrize("seconds", [0.01, 0.3, 0.8])
def test_what_is_too_short_to_tell_is_taken_for_a_voice(seconds: float) -> None:
    assert sure(vowel("ah", seconds)).max() > 0.9


def test_silence_gives_finite_traits() -> None:
    moments = moments_of(pause(1), Progress())

    found = traits(moments)
    assert found.shape == (13, len(moments))
    assert np.isfinite(found).all()
    assert np.isfinite(judged(found)).all()


def test_smoothing_keeps_the_mean_and_the_shape() -> None:
    track = np.random.default_rng(1).random((3, 400)).astype(np.float32)

    smooth = soft(track, 0.1)

    assert smooth.shape == track.shape
    assert smooth.mean() == pytest.approx(track.mean(), abs=0.02)
    assert smooth.std() < 0.4 * track.std()
    assert soft(track[0], 0.1) == pytest.approx(smooth[0], abs=1e-5)
