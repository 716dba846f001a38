import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.film.flight.route import PILOTS, route
from kit.engines.painting.heightfield.camera import Eye
from kit.engines.painting.heightfield.patches import box_of
from kit.engines.painting.heightfield.relief import land
from kit.engines.painting.heightfield.slices import FINENESS, WOODED, bare, nearest, sliced, wooded
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Land, Station
from kit.engines.painting.heightfield.visible import Seen
from kit.engines.painting.heightfield.woods import crowns

ALPS = land("alps", np.random.default_rng(5), Progress())


def wood() -> Land:
    """Return trees all over a slope that rises before the camera."""
    tall, looks = crowns(np.random.default_rng(2), 6, 5.4, pointed=0.9)
    slope = np.linspace(0, 0.4 * GRID * TEXEL, GRID, dtype=np.float32)[:, None]
    return Land("forest", slope + tall, None, np.full((GRID, GRID), 255, np.uint8), looks)


def test_trees_can_be_told_apart_as_far_as_if_nothing_lay_between_slices() -> None:
    ground = wood()
    at = Station(x=300.0, y=100.0, heading=0.0, height=75.0, horizon=0.4, bank=0.0)
    eye = Eye(320, 180)
    box = box_of([at], eye.widest)

    def look(slices: np.ndarray, fineness: tuple[tuple[float, float], ...]) -> Seen:
        eye.over(ground.surface, box, slices, fineness)
        return eye.look(at)

    truth = look(bare(4000), WOODED)
    middle = (truth.away > 70) & (truth.away < 180) & ~truth.sky

    def wrong(seen: Seen) -> float:
        assert seen.first == pytest.approx(truth.first, abs=4)
        shift = truth.first - seen.first
        away = np.roll(seen.away, -shift, axis=0)
        return float(np.abs(away - truth.away)[middle].mean())

    taken = look(*sliced(ground, [at], eye.widest, eye.rows / eye.focal, 240))
    assert wrong(taken) < 0.6 * wrong(look(bare(240), FINENESS))


def test_slices_lie_closer_together_than_trees_as_far_as_these_are_told() -> None:
    away = wooded(290, 40.0)
    close, even = (np.diff(plane)[plane[:-1] < 150].max() for plane in (away, bare(290)))

    assert close < 2.0 < even
    assert (np.diff(away) > 0).all()
    assert away[-1] == pytest.approx(bare(290)[-1])


@pytest.mark.parametrize("camera", list(PILOTS))
def test_no_ground_in_sight_lies_before_the_first_slice(camera: str) -> None:
    way = route(ALPS, camera, 48, 2.0, 0.6, np.random.default_rng(1))
    eye = Eye(160, 90)
    slices, fineness = sliced(ALPS, way, eye.widest, eye.rows / eye.focal, 240)
    box = box_of(way, eye.widest)
    for at in way[::12]:
        eye.over(ALPS.surface, box, bare(600))
        seen = eye.look(at)
        assert seen.away[~seen.sky].min() >= slices[0]
        eye.over(ALPS.surface, box, slices, fineness)
        again = eye.look(at)
        assert again.away[-1].min() > slices[0]


def test_the_lower_a_flight_the_nearer_its_first_slice() -> None:
    def first(height: float) -> float:
        at = Station(x=300.0, y=100.0, heading=0.0, height=height, horizon=0.4, bank=0.0)
        flat = Land(
            "hills",
            np.zeros((GRID, GRID), np.float32),
            None,
            np.zeros((GRID, GRID), np.uint8),
            np.zeros((1, 1, 2), np.uint8),
        )
        return nearest(flat, [at], 0.6, 0.7)

    assert 5.0 <= first(6.0) < first(12.0) < first(30.0) < 60.0


@pytest.mark.parametrize("kind", ["desert", "canyon"])
def test_land_without_trees_is_sliced_as_ever(kind: str) -> None:
    ground = Land(
        kind,
        np.zeros((GRID, GRID), np.float32),
        None,
        np.zeros((GRID, GRID), np.uint8),
        np.zeros((1, 1, 2), np.uint8),
    )
    slices, fineness = sliced(ground, [], 0.6, 0.7, 240)

    assert np.array_equal(slices, bare(240))
    assert fineness is FINENESS
