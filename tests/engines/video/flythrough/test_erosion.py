import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.painting.heightfield.erosion import blurred, carved

SIDE = 48
RISE = np.ones((SIDE, SIDE), np.float32)


def coast() -> np.ndarray:
    sea = np.zeros((SIDE, SIDE), np.bool_)
    sea[:6] = True
    return sea


def worn(**values: float) -> np.ndarray:
    return carved(RISE, coast(), np.random.default_rng(1), Progress(), rounds=(30, 4), **values)


def test_land_is_0_in_the_sea_1_at_its_summit_and_twice_as_fine_with_each_grid() -> None:
    heights = worn()

    assert heights.shape == (2 * SIDE, 2 * SIDE)
    assert heights.max() == 1.0
    assert np.abs(heights[2:10]).max() < 0.02


def test_water_finds_a_way_down_from_everywhere_inland() -> None:
    heights = carved(RISE, coast(), np.random.default_rng(1), Progress(), rounds=(40,))
    padded = np.pad(heights, 1, mode="wrap")
    around = np.stack(
        [padded[y : y + SIDE, x : x + SIDE] for y in range(3) for x in range(3) if (y, x) != (1, 1)]
    )

    pits = (around.min(axis=0) >= heights) & ~coast()
    assert pits.mean() < 0.01


def test_rivers_branch_so_that_valleys_lie_between_ridges() -> None:
    heights = worn()
    along = heights[30]

    # Across the way to the sea, land that rose evenly goes up and down.
    assert np.ptp(along) > 0.05
    assert ((np.diff(np.sign(np.diff(along))) != 0).sum()) > 6


def test_a_faster_cut_leaves_steeper_summits_over_lower_land() -> None:
    slow, fast = worn(cut=0.05), worn(cut=0.4)

    assert np.median(fast[12:]) < np.median(slow[12:])


def test_the_same_seed_carves_the_same_land() -> None:
    assert np.array_equal(worn(), worn())


def test_a_cancel_is_heard_between_two_steps() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        carved(RISE, coast(), np.random.default_rng(1), progress, rounds=(2,))


def test_a_blur_reaches_over_the_edge() -> None:
    plane = np.zeros((16, 16), np.float32)
    plane[0, 0] = 1.0

    assert blurred(plane, 1.0)[15, 15] == pytest.approx(blurred(plane, 1.0)[1, 1])
