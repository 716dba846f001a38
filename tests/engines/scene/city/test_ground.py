from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.city.ground import pave
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.stencil import Spot
from kit.engines.painting.city.sunlight import Sunlight
from kit.engines.painting.city.view import View
from kit.engines.prompt.brief import read

_VIEW = View(width=160, height=160, x=80.0, y=80.0, focal=120.0, eye=2.0)


def _paved(
    prompt: str, lamps: list[Spot] | None = None, *, wall: float = 0.0, thick: float = 0.0
) -> np.ndarray:
    """Pave below a gray sky with a red patch that reaches from row 30 to row 60."""
    brief = read(prompt, {"aspect_ratio": "1:1", "size": 160, "family": "city"}, 1)
    picture = np.full((3, 160, 160), 0.1, np.float32)
    picture[0, 30:60, 60:100] = 3.0
    cover = np.zeros((160, 160), np.float32)
    cover[:, :20] = wall
    rng = np.random.default_rng(1)
    hour = hour_of(rng, brief)
    hour = replace(hour, thick=thick) if thick else hour
    pave(
        rng,
        brief,
        _VIEW,
        hour,
        Sunlight([], hour, 1),
        lamps or [],
        (picture, cover, np.full_like(picture, 0.2)),
        Progress(),
    )
    return picture


def _redness(picture: np.ndarray) -> float:
    return float((picture[0] - picture[2])[100:130, 65:95].mean())


def test_wet_ground_mirrors_what_shines_above_it() -> None:
    wet, dry = _paved("rainy night street"), _paved("clear night street")

    assert _redness(wet) > 0.2 > _redness(dry)
    assert (wet[0] - wet[2])[100:130, 5:40].mean() < 0.3 * _redness(wet)


def test_only_the_ground_is_paved() -> None:
    picture = _paved("clear day street", wall=1.0)

    assert picture[1, :79] == pytest.approx(0.1)
    assert picture[1, 100:, :20] == pytest.approx(0.1)
    assert abs(float(picture[1, 120, 80]) - 0.1) > 0.01


def test_marks_are_lighter_than_the_road() -> None:
    row = _paved("clear day street")[1, round(_VIEW.row(0.0, 7.0))]
    dashes = _paved("clear day street")[1, 100:, 79:81].max()

    assert dashes > 1.3 * np.median(row[60:100])


def test_lamps_light_the_ground_below_them_by_night() -> None:
    lamp = Spot(x=4.0, z=8.0)
    lit, dark = _paved("clear night street", [lamp]), _paved("clear night street")
    row, column = round(_VIEW.row(0.0, 8.0)), round(_VIEW.column(3.0, 8.0))

    assert lit[:, row, column].mean() > 1.5 * dark[:, row, column].mean()
    assert _paved("clear day street", [lamp]) == pytest.approx(_paved("clear day street"))


def test_distance_fades_into_the_air() -> None:
    thin, thick = _paved("clear day street"), _paved("clear day street", thick=1.0)

    assert thick[1, 83:] == pytest.approx(0.2, abs=0.06)
    assert abs(float(thin[1, 150, 80]) - 0.2) > 0.06
