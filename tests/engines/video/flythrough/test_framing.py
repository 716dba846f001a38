import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.film.flight.framing import PLAIN, framing_of
from kit.engines.film.flight.route import route
from kit.engines.painting.heightfield.relief import land
from kit.engines.painting.heightfield.terrain import Land, Station

HILLS = land("hills", np.random.default_rng(5), Progress())


def flown(*words: str, camera: str = "glide", shape: float = 0.6, ground: Land = HILLS) -> Station:
    """Return where a flight is in its middle."""
    framing = framing_of(words, high=camera == "high", shape=shape)
    return route(ground, camera, 9, 3.0, 0.5, np.random.default_rng(1), framing)[4]


def test_without_such_words_a_flight_is_as_its_camera_flies() -> None:
    assert framing_of(["centered"]) == PLAIN
    assert flown() == route(HILLS, "glide", 9, 3.0, 0.5, np.random.default_rng(1))[4]


def test_words_of_composition_place_the_camera() -> None:
    plain, low, minimal, wide = (flown(), flown("low"), flown("minimal"), flown("wide"))

    assert low.height < plain.height - 5 < plain.height < wide.height - 3
    assert low.horizon > plain.horizon + 0.1
    assert minimal.horizon > 0.55
    assert (low.x, low.y, low.heading) == (plain.x, plain.y, plain.heading)


def test_a_close_view_has_a_long_lens_and_a_wide_one_a_short_one() -> None:
    assert framing_of(["close"]).lens < 0.7 < 1.1 < framing_of(["wide"]).lens


@pytest.mark.parametrize(("camera", "third"), [("glide", 2 / 3), ("high", 1 / 3)])
def test_thirds_set_the_horizon_on_one(camera: str, third: float) -> None:
    assert flown("thirds", "low", camera=camera).horizon == pytest.approx(third)


@pytest.mark.parametrize("camera", ["skim", "rise", "descend"])
def test_words_leave_the_horizon_in_the_frame_and_the_flight_above_the_ground(camera: str) -> None:
    words = ("low", "minimal", "dramatic")
    framing = framing_of(words, shape=1.8)
    for at in route(HILLS, camera, 24, 3.0, 1.0, np.random.default_rng(1), framing):
        assert 0.1 < at.horizon < 0.75
        assert at.height > HILLS.top(np.array(at.x), np.array(at.y)) + 4


def test_a_tall_frame_looks_less_down() -> None:
    assert flown(shape=16 / 9).horizon > flown(shape=1.25).horizon == flown().horizon
