import numpy as np
import pytest

from kit.engines.media.noise import field
from kit.engines.painting.fields import across, grown, ridges, slopes, symmetric, warped


def _noise(seed: int) -> np.ndarray:
    return field(np.random.default_rng(seed), 60, 80, cells=(3, 4), octaves=4)


def test_cells_follow_the_shape_of_the_frame() -> None:
    assert across(8, 500, 1000) == (4, 8)
    assert across(8, 1000, 500) == (8, 4)
    assert min(across(0.5, 10, 10)) == 2


def test_a_warp_of_nothing_changes_nothing() -> None:
    plane = _noise(1)

    assert warped(plane, _noise(2), _noise(3), 0.0) == pytest.approx(plane)


def test_a_warp_takes_every_point_from_where_it_is_told() -> None:
    plane = np.tile(np.arange(80, dtype=np.float32), (60, 1))
    ones = np.ones((60, 80), np.float32)

    moved = warped(plane, ones, 0 * ones, 5.0)

    assert moved[30, 10:60] == pytest.approx(plane[30, 15:65])


def test_a_field_takes_the_same_from_the_dice_at_every_size() -> None:
    one, other = np.random.default_rng(5), np.random.default_rng(5)

    small = grown(one, 40, 40, cells=(3, 3), octaves=6)
    large = grown(other, 160, 160, cells=(3, 3), octaves=6)

    assert one.random() == other.random()
    assert np.corrcoef(small.ravel(), large[2::4, 2::4].ravel())[0, 1] > 0.9


def test_two_fields_from_the_same_dice_differ() -> None:
    rng = np.random.default_rng(5)

    assert not np.array_equal(*(grown(rng, 20, 20, cells=(3, 3)) for _ in range(2)))


def test_ridges_stand_where_the_coarse_field_crosses_zero() -> None:
    coarse = np.linspace(-2.0, 2.0, 101, dtype=np.float32)[None]

    found = ridges(coarse, 0 * coarse)

    assert found.argmax() == 50
    assert found[0, 0] == found[0, -1] == 0.0


def test_slopes_are_rises_per_reach() -> None:
    y, x = np.mgrid[0:40, 0:50].astype(np.float32)

    right, down = slopes(2.0 * x - 3.0 * y, 10.0)

    assert right[20, 20] == pytest.approx(20.0)
    assert down[20, 20] == pytest.approx(-30.0)


@pytest.mark.parametrize("width", [6, 7])
def test_a_symmetric_picture_is_its_own_mirror_image(width: int) -> None:
    picture = np.random.default_rng(1).random((3, 4, width))

    found = symmetric(picture)

    assert found.shape == picture.shape
    assert np.array_equal(found, found[..., ::-1])
    assert np.array_equal(found[..., : width // 2], picture[..., : width // 2])
