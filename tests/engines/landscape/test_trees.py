"""Trees: in winter snow lies on the boughs of the large ones, and on nothing else."""

import numpy as np
import pytest

from kit.engines.painting.poster.trees import PLANTS, Ground, Stand

TALL = Stand(x=np.array([60.0, 150.0]), y=np.array([190.0, 195.0]), tall=np.array([150.0, 170.0]))


def drawn(kind: str, stand: Stand = TALL, *, winter: bool = True) -> Ground:
    """Return plants of one kind on a ground of 200 rows."""
    blank = np.zeros((200, 220), np.uint8)
    ground = Ground(blank.copy(), 0.0, blank.copy() if winter else None)
    PLANTS[kind](np.random.default_rng(5), ground, stand)
    return ground


@pytest.mark.parametrize("kind", ["conifer", "broadleaf"])
def test_snow_lies_on_large_trees_and_leaves_their_shade_dark(kind: str) -> None:
    ground = drawn(kind)

    assert ground.snow is not None
    tree, snow = ground.mask == 255, ground.snow == 255

    assert 0.15 < (snow & tree).sum() / tree.sum() < 0.75
    heights = [np.nonzero(part)[0].mean() for part in (snow & tree, tree & ~snow)]
    assert heights[0] < heights[1]  # it lies on top: the dark is below


def test_snow_on_a_fir_lies_on_both_sides_and_not_on_the_trunk() -> None:
    ground = drawn("conifer")

    assert ground.snow is not None
    one = ground.snow[:, :105] > 0
    columns = np.nonzero(one)[1]
    assert (columns < 55).sum() == pytest.approx((columns > 65).sum(), rel=0.35)
    assert not one[100:, 58:63].any()


@pytest.mark.parametrize("kind", sorted(PLANTS))
def test_the_tree_is_the_same_with_snow_and_without(kind: str) -> None:
    assert np.array_equal(drawn(kind).mask, drawn(kind, winter=False).mask)


def test_small_trees_have_no_boughs_to_lay_snow_on() -> None:
    small = Stand(TALL.x, TALL.y, np.array([20.0, 22.0]))

    for kind in ("conifer", "broadleaf"):
        snow = drawn(kind, small).snow
        assert snow is not None
        assert not snow.any()
