"""Paintings: light, depth, masks and motions that fit each other."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.film.filming import Take
from kit.engines.film.flight import Flight
from kit.engines.painting.families import FAMILIES, paint
from kit.engines.painting.painting import Painting
from kit.engines.painting.tone import Film, develop
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read

SIZE = {"aspect_ratio": "3:2", "size": 192, "detail": "low"}
LANDS = ("a mountain lake", "sand dunes", "a pine forest", "a calm sea", "red mesas")


def brief_of(prompt: str) -> Brief:
    return read(prompt, SIZE, 3)


@cache
def picture(prompt: str) -> Painting:
    return paint(brief_of(prompt), Progress())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_paints_light_of_its_size(family: str) -> None:
    brief = replace(brief_of("a quiet day"), family=family)
    painting = paint(brief, Progress())

    assert painting.light.shape == (3, brief.height, brief.width)
    assert painting.light.dtype == np.float32
    assert np.isfinite(painting.light).all()
    assert painting.pixels().shape == (brief.height, brief.width, 3)
    for plane in (painting.depth, painting.sky, painting.water, painting.emitters):
        assert plane is None or plane.shape == (brief.height, brief.width)


@pytest.mark.parametrize("prompt", LANDS)
def test_land_is_before_the_sky_and_nearer_at_the_bottom(prompt: str) -> None:
    depth, sky = picture(prompt).depth, picture(prompt).sky

    assert depth is not None
    assert sky is not None
    assert (np.isinf(depth) == (sky == 1.0)).all()
    assert np.median(depth[-1]) < np.median(depth[len(depth) * 3 // 4])
    assert (depth > 0).all()


@pytest.mark.parametrize(
    "prompt",
    ["a neon city street at night", "city street from above", "a ringed planet", "a nebula"],
)
def test_depth_of_streets_and_space_is_infinite_only_in_the_sky(prompt: str) -> None:
    depth, sky, emitters = (picture(prompt).depth, picture(prompt).sky, picture(prompt).emitters)

    assert depth is not None
    assert sky is not None
    assert emitters is not None
    assert np.isinf(depth[sky == 1]).all()
    assert np.isfinite(depth[sky == 0]).all()
    assert 0 <= emitters.min() < emitters.max() <= 1


def test_a_black_hole_hides_the_stars_behind_it() -> None:
    painting = picture("a black hole, centered")
    assert painting.sky is not None
    assert painting.emitters is not None
    height, width = painting.sky.shape
    middle = np.s_[height // 2 - 9 : height // 2 + 9, width // 2 - 9 : width // 2 + 9]

    assert painting.emitters.any()
    assert not painting.emitters[middle].any()
    assert not painting.sky[middle].any()


@pytest.mark.parametrize("prompt", ["a mountain lake", "the open sea"])
def test_water_is_below_the_sky(prompt: str) -> None:
    water, sky = picture(prompt).water, picture(prompt).sky

    assert water is not None
    assert sky is not None
    assert water.any()
    assert not (water * sky).any()


@pytest.mark.parametrize(
    ("prompt", "kinds"),
    [
        ("a waterfall in a valley", {"fall", "spray"}),
        ("an erupting volcano over a lake at night", {"smoke", "lava"}),
        ("northern lights over a lake at night", {"curtains"}),
        ("sand dunes", set()),
    ],
)
def test_a_painting_lists_its_motions(prompt: str, kinds: set[str]) -> None:
    assert {motion.kind for motion in picture(prompt).motions} == kinds


def test_embers_are_not_painted_for_a_film() -> None:
    brief = brief_of("an erupting volcano at night")
    still, place = (paint(replace(brief, falling=falling), Progress()) for falling in (True, False))

    assert still.light.sum() > place.light.sum()
    assert len(still.motions) == len(place.motions)


@pytest.mark.parametrize("prompt", [*LANDS, "a city street", "a planet"])
def test_a_painting_can_be_canceled(prompt: str) -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        paint(brief_of(prompt), progress)


def test_a_painting_developed_twice_is_the_same_picture() -> None:
    painting = picture("a mountain lake")
    before = painting.light.copy()

    assert (painting.pixels() == painting.pixels()).all()
    assert (painting.light == before).all()


def test_film_curves_never_make_more_light_darker() -> None:
    light = np.repeat(np.geomspace(1e-4, 30, 256, dtype=np.float32)[None], 8, 0)[None]
    for film in (Film(), Film(contrast=1.5), Film(contrast=0.7, lift=0.1), Film(filmic=False)):
        plain = replace(film, grain=0.0, vignette=0.0)
        row = develop(np.repeat(light, 3, 0), plain).mean(axis=(0, 2))
        assert (np.diff(np.convolve(row, np.ones(16) / 16, "valid")) > -0.5).all()


def still_and_first_frame(prompt: str, frames: int = 2) -> tuple[Painting, np.ndarray]:
    """Return a still, and the first frame of a flight of the same prompt and seed, gray.

    A flight of more frames than two is a loop.
    """
    take = Take(width=192, height=128, fps=24, frames=frames, camera="glide", loop=frames > 2)
    still = paint(read(prompt, SIZE | {"detail": "standard"}, 3), Progress())
    frame = Flight(read(prompt, SIZE, 3, painter="flight"), take, Progress()).frame(0)
    return still, frame[:128].astype(float)


@pytest.mark.parametrize(
    ("prompt", "frames"),
    [
        ("a mountain lake at noon", 2),
        ("green hills at noon", 24),
        ("mesas at noon", 2),
        ("dunes at noon", 24),
        ("cliffs by the sea at noon", 2),
        ("a volcano over a lake at noon", 24),
    ],
)
def test_a_flight_begins_at_the_place_of_its_still(prompt: str, frames: int) -> None:
    still, frame = still_and_first_frame(prompt, frames)
    assert still.sky is not None
    # The sky is at the same place in both, and as bright.
    sky, land = still.sky > 0.99, still.sky < 0.01
    gray = still.pixels().mean(axis=2)
    alike = np.corrcoef(gray[sky], frame[sky])[0, 1]
    other = picture(prompt + ", another place").pixels().mean(axis=2)

    assert alike > np.corrcoef(other[sky], frame[sky])[0, 1]
    assert frame[sky].mean() > frame[land].mean()


def test_the_hour_orders_the_light_of_stills_and_flights() -> None:
    hours = ("at night", "at sunset", "at noon")
    pairs = [still_and_first_frame(f"a mountain lake in summer {hour}") for hour in hours]
    for light in zip(
        *((still.pixels().mean(), frame.mean()) for still, frame in pairs), strict=True
    ):
        assert list(light) == sorted(light)


def test_snow_makes_the_ground_of_stills_and_flights_lighter() -> None:
    seasons = [still_and_first_frame(f"hills at noon in {it}") for it in ("summer", "winter")]
    lower = [(still.pixels()[80:].mean(), frame[80:].mean()) for still, frame in seasons]
    for summer, winter in zip(*lower, strict=True):
        assert summer < winter


def test_rain_is_painted_unless_a_film_draws_it() -> None:
    wet = brief_of("a lake in the rain")
    rainy, dry = (paint(replace(wet, falling=on), Progress()).pixels() for on in (True, False))
    assert (rainy != dry).mean() > 0.01
