import numpy as np

from kit.engines.media.fill.comparing import whole_patches
from kit.engines.media.fill.strangers import strangeness


def ground() -> np.ndarray:
    return np.random.default_rng(3).normal(120, 6, (80, 120, 3)).astype(np.float32)


def hole() -> np.ndarray:
    gap = np.zeros((80, 120), np.uint8)
    gap[30:50, 40:70] = 255
    return gap


def strange(canvas: np.ndarray, gap: np.ndarray) -> np.ndarray:
    usable = whole_patches(gap, np.zeros_like(gap)).astype(np.uint8)
    return strangeness(canvas, gap, usable)


def test_more_of_the_same_is_no_stranger() -> None:
    assert (strange(ground(), hole()) > 0).mean() < 0.02


def test_a_thing_that_does_not_touch_the_hole_is_one() -> None:
    canvas = ground()
    canvas[30:50, 95:115] = (30, 200, 40)

    off = strange(canvas, hole())

    assert off[34:46, 99:111].min() > 1000
    assert off[:, :80].max() < 100


def test_what_touches_the_hole_is_none_wherever_it_is() -> None:
    canvas = ground()
    canvas[30:50] = (30, 200, 40)

    assert strange(canvas, hole())[34:46].max() < 100


def test_beside_a_rim_of_which_nothing_is_known_nothing_is_a_stranger() -> None:
    gap = np.full((80, 120), 255, np.uint8)
    gap[:8, :8] = 0

    assert not strange(ground(), gap).any()


def test_the_same_place_costs_the_same_again() -> None:
    canvas = ground()
    canvas[30:50, 95:115] = (30, 200, 40)

    assert np.array_equal(strange(canvas, hole()), strange(canvas.copy(), hole()))
