import math
from collections.abc import Callable

import cv2
import numpy as np
import pytest

from kit.engines.editing.lipsync.lids import Eye, blinks, closable, find_eyes, lashes, shut
from kit.engines.editing.lipsync.pose import Pose, Window, pose_of
from kit.engines.media.faces import find
from tests.engines.drawn import EYES, face, place


def test_eyes_are_found_at_the_iris() -> None:
    pixels = face(x=160, y=175, size=115, tilt=0.08)
    (found,) = find(pixels)
    pose = pose_of(found)
    assert found.eyes is not None

    eyes = find_eyes(pixels, pose, found.eyes)

    for eye, side in zip(eyes, (-1, 1), strict=True):
        truth = place(side * EYES[0], EYES[1], x=160, y=175, size=115, tilt=0.08)
        assert math.dist(pose.to_pixels((eye.x, eye.y)), truth) < 4


def test_a_lid_covers_the_eye_with_the_skin_below_it() -> None:
    eye = Eye(-50, 0)
    x, y = Window(-80, -30, 60, 50).grid()

    closed = shut(x, y, eye, 1.0)
    eyeball = (np.abs(x + 50) < 15) & (np.abs(y) < 4)

    assert (closed.cover[eyeball] == 1).all()
    assert (closed.source_y[eyeball] > 8).all()
    assert shut(x, y, eye, 0.0).cover.max() == 0
    left, top, right, bottom = eye.reach()
    away = (x < left) | (x > right) | (y < top) | (y > bottom)
    assert closed.cover[away].max() == 0
    assert lashes(x, y, eye, 1.0, sharp=1.0).max() > 0.5
    assert lashes(x, y, eye, 0.0, sharp=1.0).max() == 0


def test_the_lid_comes_down_evenly() -> None:
    x, y = np.zeros((40, 1), np.float32), np.linspace(-20, 19, 40, dtype=np.float32)[:, None]

    covers = [shut(x, y, Eye(0, 0), amount).cover.sum() for amount in np.linspace(0, 1, 11)]

    assert (np.diff(covers) > 1).all()


def test_a_lid_is_as_bright_as_the_skin_round_it() -> None:
    pixels = np.full((200, 300, 3), (200, 160, 140), np.uint8)
    pixels[:92] = (160, 120, 105)
    pose = Pose(150, 100, 1.0)

    (eye, _) = find_eyes(pixels, pose, ((100, 100), (200, 100)))
    x, y = Window(-80, -30, 60, 50).grid()
    lid = shut(x, y, eye, 1.0)

    whole = lid.cover == 1
    assert eye.tint == pytest.approx((0.8, 0.75, 0.75), abs=0.02)
    assert lid.light[whole & (y < eye.y - 9)].mean() < 0.8
    assert lid.light[whole & (y > eye.y + 7)].mean() > 0.9


def test_eyes_are_found_though_they_were_told_a_little_too_high() -> None:
    pixels = face(x=160, y=175, size=115)
    (found,) = find(pixels)
    pose = pose_of(found)
    told = [place(side * EYES[0], EYES[1], x=160, y=175, size=115) for side in (-1, 1)]
    (ax, ay), (bx, by) = told
    higher = 6 * pose.unit

    eyes = find_eyes(pixels, pose, ((ax, ay - higher), (bx, by - higher)))

    for eye, truth in zip(eyes, told, strict=True):
        assert math.dist(pose.to_pixels((eye.x, eye.y)), truth) < 4 * pose.unit


def _closable(pixels: np.ndarray) -> bool:
    (found,) = find(face(x=160, y=175, size=115))
    assert found.eyes is not None
    pose = pose_of(found)
    return closable(pixels, pose, find_eyes(pixels, pose, found.eyes))


def test_clear_eyes_can_be_closed() -> None:
    assert _closable(face(x=160, y=175, size=115))


def _blurred(pixels: np.ndarray, spots: list[tuple[int, int]]) -> None:
    pixels[:] = cv2.GaussianBlur(pixels, (0, 0), 7)


def _under_brows(pixels: np.ndarray, spots: list[tuple[int, int]]) -> None:
    for x, y in spots:
        pixels[y - 22 : y - 1, x - 20 : x + 20] = (60, 45, 38)


def _outlined(pixels: np.ndarray, spots: list[tuple[int, int]]) -> None:
    x, y = spots[1]
    pixels[y + 12 : y + 19, x - 20 : x + 20] = (50, 30, 25)


def _at_the_edge(pixels: np.ndarray, spots: list[tuple[int, int]]) -> None:
    x, y = spots[1]
    pixels[y - 30 : y + 40, x + 8 :] = (30, 60, 90)


@pytest.mark.parametrize(
    "spoiled",
    [_blurred, _under_brows, _outlined, _at_the_edge],
    ids=lambda f: f.__name__,
)
def test_eyes_that_would_close_badly_are_left_open(
    spoiled: Callable[[np.ndarray, list[tuple[int, int]]], None],
) -> None:
    pixels = face(x=160, y=175, size=115)
    spots = [place(side * EYES[0], EYES[1], x=160, y=175, size=115) for side in (-1, 1)]
    spoiled(pixels, [(round(x), round(y)) for x, y in spots])

    assert not _closable(pixels)


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
