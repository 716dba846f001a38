import numpy as np
import pytest

from kit.engines.video.flythrough.terrain import SIDE, detail, land, noise

KINDS = ["alps", "hills", "forest", "islands", "desert", "canyon"]


@pytest.mark.parametrize("kind", KINDS)
def test_land_continues_at_its_opposite_edges(kind: str) -> None:
    heights = land(kind, np.random.default_rng(1)).heights

    assert heights.shape == (SIDE, SIDE)
    for axis in (0, 1):
        inside = np.abs(np.diff(heights, axis=axis)).mean(axis=1 - axis).max()
        seam = np.abs(heights.take(0, axis=axis) - heights.take(-1, axis=axis)).mean()
        assert seam < 1.5 * inside


@pytest.mark.parametrize("kind", KINDS)
def test_water_fills_the_low_parts_and_covers_them(kind: str) -> None:
    ground = land(kind, np.random.default_rng(2))

    if ground.water is None:
        assert ground.surface is ground.heights
        return
    share = float((ground.heights < ground.water).mean())
    assert 0.03 < share < 0.7
    assert ground.surface.min() == pytest.approx(ground.water)


def test_islands_are_mostly_water_and_deserts_have_none() -> None:
    islands = land("islands", np.random.default_rng(3))

    assert islands.water is not None
    assert (islands.heights < islands.water).mean() > 0.5
    assert land("desert", np.random.default_rng(3)).water is None


def test_the_same_seed_gives_the_same_land_and_another_does_not() -> None:
    one, again, other = (land("alps", np.random.default_rng(seed)).heights for seed in (1, 1, 2))

    assert np.array_equal(one, again)
    assert np.abs(one - other).mean() > 5


def test_noise_has_mean_0_and_deviation_1() -> None:
    field = noise(np.random.default_rng(1), 8, 6)

    assert (field.mean(), field.std()) == pytest.approx((0.0, 1.0), abs=0.25)


@pytest.mark.parametrize("kind", KINDS)
def test_the_grain_of_the_ground_is_about_middle_gray(kind: str) -> None:
    tile, strength = detail(kind, np.random.default_rng(1))

    assert tile.mean() == pytest.approx(128, abs=4)
    assert 0 < strength < 0.5
