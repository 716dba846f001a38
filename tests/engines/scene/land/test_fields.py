from collections.abc import Callable

import numpy as np
import pytest

from kit.engines.painting.land.fields import blurred, eroded, ridged, sampled, slopes, tile


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_tile_repeats_without_a_seam() -> None:
    field = tile(rng(), side=128)
    inside = np.abs(np.diff(field, axis=1)).max()

    assert np.abs(field[:, 0] - field[:, -1]).max() < 1.5 * inside
    assert np.abs(field[0] - field[-1]).max() < 1.5 * np.abs(np.diff(field, axis=0)).max()


def test_a_tile_has_mean_0_and_deviation_1() -> None:
    field = tile(rng(), side=128)

    assert abs(float(field.mean())) < 1e-3
    assert abs(float(field.std()) - 1.0) < 1e-3


def test_a_tile_is_sampled_beyond_its_sides() -> None:
    field = tile(rng(), side=64)
    x, y = np.array([[3.0]], np.float32), np.array([[5.0]], np.float32)

    assert np.allclose(sampled(field, x, y), field[5, 3], atol=1e-4)
    assert np.allclose(sampled(field, x - 640, y + 64), field[5, 3], atol=1e-3)


def test_slopes_point_uphill() -> None:
    field = np.sin(np.arange(64) * 2 * np.pi / 64).astype(np.float32)[None].repeat(64, axis=0)
    right, down = slopes(field)

    assert right[:, 0].min() > 0 > right[:, 32].max()
    assert np.abs(down).max() < 1e-6


@pytest.mark.parametrize("make", [eroded, ridged])
def test_terrain_spans_0_to_1_and_depends_on_the_seed(make: Callable[..., np.ndarray]) -> None:
    one, again, other = make(rng(), 128), make(rng(), 128), make(rng(2), 128)

    assert (float(one.min()), float(one.max())) == (0.0, 1.0)
    assert (one == again).all()
    assert np.abs(one - other).mean() > 0.05


def test_wear_makes_slopes_smoother() -> None:
    rough, worn = (eroded(rng(), 256, wear=wear) for wear in (0.0, 4.0))

    assert np.median(np.abs(np.diff(worn))) < np.median(np.abs(np.diff(rough)))


def test_a_large_blur_keeps_the_mean() -> None:
    field = tile(rng(), side=128) + 3.0

    assert abs(float(blurred(field, 12.0).mean()) - 3.0) < 0.05
    assert blurred(field, 12.0).std() < 0.8
