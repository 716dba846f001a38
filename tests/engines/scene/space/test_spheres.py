from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.space.globes import Globe
from kit.engines.painting.space.spheres import Planet, add_planet, unit
from kit.engines.painting.space.surfaces import SURFACES

_PLANET = Planet(
    kind="rocky", x=60.0, y=60.0, radius=40.0, sun=unit(1.0, 0.0, 0.3), tilt=0.2,
    opening=0.0, hues=(40.0, 240.0), chroma=1.0,
)  # fmt: skip


def _painted(planet: Planet, ground: float = 0.0) -> np.ndarray:
    picture = np.full((3, 120, 120), ground, np.float32)
    add_planet(np.random.default_rng(4), picture, planet, 5, Progress())
    return picture


@pytest.mark.parametrize("kind", SURFACES)
def test_every_planet_is_lit_from_its_sun(kind: str) -> None:
    picture = _painted(replace(_PLANET, kind=kind)).mean(axis=0)

    if kind != "lava":
        assert picture[40:80, 70:95].mean() > 5 * picture[40:80, 25:45].mean()
    assert picture[60, 60] >= 0.0
    assert picture[2, 2] < 0.05


def test_lava_glows_on_the_night_side_too() -> None:
    night = _painted(replace(_PLANET, kind="lava", sun=unit(0.2, 0.0, -1.0)))

    assert night[0].max() > 0.3
    assert night[0].max() > 1.5 * night[2].max()


def test_a_planet_hides_what_is_behind_it() -> None:
    picture = _painted(_PLANET, ground=0.9)

    assert picture[:, 60, 30].max() < 0.2
    assert picture[:, 5, 5] == pytest.approx(0.9)


def test_rings_pass_before_and_behind() -> None:
    planet = replace(_PLANET, radius=22.0, opening=0.3, tilt=0.0, sun=unit(0.3, -0.5, 0.8))
    plain, ringed = _painted(replace(planet, opening=0.0)), _painted(planet)

    changed = np.abs(ringed - plain).max(axis=0) > 0.02
    assert changed[60, 95:100].any()  # beside the planet
    assert changed[70:74, 60].any()  # before it


def test_a_planet_hides_the_far_side_of_its_rings() -> None:
    against = unit(0.0, -0.25, -1.0)
    planet = replace(_PLANET, kind="moon", radius=22.0, opening=0.3, tilt=0.0, sun=against)

    picture = _painted(planet)

    assert picture[:, 60, 95:100].max() > 0.2
    assert picture[:, 50:54, 60].max() < 0.05


def test_the_planet_throws_a_shadow_on_its_rings() -> None:
    planet = replace(_PLANET, radius=22.0, opening=0.35, tilt=0.0, sun=unit(1.0, 0.0, 0.05))
    row = _painted(planet)[:, 60].mean(axis=0)

    assert row[90:104].mean() > 5 * row[16:30].mean()


def test_a_planet_outside_the_frame_leaves_it_alone() -> None:
    assert _painted(replace(_PLANET, x=-400.0), ground=0.3) == pytest.approx(0.3)


def test_a_globe_is_round_and_its_sheet_shrinks_toward_the_rim() -> None:
    x = np.linspace(-0.99, 0.99, 101, dtype=np.float32)[None]
    globe = Globe.seen(x, np.zeros_like(x), 0.0, 1.0)

    steps = np.diff(globe.u[0])
    assert globe.z[0, 50] == pytest.approx(1.0)
    assert globe.x**2 + globe.y**2 + globe.z**2 == pytest.approx(1.0, abs=1e-5)
    assert steps[0] > 1.5 * steps[50]


def test_units_have_length_one() -> None:
    assert np.linalg.norm(unit(3.0, -4.0, 12.0)) == pytest.approx(1.0)


def test_a_planet_painted_in_strips_has_no_seams() -> None:
    planet = replace(_PLANET, kind="ocean", radius=30.0, opening=0.3)
    strips = np.zeros((3, 120, 120), np.float32)

    add_planet(np.random.default_rng(4), strips, planet, 5, Progress(), strip=1000)

    assert strips == pytest.approx(_painted(planet), abs=1e-4)
