import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.sprites import sprite
from kit.engines.painting.land.stand import Trees, plant
from kit.engines.painting.land.voxel import FAR, Camera

CAMERA = Camera(columns=60, rows=80, focal=60.0, horizon=30.0, height=4.0)
BLOCK = sprite(np.ones((64, 32), np.float32), np.ones((64, 32), np.float32), 64)


def planted(
    z: list[float], tall: float = 6.0, depth: float = FAR, *, lost: float = 0.0
) -> np.ndarray:
    count = len(z)
    planes = np.zeros((3, 80, 60), np.float32)
    trees = Trees(
        x=np.zeros(count, np.float32),
        z=np.array(z, np.float32),
        foot=np.zeros(count, np.float32),
        tall=np.full(count, tall, np.float32),
        color=np.stack([np.linspace(1, 2, count)] * 3).astype(np.float32),
        lost=np.full(count, lost, np.float32),
    )
    air = np.full((3, 1, 60), 5.0, np.float32)
    hidden = np.full((80, 60), depth, np.float32)
    rng = np.random.default_rng(1)
    plant(planes, hidden, trees, [BLOCK], CAMERA, air, rng, Progress(), mirrored=False)
    return planes


def test_a_tree_stands_on_its_foot_at_its_height() -> None:
    rows = np.flatnonzero(planted([30.0])[0, :, 30])

    assert abs(rows.max() - CAMERA.row(0.0, 30.0)) <= 1
    assert abs(rows.min() - CAMERA.row(6.0, 30.0)) <= 1


def test_the_nearer_tree_covers_the_farther_one_in_any_order() -> None:
    one, other = planted([20.0, 50.0])[0], planted([50.0, 20.0])[0]
    row, column = int(CAMERA.row(2.0, 20.0)), 30

    assert (one[row, column], other[row, column]) == (1.0, 2.0)


def test_what_lies_nearer_hides_a_tree() -> None:
    assert planted([30.0], depth=10.0).max() == 0


def test_a_tree_taller_than_the_frame_is_drawn_in_part() -> None:
    assert (planted([3.0], tall=40.0)[0, :40, 30] > 0.9).all()


def test_air_takes_the_place_of_a_tree_s_own_color() -> None:
    planes = planted([30.0], lost=1.0)

    assert np.isclose(planes[0, int(CAMERA.row(3.0, 30.0)), 30], 5.0)


@pytest.mark.parametrize(
    "kind", ["spruce", "broadleaf", "tuft", "fern", "trunk", "bough", "leaves"]
)
def test_every_plant_is_drawn_with_gaps_and_in_several_shapes(kind: str) -> None:
    shapes = sprites(kind)

    assert len(shapes) >= 3
    for one in shapes:
        cover, shade = one.levels[0]
        assert 0.03 < cover.mean() < 0.9
        assert np.isfinite(shade).all()
    assert shapes[0].levels[0][0].shape != shapes[1].levels[0][0].shape or not np.array_equal(
        shapes[0].levels[0][0], shapes[1].levels[0][0]
    )


@pytest.mark.parametrize("tall", [40, 300, 1500])
@pytest.mark.parametrize("kind", ["spruce", "trunk", "leaves"])
def test_the_parts_of_a_plant_hold_all_of_it(kind: str, tall: int) -> None:
    shape = sprites(kind)[0]
    wide = shape.wide(tall)
    cut, held = shape.cutter(tall), np.zeros((tall, wide), np.float32)
    for part in shape.parts(tall):
        held[part] = cut(part)[0]

    whole = cut((slice(0, tall), slice(0, wide)))[0]

    assert np.abs(held - whole).max() < 0.1
    assert whole.max() > 0.9


def test_a_large_trunk_leaves_most_of_its_frame_alone() -> None:
    shape = sprites("trunk")[0]
    parts = shape.parts(900)
    drawn = sum((r.stop - r.start) * (c.stop - c.start) for r, c in parts)

    assert drawn < 0.7 * 900 * shape.wide(900)
