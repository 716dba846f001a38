import numpy as np
import pytest

from kit.engines.film.kenburns.blocks import (
    bordered,
    fill_quads,
    pairs,
    quads,
    spread_pairs,
    spread_quads,
)


def plane(width: int, height: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width), np.uint8)


def test_a_block_holds_a_pixel_and_its_neighbors_and_repeats_the_last_ones() -> None:
    source = plane(7, 5)

    blocks = quads(source)

    assert blocks[2, 3].tolist() == source[2:4, 3:5].reshape(-1).tolist()
    assert blocks[4, 6].tolist() == [source[4, 6]] * 4


@pytest.mark.parametrize("size", [(8, 6), (10, 4), (6, 2)])
def test_every_other_block_makes_the_plane_again(size: tuple[int, int]) -> None:
    source = plane(*size)
    out = np.zeros_like(source)

    spread_quads(np.ascontiguousarray(quads(source)[::2, ::2]), out)

    assert np.array_equal(out, source)


@pytest.mark.parametrize("width", [8, 7])
def test_pairs_hold_two_planes_and_make_them_again(width: int) -> None:
    one, other = plane(width, 5), plane(width, 5, seed=2)
    found, second = np.zeros_like(one), np.zeros_like(other)

    blocks = pairs(one, other)
    spread_pairs(np.ascontiguousarray(blocks[:, ::2]), found, second)

    assert blocks[3, 2].tolist() == [*one[3, 2:4], *other[3, 2:4]]
    assert np.array_equal(found, one)
    assert np.array_equal(second, other)


def test_some_rows_can_be_filled_anew() -> None:
    before, after = plane(8, 6), plane(8, 6, seed=3)
    blocks = quads(before)

    fill_quads(bordered(after)[:4], blocks[:3])

    assert np.array_equal(blocks[:3], quads(after)[:3])
    assert np.array_equal(blocks[3:], quads(before)[3:])
