import numpy as np
import pytest

from kit.engines.painting.heightfield.camera import Eye
from kit.engines.painting.heightfield.patches import box_of
from kit.engines.painting.heightfield.slices import bare
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Station
from kit.engines.painting.heightfield.visible import softened
from kit.engines.painting.heightfield.water import Lake, View

FLAT = np.zeros((GRID, GRID), np.float32)


def rows(start: float, end: float) -> slice:
    """Return the rows of a plane that lie between two places of the world."""
    return slice(round(start / TEXEL), round(end / TEXEL))


def station(**values: float) -> Station:
    plain = {"x": 100.0, "y": 100.0, "heading": 0.0, "height": 20.0, "horizon": 0.4, "bank": 0.0}
    return Station(**{**plain, **values})


def plain_with_wall(height: float = 60.0) -> np.ndarray:
    """Return flat ground with a wall across it, 200 units ahead of y = 100."""
    surface = FLAT.copy()
    surface[rows(300, 330)] = height
    return surface


def eye_over(surface: np.ndarray, at: Station, columns: int = 160, slices: int = 500) -> Eye:
    eye = Eye(columns, 90)
    eye.over(surface, box_of([at], eye.widest), bare(slices))
    return eye


def whole(plane: np.ndarray, first: int, above: float) -> np.ndarray:
    """Return a plane of what is seen with the rows above it that show no land."""
    return np.pad(plane, ((first, 0), (0, 0)), constant_values=above)


def test_flat_ground_is_seen_at_its_true_distance() -> None:
    at = station()
    eye = eye_over(FLAT, at)
    seen = eye.look(at)

    below = np.arange(50, 90)
    expected = 20.0 * eye.focal / (below - 0.4 * 90)
    assert 1 / seen.inverse[below - seen.first, 80] == pytest.approx(expected, rel=0.05)
    assert np.abs(seen.height[50 - seen.first :]).max() < 0.5


def test_above_the_horizon_there_is_sky() -> None:
    at = station()
    seen = eye_over(FLAT, at).look(at)
    sky = whole(seen.sky, seen.first, True)

    assert sky.shape == (90, 160)
    assert sky[:34].all()
    assert not sky[40:].any()


def test_a_wall_hides_what_lies_behind_it_and_stands_as_high_as_it_is() -> None:
    at = station()
    eye = eye_over(plain_with_wall(), at)
    seen = eye.look(at)

    top = 0.4 * 90 - (60 - 20) * eye.focal / 200
    assert np.flatnonzero(~whole(seen.sky, seen.first, True)[:, 80])[0] == pytest.approx(
        top, abs=1.6
    )
    assert 1 / seen.inverse[34 - seen.first, 80] == pytest.approx(200, rel=0.06)


def test_a_crest_between_two_slices_is_seen_without_teeth() -> None:
    at = station(heading=0.3)
    surface = FLAT.copy()
    away = np.abs(np.arange(GRID) * TEXEL - 500)
    surface += np.maximum(0.0, 50.0 - 1.2 * away).astype(np.float32)[:, None]
    eye = eye_over(surface, at, columns=320, slices=180)
    seen = eye.look(at)

    skyline = np.argmin(whole(seen.sky, seen.first, True), axis=0)
    # A ridge that runs straight is seen as a straight line, slices far apart or not.
    line = np.polyval(np.polyfit(np.arange(320), skyline, 2), np.arange(320))
    assert np.abs(skyline - line).max() < 1.3


def test_seen_begins_with_an_even_row_of_nothing_but_sky() -> None:
    for height in (17.0, 23.0, 31.0):
        at = station(height=height)
        seen = eye_over(plain_with_wall(), at).look(at)

        assert seen.first % 2 == 0
        assert seen.sky[0].all()
        assert seen.away * seen.inverse == pytest.approx(1.0, rel=1e-5)


def test_a_leaning_camera_sees_a_slanted_horizon() -> None:
    at = station(bank=0.05)
    eye = eye_over(FLAT, at)
    seen = eye.look(at)
    skyline = np.argmin(whole(seen.sky, seen.first, True), axis=0)

    assert skyline[0] - skyline[-1] == pytest.approx(np.tan(0.05) * 160, abs=2)


@pytest.mark.parametrize("heading", [0.0, 0.5, 2.0, 4.0])
def test_the_middle_of_the_view_lies_along_the_heading(heading: float) -> None:
    at = station(heading=heading)
    seen = eye_over(FLAT, at, columns=161).look(at)

    row = 80 - seen.first
    way = np.array([seen.x[row, 80] - 100, seen.y[row, 80] - 100])
    assert way / np.linalg.norm(way) == pytest.approx([np.sin(heading), np.cos(heading)], abs=0.01)


def test_a_turn_to_the_right_moves_the_land_to_the_left() -> None:
    surface = FLAT.copy()
    surface[rows(300, 330), rows(95, 105)] = 60

    def column(heading: float) -> float:
        at = station(heading=heading)
        seen = eye_over(surface, at).look(at)
        return float(np.flatnonzero(~whole(seen.sky, seen.first, True)[30]).mean())

    assert column(0.2) < column(0.0) - 10


def test_land_continues_beyond_its_edge() -> None:
    at, beyond = station(), station(y=100.0 + GRID * TEXEL, x=100.0 - GRID * TEXEL)
    one, other = (eye_over(plain_with_wall(), place).look(place) for place in (at, beyond))

    assert other.inverse == pytest.approx(one.inverse, rel=1e-3)


def test_ridges_are_blended_with_what_lies_behind_them() -> None:
    at = station()
    seen = eye_over(plain_with_wall(), at).look(at)
    picture = np.zeros((90, 160), np.uint8)
    picture[seen.first :][~seen.sky] = 200
    softened(picture, seen)

    between = (picture > 5) & (picture < 195)
    assert between.any(axis=0).mean() > 0.8


def test_water_mirrors_the_wall_behind_it_upside_down() -> None:
    at = station()
    eye = eye_over(plain_with_wall(), at)
    seen = eye.look(at)
    picture = np.full((90, 160, 3), (60, 120, 200), np.uint8)
    picture[seen.first :][~seen.sky] = (200, 30, 20)
    clear = np.zeros(seen.inverse[::2, ::2].shape, np.float32)
    air = np.zeros((80, 3), np.uint8)
    shore = 0.4 * 90 + 20 * eye.focal / 200
    picture[round(shore) :] = 0  # what is under the water is dark
    lake = Lake(0.0, np.random.default_rng(1), shine=np.zeros(3, np.float32), sun=0.0, glitter=0.0)

    first, water = lake.mirrored(
        View(np.ascontiguousarray(picture[::2, ::2]), seen, clear, air), eye, at, 0.0, 40
    )

    column = water[:, 30:50].repeat(2, axis=0).astype(int).mean(axis=1)
    redder = column[:, 0] - column[:, 2]
    # Just below the shore stands the wall; as far down again as it is high, the sky.
    deep = shore + 60 * eye.focal / 200
    assert redder[round(shore - first) + 3] > 30
    assert redder[min(len(redder) - 1, round(deep - first) + 9)] < -5
