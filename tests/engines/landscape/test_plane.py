import numpy as np
import pytest

from kit.engines.painting.poster.plane import (
    Plane,
    Stage,
    Touch,
    backward,
    disc,
    fill,
    outline,
    over,
    solid,
)


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


@pytest.mark.parametrize("rows", [1, 6])
def test_a_plane_can_be_painted_again_and_looks_the_same(rows: int) -> None:
    half = np.full((1, 5), 0.5, np.float32)
    white, black = (solid(np.full(3, value, np.float32)) for value in (1.0, 0.0))
    touch = Touch(white, lambda _, columns: half[:, columns])
    plane = Plane("ridge", 0.5, 0, black, np.full((rows, 5), 128, np.uint8), (touch,))
    first, again = np.zeros((2, 3, rows, 5), np.float32)

    over(first, plane)
    over(again, plane)

    assert first == pytest.approx(np.full(first.shape, 0.5 * 128 / 255), abs=1e-6)
    assert np.array_equal(first, again)


def test_touches_are_asked_only_for_the_columns_that_are_painted() -> None:
    asked: list[tuple[slice, slice]] = []
    alpha = np.zeros((10, 40), np.uint8)
    alpha[3:7, 8:20] = 200
    touch = Touch(solid(np.ones(3, np.float32)), lambda *part: asked.append(part))

    over(np.zeros((3, 10, 40), np.float32), Plane("ridge", 0.5, 0, touch.color, alpha, (touch,)))

    assert asked == [(slice(3, 7), slice(8, 20))]


def test_an_outline_goes_along_its_lines_in_turn() -> None:
    upper = np.array([0, 1, 2]), np.array([0.5, 0.0, 0.5])
    lower = np.array([0, 1, 2]), np.array([3.0, 4.0, 3.0])

    corners = outline(upper, backward(lower))

    assert corners.tolist() == [[0, 0.5], [1, 0], [2, 0.5], [2, 3], [1, 4], [0, 3]]
