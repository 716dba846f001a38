from collections.abc import Callable

import numpy as np
import pytest

from kit.engines.painting.city import cars, trees, walkers
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.stencil import Spot, Stencil, curve, ellipse, stand, visible
from kit.engines.painting.city.view import View
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import read

_VIEW = View(width=200, height=160, x=100.0, y=80.0, focal=160.0, eye=2.0)
_DRAWERS: dict[str, tuple[float, float, Callable[[np.random.Generator, Stencil], None]]] = {
    "walker": (walkers.WIDE, walkers.TALL,
               lambda rng, s: walkers.walker(rng, s, umbrella=True, coming=False)),
    "car": (cars.WIDE, cars.TALL, lambda rng, s: cars.car(rng, s, coming=True, neon=1.0)),
    "tree": (trees.TREE_WIDE, trees.TREE_TALL, lambda rng, s: trees.tree(rng, s, "summer")),
    "lamp": (trees.LAMP_WIDE, trees.LAMP_TALL, lambda rng, s: trees.lamp(s, 1, on=True)),
}  # fmt: skip


def _hour(prompt: str) -> Hour:
    settings = {"aspect_ratio": "1:1", "size": 64, "family": "city"}
    return hour_of(np.random.default_rng(1), read(prompt, settings, 1))


def _set(stencil: Stencil, spot: Spot, hour: Hour) -> np.ndarray:
    picture = np.full((3, 160, 200), 0.2, np.float32)
    stand(picture, _VIEW, spot, hour, np.full_like(picture, 0.5), stencil)
    return picture


@pytest.mark.parametrize("name", _DRAWERS)
def test_everything_stands_on_the_ground_within_its_stencil(name: str) -> None:
    wide, tall, draw = _DRAWERS[name]
    stencil = Stencil(wide, tall, 60.0)

    draw(np.random.default_rng(2), stencil)

    rows = np.flatnonzero(stencil.alpha.any(axis=1))
    share = stencil.alpha.mean()
    assert rows[-1] > 0.97 * stencil.alpha.shape[0]
    assert rows[0] < 0.4 * stencil.alpha.shape[0]
    assert 0.01 < share < 0.8


def test_a_thing_appears_where_it_stands_and_nowhere_else() -> None:
    stencil = Stencil(2.0, 2.0, 16.0)
    stencil.fill([(-1, 0), (1, 0), (1, 2), (-1, 2)], light((0.9, 0.0, 0.0)))

    picture = _set(stencil, Spot(x=1.0, z=10.0), _hour("clear day street"))

    changed = np.abs(picture - 0.2).max(axis=0) > 0.01
    rows, columns = np.nonzero(changed)
    assert columns.min() == pytest.approx(_VIEW.column(0.0, 10.0), abs=2)
    assert columns.max() == pytest.approx(_VIEW.column(2.0, 10.0), abs=2)
    assert rows.max() == pytest.approx(_VIEW.row(0.0, 10.0), abs=2)


def test_a_wet_street_mirrors_what_stands_in_it() -> None:
    stencil = Stencil(2.0, 2.0, 16.0)
    stencil.fill([(-1, 0), (1, 0), (1, 2), (-1, 2)], light((0.95, 0.0, 0.0)))
    below = round(_VIEW.row(0.0, 10.0)) + 6
    dry = _set(stencil, Spot(x=0.0, z=10.0), _hour("clear day street"))
    wet = _set(stencil, Spot(x=0.0, z=10.0), _hour("rainy day street"))

    assert dry[:, below, 100] == pytest.approx(0.2)
    assert abs(float(wet[:, below, 100].mean()) - 0.2) > 0.01


def test_lights_leave_a_streak_in_the_wet_by_night() -> None:
    stencil = Stencil(cars.WIDE, cars.TALL, 16.0)
    cars.car(np.random.default_rng(1), stencil, coming=False, neon=1.0)

    picture = _set(stencil, Spot(x=0.0, z=10.0), _hour("rainy night street"))

    below = picture[:, round(_VIEW.row(0.0, 10.0)) + 6 :]
    assert below[0].max() > below[2].max() + 0.05


def test_distance_veils_what_stands_there() -> None:
    hour = _hour("misty day street")

    def shade(z: float) -> float:
        stencil = Stencil(2.0, 2.0, 160.0 / z)
        stencil.fill([(-1, 0), (1, 0), (1, 2), (-1, 2)], light((0.0, 0.0, 0.0)))
        return float(_set(stencil, Spot(x=0.0, z=z), hour)[1, round(_VIEW.row(1.0, z)), 100])

    assert shade(8.0) < shade(25.0) < shade(60.0) < 0.5


def test_what_is_too_far_too_near_or_beside_the_frame_is_left_out() -> None:
    assert visible(_VIEW, Spot(x=0.0, z=10.0), 2.0, 2.0)
    assert not visible(_VIEW, Spot(x=0.0, z=900.0), 2.0, 2.0)
    assert not visible(_VIEW, Spot(x=0.0, z=1.0), 2.0, 2.0)
    assert not visible(_VIEW, Spot(x=60.0, z=10.0), 2.0, 2.0)


def test_a_thing_cut_by_the_frame_is_painted_in_part() -> None:
    stencil = Stencil(4.0, 9.0, 40.0)
    stencil.fill([(-2, 0), (2, 0), (2, 9), (-2, 9)], light((0.9, 0.0, 0.0)))

    picture = _set(stencil, Spot(x=-2.6, z=4.0), _hour("rainy night street"))

    assert np.isfinite(picture).all()
    assert (np.abs(picture - 0.2) > 0.01).any()


def test_trees_follow_the_season() -> None:
    def greenness(season: str) -> float:
        stencil = Stencil(trees.TREE_WIDE, trees.TREE_TALL, 30.0)
        trees.tree(np.random.default_rng(1), stencil, season)
        red, green, _ = stencil.color[stencil.alpha > 0].mean(axis=0)
        return float(green / red)

    assert greenness("summer") > 1.1 > greenness("autumn")


def test_a_winter_tree_is_bare() -> None:
    def leaves(season: str) -> float:
        stencil = Stencil(trees.TREE_WIDE, trees.TREE_TALL, 30.0)
        trees.tree(np.random.default_rng(1), stencil, season)
        return float(stencil.alpha.mean())

    assert leaves("winter") < 0.5 * leaves("summer")


def test_outlines_are_smooth_and_closed() -> None:
    square = curve([(0, 0), (1, 0), (1, 1), (0, 1)])
    disc = ellipse(2.0, 1.0, 0.5, 0.25)

    assert len(square) == 32
    assert np.ptp(disc, axis=0) == pytest.approx((1.0, 0.5), abs=0.02)
