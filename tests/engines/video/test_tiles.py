import numpy as np
import pytest

from kit.engines.video.tiles import clouds, tileable, wrapped


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
