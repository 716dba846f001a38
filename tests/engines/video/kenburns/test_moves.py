import itertools

import pytest

from kit.engines.film.kenburns.moves import MOVES, Room, between, fitting, position

SHAPES = [(1.0, 1.0), (0.4, 1.0), (1.0, 0.56), (0.95, 1.0)]


def room(shape: tuple[float, float], motion: float = 1.0) -> Room:
    return Room(*shape, (0.9, 0.1), motion)


@pytest.mark.parametrize(
    ("name", "shape", "motion"), [*itertools.product(MOVES, SHAPES, (0.0, 0.5, 1.0))]
)
def test_no_window_leaves_the_picture(name: str, shape: tuple[float, float], motion: float) -> None:
    start, end = MOVES[name](room(shape, motion))

    for step in range(11):
        window = between(start, end, step / 10)
        half_x, half_y = window.size * shape[0] / 2, window.size * shape[1] / 2
        assert window.x - half_x >= -1e-9
        assert window.x + half_x <= 1 + 1e-9
        assert window.y - half_y >= -1e-9
        assert window.y + half_y <= 1 + 1e-9
        assert 0.5 < window.size <= 1


@pytest.mark.parametrize("name", [name for name in MOVES if name != "still"])
def test_every_move_moves(name: str) -> None:
    start, end = MOVES[name](room((1.0, 1.0)))

    assert (start.x, start.y, start.size) != (end.x, end.y, end.size)


def test_pans_go_the_way_they_say() -> None:
    wide, tall = room((0.4, 1.0)), room((1.0, 0.4))

    assert MOVES["pan_right"](wide)[1].x > MOVES["pan_right"](wide)[0].x
    assert MOVES["pan_left"](wide)[1].x < MOVES["pan_left"](wide)[0].x
    assert MOVES["pan_up"](tall)[1].y < MOVES["pan_up"](tall)[0].y
    assert MOVES["pan_down"](tall)[1].y > MOVES["pan_down"](tall)[0].y


def test_a_long_picture_is_travelled_along_and_another_zoomed_into() -> None:
    fits = [fitting(room(shape)) for shape in ((0.4, 1.0), (1.0, 0.4), (1.0, 0.9))]

    assert fits == ["pan_right", "pan_up", "zoom_in"]


def test_a_zoom_grows_by_equal_factors() -> None:
    start, end = MOVES["zoom_in"](room((1.0, 1.0)))
    sizes = [between(start, end, step / 4).size for step in range(5)]
    factors = [b / a for a, b in itertools.pairwise(sizes)]

    assert factors == pytest.approx([factors[0]] * 4)


@pytest.mark.parametrize("easing", ["smooth", "linear"])
def test_a_way_is_gone_once_from_end_to_end(easing: str) -> None:
    places = [position(step / 20, easing=easing, loop=False) for step in range(21)]

    assert (places[0], places[-1]) == pytest.approx((0.0, 1.0))
    assert places == sorted(places)


def test_a_loop_goes_there_and_back() -> None:
    places = [position(moment, easing="linear", loop=True) for moment in (0.0, 0.5, 1.0)]

    assert places == pytest.approx([0.0, 1.0, 0.0])
