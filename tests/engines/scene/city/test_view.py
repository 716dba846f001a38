from itertools import pairwise

import numpy as np
import pytest

from kit.engines.painting.city.view import Block, View, blocks_of, view_of
from kit.engines.prompt.brief import Brief, read

_VIEW = View(width=200, height=160, x=100.0, y=80.0, focal=120.0, eye=2.0)


def _brief(prompt: str, aspect: str = "1:1") -> Brief:
    return read(prompt, {"aspect_ratio": aspect, "size": 400, "family": "city"}, 1)


def test_rays_and_points_agree() -> None:
    column, row = _VIEW.column(3.0, 10.0), _VIEW.row(5.0, 10.0)

    assert _VIEW.across()[0, round(column - 0.5)] == pytest.approx(0.3, abs=0.005)
    assert _VIEW.up()[round(row - 0.5), 0] == pytest.approx(0.3, abs=0.005)


def test_the_ground_is_below_the_horizon_and_nears_it_with_distance() -> None:
    assert _VIEW.row(0.0, 5.0) > _VIEW.row(0.0, 50.0) > _VIEW.y


def test_low_and_high_cameras_stand_where_they_say() -> None:
    rng = np.random.default_rng
    low, plain, high = (
        view_of(rng(1), _brief(f"{word} street")) for word in ("low", "some", "high")
    )

    assert low.eye < plain.eye < high.eye
    assert high.y < plain.y < low.y


def test_a_centered_street_has_its_vanishing_point_in_the_middle() -> None:
    assert view_of(np.random.default_rng(1), _brief("centered street")).x == 200.0


@pytest.mark.parametrize("aspect", ["9:16", "1:1", "21:9"])
def test_both_walls_are_in_the_frame(aspect: str) -> None:
    brief = _brief("street", aspect)
    view = view_of(np.random.default_rng(2), brief)
    blocks = blocks_of(np.random.default_rng(2), brief)

    for side in (-1, 1):
        first = next(b for b in reversed(blocks) if b.side == side and b.near > 20)
        assert 0 < view.column(side * first.wall, 30.0) < view.width


def test_buildings_come_far_ones_first_and_do_not_overlap() -> None:
    blocks = blocks_of(np.random.default_rng(3), _brief("street"))

    assert [b.near for b in blocks] == sorted((b.near for b in blocks), reverse=True)
    for side in (-1, 1):
        row: list[Block] = [b for b in reversed(blocks) if b.side == side]
        assert all(one.far <= other.near for one, other in pairwise(row))


def test_skyscrapers_are_taller_than_a_town() -> None:
    def tall(prompt: str) -> float:
        return max(b.tall for b in blocks_of(np.random.default_rng(5), _brief(prompt)))

    assert tall("skyscraper street") > 2 * tall("town street")
