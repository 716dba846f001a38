import numpy as np
import pytest

from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.sunlight import Sunlight
from kit.engines.painting.city.view import Block
from kit.engines.prompt.brief import read


def _hour(time: str) -> Hour:
    settings = {"aspect_ratio": "1:1", "size": 64, "family": "city"}
    return hour_of(np.random.default_rng(1), read(f"clear {time} street", settings, 1))


def _block(side: int, tall: float) -> Block:
    return Block(
        side=side, near=0.0, far=260.0, wall=8.0, tall=tall, style="grid",
        floor=3.2, bay=2.8, tone=0.5, number=7,
    )  # fmt: skip


def _on(time: str, side: int, *, across: float = 25.0, up: float = 20.0) -> float:
    blocks = [_block(-1, across), _block(1, across)]
    found = Sunlight(blocks, _hour(time), 1).on(
        blocks[(side + 1) // 2], np.array([[30.0]]), np.array([[up]])
    )
    return float(found[0, 0])


def test_by_day_one_side_is_lit_above_the_shadow_of_the_other() -> None:
    assert _on("day", 1, across=34.0, up=20.0) > 0.5
    assert _on("day", 1, across=34.0, up=2.0) == 0.0
    assert _on("day", -1, up=20.0) == 0.0


def test_a_taller_row_across_the_street_takes_the_sun() -> None:
    assert _on("day", 1, across=60.0) == 0.0


def test_a_low_sun_grazes_both_sides() -> None:
    assert _on("sunset", 1) > _on("sunset", -1) > 0.0


@pytest.mark.parametrize("side", [-1, 1])
def test_there_is_no_sun_by_night(side: int) -> None:
    assert _on("night", side) == 0.0


def test_the_far_side_of_the_road_is_lit_first() -> None:
    sun = Sunlight([_block(-1, 18.0)], _hour("day"), 1)

    road = sun.ground(np.linspace(-5.0, 5.0, 11)[None], np.array([[30.0]]))[0]

    assert road[0] == 0.0
    assert road[-1] > 0.9
    assert (np.diff(road) >= 0.0).all()
