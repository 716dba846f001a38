import numpy as np

from kit.engines.painting.land.relief import SPAN, grid, relief

SUN = (-0.8, 0.0, 0.6)  # from the left


def test_heights_are_found_at_their_place_in_the_world() -> None:
    x, z = grid(256)
    land = relief((0.01 * x + 0.02 * z).astype(np.float32), SUN)
    at_x, at_z = np.array([[-100.0, 40.0]], np.float32), np.array([[300.0, 80.0]], np.float32)

    assert np.allclose(land.height(at_x, at_z), 0.01 * at_x + 0.02 * at_z, atol=0.05)


def test_slopes_are_per_world_unit_at_any_resolution() -> None:
    for points in (128, 256):
        x, z = grid(points)
        traits = relief((0.3 * x - 0.1 * z).astype(np.float32), SUN).traits[8:-8, 8:-8]

        assert np.allclose(traits[..., 0], 0.3, atol=1e-3)
        assert np.allclose(traits[..., 1], -0.1, atol=1e-3)


def test_a_ridge_throws_its_shadow_away_from_the_sun() -> None:
    x, _ = grid(256)
    heights = np.where(np.abs(x) < 12, 60.0, 0.0).astype(np.float32).repeat(256, axis=0)
    sunlight = relief(heights, SUN).traits[128, :, 3]
    step = 256 / SPAN

    assert sunlight[int((512 + 40) * step)] < 0.2
    assert sunlight[int((512 - 40) * step)] > 0.9
    assert sunlight[int((512 + 300) * step)] > 0.9


def test_a_pit_is_less_open_than_a_hill() -> None:
    x, z = grid(256)
    bump = np.exp(-(((x + 200) / 30) ** 2) - ((z - 500) / 30) ** 2)
    pit = np.exp(-(((x - 200) / 30) ** 2) - ((z - 500) / 30) ** 2)
    openness = relief((40 * (bump - pit)).astype(np.float32), SUN).traits[..., 2]

    assert openness[125, 78] > 1.0 > openness[125, 178]
