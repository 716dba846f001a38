from dataclasses import astuple

import numpy as np
import pytest

from kit.engines.editing.lipsync.head import REACH, Posture, carried, postures
from kit.engines.editing.lipsync.pose import Window
from kit.engines.editing.lipsync.voice import heard
from kit.engines.media.color import Floats
from kit.engines.media.sound import Sound
from tests.engines.video.lipsync.speaking import pause, vowel

SPEECH = heard(Sound(np.concatenate([vowel("ah", 1.5), pause(0.5), vowel("ee", 1.0)])[None]), 25)


def field(posture: Posture) -> tuple[Floats, Floats]:
    left, top, right, bottom = REACH
    return carried(*Window(left, top, right - left, bottom - top, 0.25).grid(), posture)


def table(motion: float, seed: int = 1) -> np.ndarray:
    held = postures(SPEECH, 25, motion, np.random.default_rng(seed))
    return np.array([astuple(posture) for posture in held])


def test_there_is_a_posture_for_every_frame_and_it_starts_at_rest() -> None:
    held = table(1.0)

    assert len(held) == len(SPEECH)
    assert np.abs(held[0]).max() == 0
    assert np.abs(held).max(axis=0).min() > 0.003


def test_no_motion_is_no_motion_and_more_is_more() -> None:
    assert np.abs(table(0.0)).max() == 0
    assert np.abs(table(1.0)).mean() > 1.9 * np.abs(table(0.5)).mean()


def test_the_seed_decides_the_way_the_head_goes() -> None:
    assert np.array_equal(table(1.0), table(1.0))
    assert not np.allclose(table(1.0), table(1.0, seed=2))


def test_heads_move_smoothly() -> None:
    steps = np.abs(np.diff(table(1.0), axis=0)).max(axis=0)

    assert steps[0] < 0.004
    assert steps[1:].max() < 1.0


@pytest.mark.parametrize(
    "posture", [Posture(roll=0.03), Posture(sway=4), Posture(turn=6), Posture(nod=-5, lift=2)]
)
def test_only_the_head_moves_and_nothing_folds(posture: Posture) -> None:
    across, along = field(posture)

    assert np.hypot(across, along).max() > 2.9
    for move in (across, along):
        assert (
            max(np.abs(edge).max() for edge in (move[0], move[-1], move[:, 0], move[:, -1])) < 0.1
        )
    # One place of the grid is four face units.
    assert np.abs(np.diff(across, axis=1)).max() < 2
    assert np.abs(np.diff(along, axis=0)).max() < 2
