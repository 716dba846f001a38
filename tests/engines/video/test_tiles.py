import numpy as np
import pytest

from kit.engines.film.tiles import clouds, fitted, spread_out, tileable, wrapped


def test_noise_continues_at_the_opposite_edges() -> None:
    noise = tileable(np.random.default_rng(1), 96, 130, cells=(4, 5), octaves=3)
    inside = max(np.abs(np.diff(noise, axis=axis)).max() for axis in (0, 1))

    assert np.abs(noise[0] - noise[-1]).max() < 1.3 * inside
    assert np.abs(noise[:, 0] - noise[:, -1]).max() < 1.3 * inside
    assert (noise.mean(), noise.std()) == pytest.approx((0, 1), abs=1e-4)


def test_clouds_stay_within_their_bounds_and_have_no_seam() -> None:
    sheet = clouds(np.random.default_rng(1), 300, 500, cells=(4, 4), most=180, floor=20).astype(int)

    assert 20 <= sheet.min() < 60
    assert 130 < sheet.max() <= 180
    assert np.abs(sheet[0] - sheet[-1]).max() <= 2 + np.abs(np.diff(sheet, axis=0)).max()


def test_what_is_near_an_edge_is_seen_beyond_the_other_one() -> None:
    assert list(wrapped((100, 50), 40, 20, 5)) == [(40, 20)]
    assert (-98, 20) not in list(wrapped((100, 50), 40, 20, 5))
    assert {(2.0, 20.0), (102.0, 20.0)} <= set(wrapped((100, 50), 2.0, 20.0, 5))


@pytest.mark.parametrize("size", [(64, 40), (130, 96), (200, 120)])
def test_a_tile_can_continue_after_another_size_without_a_seam(size: tuple[int, int]) -> None:
    tile = clouds(np.random.default_rng(1), 96, 130, cells=(4, 5), most=200)
    other = fitted(tile, size)
    steps = [np.abs(np.diff(tile.astype(int), axis=axis)).max() for axis in (0, 1)]

    assert other.shape == size[::-1]
    assert np.abs(other[0].astype(int) - other[-1]).max() <= 2 * steps[0]
    assert np.abs(other[:, 0].astype(int) - other[:, -1]).max() <= 2 * steps[1]


def test_a_tile_spread_out_repeats_as_far_as_a_frame_reaches() -> None:
    tile = np.arange(12, dtype=np.uint8).reshape(3, 4)

    wide = spread_out(tile, (7, 2))

    assert wide.shape == (5, 11)
    assert np.array_equal(wide, np.tile(tile, (2, 3))[:5, :11])
