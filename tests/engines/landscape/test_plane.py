import numpy as np
import pytest

from kit.engines.landscape.plane import Plane, Stage, disc, fill, over, solid


def test_a_filled_square_has_soft_edges_where_it_cuts_pixels() -> None:
    mask = np.zeros((20, 20), np.uint8)

    fill(mask, [(4.5, 4.5), (14.5, 4.5), (14.5, 14.5), (4.5, 14.5)])

    assert mask[10, 10] == 255
    assert mask[1, 1] == 0
    assert 0 < mask[10, 4] < 255 or 0 < mask[10, 15] < 255


def test_a_disc_covers_its_area() -> None:
    mask = np.zeros((60, 60), np.uint8)

    disc(mask, 30.0, 30.0, 20.0)

    assert mask.sum() / 255 == pytest.approx(np.pi * 20**2, rel=0.08)


@pytest.mark.parametrize("rows", [1, 8])
def test_a_plane_covers_as_much_as_its_alpha_says(rows: int) -> None:
    canvas = np.zeros((3, 12, 5), np.float32)
    alpha = np.zeros((8, 5), np.uint8)
    alpha[2:4], alpha[4:] = 128, 255
    color = np.repeat(solid(np.array([1.0, 0.5, 0.0], np.float32)), rows, axis=1)

    over(canvas, Plane("ridge", 0.5, 2, color, alpha))

    assert canvas[0, :, 0] == pytest.approx(np.array([0] * 4 + [128 / 255] * 2 + [1] * 4 + [0] * 2))
    assert canvas[1, 8, 0] == pytest.approx(0.5)


def test_a_stage_measures_places_from_its_margin() -> None:
    stage = Stage(100, 50, margin_x=10, margin_y=4)

    assert (stage.columns, stage.rows) == (120, 58)
    assert (stage.x(0.5), stage.y(1.0)) == (60.0, 54.0)
