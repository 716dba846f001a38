import cv2
import numpy as np

from kit.engines.media.fill.nearby import Nearby, around, mirrored


def test_around_a_pixel_the_nearest_known_ones_tell_most() -> None:
    canvas = np.zeros((100, 200, 3), np.float32)
    canvas[:, :100], canvas[:, 100:] = 50, 200
    known = np.ones((100, 200), bool)
    known[30:70, 20:80] = False

    mean, variance = around(canvas, known)

    assert abs(mean[50, 25] - 50).max() < 5
    assert variance[50, 25] < variance[50, 100]


def test_an_even_ground_varies_by_nothing_and_a_pattern_does() -> None:
    even = np.full((60, 80, 3), 90, np.float32)
    pattern = even.copy()
    pattern[::2] = 130
    known = np.ones((60, 80), bool)

    assert around(even, known)[1].max() < 1
    assert abs(around(pattern, known)[1][30, 40] - 400) < 40


def test_what_nothing_is_known_of_has_a_color_all_the_same() -> None:
    mean, variance = around(np.full((30, 30, 3), 90, np.float32), np.zeros((30, 30), bool))

    assert np.isfinite(mean).all()
    assert np.isfinite(variance).all()


def test_it_costs_to_take_what_is_unlike_a_calm_rim_and_nothing_beside_a_busy_one() -> None:
    busy = np.random.default_rng(1).integers(0, 255, (100, 100, 3)).astype(np.float32)
    canvas = np.hstack([np.full((100, 100, 3), 120, np.float32), busy])
    canvas[40:60, 180:] = 200
    gap = np.zeros((100, 200), np.uint8)
    gap[40:60, 20:160] = 255
    near = Nearby.over(canvas.astype(np.uint8), gap, np.zeros_like(gap))
    bright = np.array([[50], [190]])

    calm, rough = (near.cost(np.array([[50], [x]]), bright)[0] for x in (30, 150))

    assert calm > 4000
    assert rough < 1500


def test_it_costs_to_take_what_lies_far_away_and_more_so_higher_or_lower() -> None:
    gap = np.zeros((100, 100), np.uint8)
    gap[40:60, 40:60] = 255
    near = Nearby.over(np.full((100, 100, 3), 120, np.uint8), gap, np.zeros_like(gap))
    here = np.array([[50], [50]])

    close, beside, below = (
        near.cost(here, here + np.array([[down], [across]]))[0]
        for down, across in ((0, 5), (0, 30), (30, 0))
    )

    assert 0 < close < beside < below


def test_a_mirror_image_lies_as_far_beyond_the_rim_and_is_usable() -> None:
    gap = np.zeros((60, 100), np.uint8)
    gap[20:40, 40:60] = 255
    usable = cv2.dilate(gap, np.ones((7, 7), np.uint8)) == 0

    moves = mirrored(gap, usable)

    assert tuple(moves[:, 30, 45]) == (0, -12)
    assert tuple(moves[:, 30, 55]) == (0, 10)
    assert not moves[:, gap == 0].any()
    there = np.indices(gap.shape) + moves
    assert usable[there[0], there[1]][gap > 0].all()


def test_a_mirror_image_beyond_the_picture_is_looked_for_within() -> None:
    gap = np.zeros((40, 60), np.uint8)
    gap[:, :50] = 255
    usable = cv2.dilate(gap, np.ones((7, 7), np.uint8)) == 0

    there = (np.indices(gap.shape) + mirrored(gap, usable))[:, gap > 0]

    assert usable[there[0], there[1]].all()
