import numpy as np
import pytest

from kit.engines.painting.poster.mixing import blend, lay, spread, weight_of
from kit.engines.painting.poster.plane import solid

RED = solid(np.array([1.0, 0.2, 0.0], np.float32))


def canvas() -> np.ndarray:
    """Return noise that is part of something wider: its rows do not follow each other."""
    return np.random.default_rng(3).random((3, 12, 40), np.float32)[:, 2:9, 5:31]


def test_a_weight_is_alpha_as_a_share_of_the_whole() -> None:
    alpha = np.arange(256, dtype=np.uint8).reshape(16, 16)

    assert weight_of(alpha) == pytest.approx(np.arange(256).reshape(16, 16) / 255, abs=1e-6)


@pytest.mark.parametrize("shape", [(1, 26), (7, 1), (7, 26)])
def test_a_color_is_blended_by_weights_of_any_shape_that_fits(shape: tuple[int, int]) -> None:
    weights = np.random.default_rng(1).random(shape, np.float32)
    mixed = canvas()
    kept = weights.copy()

    blend(mixed, RED, weights)

    assert mixed == pytest.approx(canvas() * (1 - weights) + RED * weights, abs=1e-6)
    assert np.array_equal(weights, kept)


def test_bytes_are_blended_as_shares_of_255() -> None:
    alpha = np.random.default_rng(2).integers(0, 256, (7, 26), np.uint8)
    mixed = canvas()

    blend(mixed, RED, alpha)

    assert mixed == pytest.approx(canvas() + (RED - canvas()) * (alpha / 255), abs=1e-6)


@pytest.mark.parametrize("shape", [(3, 1, 1), (3, 7, 1), (3, 7, 26)])
def test_a_ground_of_any_shape_is_laid_with_what_is_painted_upon_it(
    shape: tuple[int, int, int],
) -> None:
    rng = np.random.default_rng(4)
    ground = rng.random(shape, np.float32)
    weight, share, left = rng.random((3, 7, 26), np.float32)
    mixed, bare = canvas(), canvas()

    lay(mixed, ground, weight, [(RED, share)], left=left)
    lay(bare, ground, weight, [], left=None)

    assert mixed == pytest.approx(canvas() * left + ground * weight + RED * share, abs=1e-6)
    assert bare == pytest.approx(np.broadcast_to(ground * weight, bare.shape), abs=1e-6)


def test_what_is_spread_has_memory_of_its_own() -> None:
    row = np.arange(4, dtype=np.float32)[None]

    full = spread(row, (3, 4))
    full[:] = 9.0

    assert row.tolist() == [[0, 1, 2, 3]]
