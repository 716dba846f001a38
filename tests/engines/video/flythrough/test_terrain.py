import numpy as np
import pytest

from kit.engines.painting.heightfield.terrain import GRID, SIDE, TEXEL, Land, bent, noise, ridged


def test_noise_has_mean_0_and_deviation_1() -> None:
    field = noise(np.random.default_rng(1), 8, 6)

    assert field.shape == (SIDE, SIDE)
    assert (field.mean(), field.std()) == pytest.approx((0.0, 1.0), abs=0.25)


@pytest.mark.parametrize("cells", [4, 7])
def test_noise_bends_and_ridges_continue_at_their_opposite_edges(cells: int) -> None:
    rng = np.random.default_rng(1)
    field = noise(rng, cells, 4, side=256)

    for plane in (field, bent(field, rng, 10.0), ridged(rng, cells, 4, 256)):
        for axis in (0, 1):
            inside = np.abs(np.diff(plane, axis=axis)).mean(axis=1 - axis).max()
            seam = np.abs(plane.take(0, axis=axis) - plane.take(-1, axis=axis)).mean()
            assert seam < 1.5 * inside


def test_ridges_lie_between_0_and_1_and_stand_out() -> None:
    crests = ridged(np.random.default_rng(2), 6, 5, 256)

    assert (crests.min(), crests.max()) == (pytest.approx(0.0, abs=0.05), 1.0)
    assert np.median(crests) < 0.6


def test_heights_are_found_by_place_and_water_covers_what_is_lower() -> None:
    heights = np.zeros((GRID, GRID), np.float32)
    heights[round(30 / TEXEL), round(40 / TEXEL)] = 9.0
    ground = Land(
        "alps", heights, 2.0, np.zeros((GRID, GRID), np.uint8), np.zeros((1, 1, 2), np.uint8)
    )
    x, y = np.array([40.0, 41.0, 40.0 + SIDE]), np.array([30.0, 30.0, 30.0 - SIDE])

    assert ground.top(x, y).tolist() == [9.0, 2.0, 9.0]
    assert ground.wet(x, y).tolist() == [False, True, False]
    assert ground.surface.min() == 2.0
