import math

import numpy as np
import pytest

from kit.engines.media.faces import find
from kit.engines.video.lipsync.lids import Eye, blinks, find_eyes, lashes, shut
from kit.engines.video.lipsync.pose import Window, pose_of
from tests.engines.media.drawn import EYES, face, place


def test_eyes_are_found_at_the_iris() -> None:
    pixels = face(x=160, y=175, size=115, tilt=0.08)
    (found,) = find(pixels)
    pose = pose_of(found)
    assert found.eyes is not None

    eyes = find_eyes(pixels, pose, found.eyes)

    for eye, side in zip(eyes, (-1, 1), strict=True):
        truth = place(side * EYES[0], EYES[1], x=160, y=175, size=115, tilt=0.08)
        assert math.dist(pose.to_pixels((eye.x, eye.y)), truth) < 4


def test_a_lid_covers_the_eye_with_the_skin_above_it() -> None:
    eye = Eye(-50, 0)
    x, y = Window(-80, -30, 60, 50).grid()

    closed = shut(x, y, eye, 1.0)
    eyeball = (np.abs(x + 50) < 15) & (np.abs(y) < 4)

    assert (closed[eyeball] < -5).all()
    assert np.array_equal(shut(x, y, eye, 0.0)[y > 0], y[y > 0])
    away = np.abs(x + 50) > 28
    assert np.abs(closed[away] - y[away]).max() < 1e-4
    assert lashes(x, y, eye, 1.0, sharp=1.0).max() > 0.5
    assert lashes(x, y, eye, 0.0, sharp=1.0).max() == 0


def test_the_lid_comes_down_evenly() -> None:
    x, y = np.zeros((40, 1), np.float32), np.linspace(-20, 19, 40, dtype=np.float32)[:, None]

    for amount in (0.3, 0.6, 1.0):
        covered = shut(x, y, Eye(0, 0), amount) != y
        assert (np.diff(shut(x, y, Eye(0, 0), amount)[covered]) >= 0).all()


def test_blinks_come_every_few_seconds_and_last_a_moment() -> None:
    lids = blinks(30 * 60, 30, np.random.default_rng(4))
    starts = np.flatnonzero((lids[1:] > 0) & (lids[:-1] == 0))

    assert lids.dtype == np.float32
    assert (lids.min(), lids.max()) == (0, pytest.approx(1, abs=0.05))
    assert 10 <= len(starts) <= 30
    assert 0.03 < (lids > 0).mean() < 0.2
    assert np.array_equal(lids, blinks(30 * 60, 30, np.random.default_rng(4)))


def test_a_clip_of_one_frame_has_open_eyes() -> None:
    assert blinks(1, 24, np.random.default_rng(0)).tolist() == [0.0]
