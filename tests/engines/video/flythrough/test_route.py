import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.film.flight.route import route
from kit.engines.models.flythrough import FlyThrough
from kit.engines.painting.heightfield.relief import land
from kit.engines.painting.heightfield.terrain import Land, Station

OFFERED = next(p.enum for p in FlyThrough.definition.settings if p.name == "camera") or []
CAMERAS = [camera for camera in OFFERED if camera != "auto"]
ALPS = land("alps", np.random.default_rng(5), Progress())


def flown(camera: str, *, motion: float = 1.0, ground: Land = ALPS) -> list[Station]:
    return route(ground, camera, 72, 3.0, motion, np.random.default_rng(1))


@pytest.mark.parametrize("camera", CAMERAS)
def test_a_flight_stays_above_the_ground(camera: str) -> None:
    for at in flown(camera):
        assert at.height > ALPS.top(np.array(at.x), np.array(at.y)) + 4


@pytest.mark.parametrize("camera", [camera for camera in CAMERAS if camera != "still"])
def test_every_camera_goes_somewhere_without_a_jolt(camera: str) -> None:
    way = flown(camera)
    places = np.array([(at.x, at.y, at.height) for at in way])
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)

    assert np.linalg.norm(places[-1] - places[0]) > 20
    assert np.abs(np.diff(steps)).max() < 0.35
    assert max(abs(at.bank) for at in way) <= 0.05


def test_without_motion_the_camera_hangs_in_the_air() -> None:
    way = flown("glide", motion=0.0)

    assert len({(at.x, at.y, at.heading) for at in way}) == 1


def test_a_rise_ends_high_and_looks_down() -> None:
    way = flown("rise")

    assert way[-1].height > way[0].height + 50
    assert way[-1].horizon < way[0].horizon - 0.1


def test_an_orbit_keeps_looking_at_its_middle() -> None:
    way = flown("orbit")
    first = (way[0].x + 170 * np.sin(way[0].heading), way[0].y + 170 * np.cos(way[0].heading))
    last = (way[-1].x + 170 * np.sin(way[-1].heading), way[-1].y + 170 * np.cos(way[-1].heading))

    assert first == pytest.approx(last)
    assert way[-1].heading - way[0].heading > 0.5
