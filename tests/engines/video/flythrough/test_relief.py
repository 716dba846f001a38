from functools import lru_cache

import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.heightfield.relief import land
from kit.engines.painting.heightfield.terrain import GRID, Land

KINDS = ["alps", "hills", "forest", "islands", "desert", "canyon"]


@lru_cache(len(KINDS))
def made(kind: str) -> Land:
    return land(kind, np.random.default_rng(3), Progress())


@pytest.mark.parametrize("kind", KINDS)
def test_land_continues_at_its_opposite_edges(kind: str) -> None:
    heights = made(kind).heights

    assert heights.shape == (GRID, GRID)
    assert heights.min() >= 0
    for axis in (0, 1):
        inside = np.abs(np.diff(heights, axis=axis)).mean(axis=1 - axis).max()
        seam = np.abs(heights.take(0, axis=axis) - heights.take(-1, axis=axis)).mean()
        assert seam < 1.5 * inside


@pytest.mark.parametrize("kind", KINDS)
def test_water_fills_the_low_parts_and_covers_them(kind: str) -> None:
    ground = made(kind)

    if ground.water is None:
        assert ground.surface is ground.heights
        return
    share = float((ground.heights < ground.water).mean())
    assert 0.02 < share < 0.8
    assert ground.surface.min() == pytest.approx(ground.water)


def test_islands_are_mostly_water_several_and_deserts_have_none() -> None:
    import cv2

    islands = made("islands")

    assert islands.water is not None
    dry = (islands.heights > islands.water).astype(np.uint8)
    assert dry.mean() < 0.45
    _, _, stats, _ = cv2.connectedComponentsWithStats(dry)
    assert (stats[1:, cv2.CC_STAT_AREA] > 4000).sum() >= 3
    assert made("desert").water is None


def test_trees_stand_on_dry_land_and_raise_it() -> None:
    ground = made("alps")
    woods = ground.woods > 128

    assert ground.water is not None
    assert 0.05 < woods.mean() < 0.6
    assert (ground.heights[woods] > ground.water).mean() > 0.99


def test_only_hills_have_fields() -> None:
    assert made("hills").plots is not None
    assert len(np.unique(made("hills").plots)) > 50
    assert made("forest").plots is None


def test_another_seed_makes_another_land() -> None:
    other = land("canyon", np.random.default_rng(4), Progress())

    assert np.abs(made("canyon").heights - other.heights).mean() > 5
