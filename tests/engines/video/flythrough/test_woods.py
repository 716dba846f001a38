import numpy as np

from kit.engines.painting.heightfield.terrain import GRID
from kit.engines.painting.heightfield.woods import crowns, grove


def grown(share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how high trees could be and are, and where they stand."""
    tall, looks = crowns(np.random.default_rng(2), 7, 4.0, pointed=0.2)
    return tall, *grove(share, tall, looks)


def test_where_all_trees_stand_none_is_missing_and_elsewhere_there_are_none() -> None:
    share = np.zeros((GRID, GRID), np.float32)
    share[:, GRID // 2 :] = 1.0
    tall, high, under = grown(share)
    inside, outside = slice(GRID // 2 + 8, -8), slice(8, GRID // 2 - 8)

    assert np.allclose(high[:, inside], tall[:, inside], atol=1e-3)
    assert np.allclose(under[:, inside], 1.0, atol=1e-3)
    assert not high[:, outside].any()
    assert not under[:, outside].any()


def test_at_the_edge_of_a_wood_trees_stand_or_do_not() -> None:
    share = np.tile(np.linspace(0, 1, GRID, dtype=np.float32), (GRID, 1))
    _, _, under = grown(share)
    middle = under[:, GRID // 2 - 100 : GRID // 2 + 100]

    assert 0.3 < middle.mean() < 0.8
    # Half of what would stand does, but hardly any place is half under trees.
    assert ((middle < 0.1) | (middle > 0.9)).mean() > 0.6
    reach = (under > 0.5).mean(axis=0)
    assert reach[100:300].mean() < 0.25 < 0.75 < reach[-300:-100].mean()


def test_trees_cover_a_little_more_than_they_raise() -> None:
    """So that what stands upright at the edge of a wood has the color of trees."""
    share = np.full((GRID, GRID), 0.5, np.float32)
    tall, high, under = grown(share)
    raised = (tall > 0.5) & (high > 0.5 * tall)

    assert raised.any()
    assert under[raised].min() > 0.75
    assert (under > 0.5).mean() > 1.1 * raised.mean()
