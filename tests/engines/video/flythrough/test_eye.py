import numpy as np
import pytest

from kit.engines.video.flythrough.eye import Eye
from kit.engines.video.flythrough.lake import Lake
from kit.engines.video.flythrough.route import Station
from kit.engines.video.flythrough.terrain import SIDE


def station(**values: float) -> Station:
    plain = {"x": 100.0, "y": 100.0, "heading": 0.0, "height": 20.0, "horizon": 0.4, "bank": 0.0}
    return Station(**{**plain, **values})


def plain_with_wall(height: float = 60.0) -> np.ndarray:
    """Return flat ground with a wall across it, 200 units ahead of y = 100."""
    surface = np.zeros((SIDE, SIDE), np.float32)
    surface[300:330] = height
    return surface


def test_flat_ground_is_seen_at_its_true_distance() -> None:
    eye = Eye(np.zeros((SIDE, SIDE), np.float32), 160, 90, slices=400)
    seen = eye.look(station())

    rows = np.arange(50, 90)
    expected = 20.0 * eye.focal / (rows - 0.4 * 90)
    assert 1 / seen.inverse[rows, 80] == pytest.approx(expected, rel=0.05)
    assert np.abs(seen.height[50:]).max() < 0.5


def test_above_the_horizon_there_is_sky() -> None:
    eye = Eye(np.zeros((SIDE, SIDE), np.float32), 160, 90, slices=400)
    sky = eye.look(station()).sky

    assert sky[:34].all()
    assert not sky[40:].any()


def test_a_wall_hides_what_lies_behind_it_and_stands_as_high_as_it_is() -> None:
    eye = Eye(plain_with_wall(), 160, 90, slices=500)
    seen = eye.look(station())

    top = 0.4 * 90 - (60 - 20) * eye.focal / 200
    found = np.flatnonzero(~seen.sky[:, 80])[0]
    assert found == pytest.approx(top, abs=1.6)
    assert 1 / seen.inverse[34, 80] == pytest.approx(200, rel=0.06)


@pytest.mark.parametrize("heading", [0.0, 0.5, 2.0, 4.0])
def test_the_middle_of_the_view_lies_along_the_heading(heading: float) -> None:
    eye = Eye(np.zeros((SIDE, SIDE), np.float32), 161, 90, slices=300)
    seen = eye.look(station(heading=heading))

    way = np.array([seen.x[80, 80] - 100, seen.y[80, 80] - 100])
    assert way / np.linalg.norm(way) == pytest.approx([np.sin(heading), np.cos(heading)], abs=0.01)


def test_a_turn_to_the_right_moves_the_land_to_the_left() -> None:
    surface = np.zeros((SIDE, SIDE), np.float32)
    surface[300:330, 95:105] = 60
    eye = Eye(surface, 160, 90, slices=500)

    def column(heading: float) -> float:
        return float(np.flatnonzero(~eye.look(station(heading=heading)).sky[30]).mean())

    assert column(0.2) < column(0.0) - 10


def test_water_mirrors_the_wall_behind_it_upside_down() -> None:
    eye = Eye(plain_with_wall(), 160, 90, slices=500)
    at = station()
    seen = eye.look(at)
    picture = np.full((90, 160, 3), (60, 120, 200), np.uint8)
    picture[~seen.sky] = (200, 30, 20)
    black = np.zeros(3, np.float32)
    lake = Lake(0.0, np.random.default_rng(1), deep=black, shine=black, sun=0.0, glitter=0.0)

    first, water = lake.mirrored(picture, seen, eye, at, 0.0, 40)

    column = water[:, 60:100].astype(int).mean(axis=1)
    redder = column[:, 0] - column[:, 2]
    shore = 0.4 * 90 + 20 * eye.focal / 200
    # Just below the shore stands the wall; as far down again as it is high, the sky.
    deep = shore + 60 * eye.focal / 200
    assert redder[round(shore - first) + 3] > 40
    assert redder[min(len(redder) - 1, round(deep - first) + 9)] < -20
