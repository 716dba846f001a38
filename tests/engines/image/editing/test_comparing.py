import numpy as np

from kit.engines.base import Progress
from kit.engines.media.fill.comparing import RADIUS, far, nearest, patches, whole_patches


def test_whole_patches_touch_no_hole_and_no_edge() -> None:
    gap = np.zeros((40, 60), np.uint8)
    gap[20, 30] = 255

    usable = whole_patches(gap, np.zeros_like(gap))

    assert not usable[:RADIUS].any()
    assert not usable[:, -RADIUS:].any()
    assert not usable[20 - RADIUS : 21 + RADIUS, 30 - RADIUS : 31 + RADIUS].any()
    assert usable.sum() == (40 - 2 * RADIUS) * (60 - 2 * RADIUS) - (2 * RADIUS + 1) ** 2


def test_the_most_alike_place_is_found_with_what_it_costs() -> None:
    canvas = np.random.default_rng(1).normal(120, 40, (40, 60, 3)).astype(np.float32)
    canvas[5:20, 5:20] = canvas[5:20, 35:50]
    at, known = np.array([[12], [12]]), np.array([[12, 12, 30], [42, 30, 20]])
    weight = np.full((1, (2 * RADIUS + 1) ** 2 * 3), 1.0, np.float32)
    weight /= weight.sum()

    best, cost = nearest(canvas, at, (patches(canvas, at), weight), known, Progress())

    assert best.ravel().tolist() == [12, 42]
    assert 0 < cost[0] < 40


def test_it_costs_more_to_come_from_above_than_from_the_side() -> None:
    here = np.array([[20], [20]])

    above, beside = (far(here, np.array(there), (40, 60)) for there in ([[10], [20]], [[20], [30]]))

    assert above[0] > 2 * beside[0] > 0
