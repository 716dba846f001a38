import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import space
from kit.engines.painting.space.cast import Cast, cast
from kit.engines.painting.space.rocks import add_rocks
from kit.engines.painting.space.staging import anchor, staged
from kit.engines.prompt.brief import Brief, read

_SUBJECTS = ("planet", "saturn", "galaxy", "black hole", "supernova", "nebula", "sunrise orbit")
subjects = pytest.mark.parametrize("subject", _SUBJECTS)


def _brief(prompt: str, seed: int = 1) -> Brief:
    return read(prompt, {"aspect_ratio": "16:9", "size": 160, "family": "space"}, seed)


def _staged(prompt: str, seed: int = 1) -> Cast:
    brief = _brief(prompt, seed)
    return staged(cast(np.random.default_rng(seed), brief), brief)


def _reach(seen: Cast) -> float:
    """Return how large the thing is that a sky is of, or how high a horizon lies."""
    sizes = [
        planet.radius for planet in seen.planets if planet.kind != "rocky" or planet.radius > 9
    ]
    sizes += [galaxy.radius for galaxy in seen.galaxies]
    sizes += [
        body for body in (seen.nova and seen.nova.radius, seen.hole and seen.hole.mass) if body
    ]
    return 160.0 - seen.sun[1] if seen.sun else max(sizes, default=10.0 / seen.gas.zoom)


@subjects
@pytest.mark.parametrize("seed", range(4))
def test_distance_makes_the_subject_large_or_small(subject: str, seed: int) -> None:
    wide, plain, epic, close = (
        _reach(_staged(f"{word} {subject}", seed)) for word in ("wide", "", "epic", "close-up")
    )

    assert wide < 0.9 * plain
    assert epic > 1.02 * plain
    assert close > 1.1 * plain


@subjects
def test_a_minimal_sky_has_one_small_thing_in_it(subject: str) -> None:
    many, few = _staged(subject), _staged(f"minimalist {subject}")

    assert few.flares == 0
    assert few.stars < 0.3 * many.stars
    assert len(few.planets) == min(1, len(many.planets))
    assert few.gas.alone if subject == "nebula" else not few.gas.glow
    assert _reach(few) < _reach(many) or subject == "nebula"


@subjects
@pytest.mark.parametrize("seed", range(4))
def test_the_subject_stands_where_words_put_it(subject: str, seed: int) -> None:
    def place(word: str) -> tuple[float, float]:
        brief = _brief(f"{word} {subject}", seed)
        x, y = anchor(_staged(f"{word} {subject}", seed), brief)
        return x / brief.width, y / brief.height

    assert place("centered")[0] == pytest.approx(0.5)
    assert min(abs(place("rule of thirds")[0] - third) for third in (1 / 3, 2 / 3)) < 0.01
    assert min(abs(place("rule of thirds")[1] - third) for third in (1 / 3, 2 / 3)) < 0.01


def test_something_huge_has_a_small_world_before_it() -> None:
    for subject in ("planet", "galaxy", "nebula", "black hole"):
        *_, tiny = _staged(f"epic {subject}").planets

        assert tiny.radius < 5.0


def test_disks_open_up_from_above() -> None:
    assert _staged("aerial saturn").planets[-1].opening > 2 * _staged("saturn").planets[-1].opening
    assert _staged("aerial galaxy").galaxies[0].opening > 0.9
    hole = _staged("aerial black hole").hole
    assert hole
    assert hole.above < np.radians(50)


def test_from_below_one_stands_on_rocks() -> None:
    picture = np.ones((3, 90, 160), np.float32)
    add_rocks(np.random.default_rng(1), picture, _staged("low angle nebula").rocks)

    assert (picture[:, -4:] < 0.5).all()
    assert (picture[:, :40] == 1.0).all()
    assert not _staged("nebula").rocks


def test_words_of_the_camera_do_not_change_what_was_drawn() -> None:
    plain, thirds = _staged("nebula"), _staged("rule of thirds nebula")

    assert plain.gas.hues == thirds.gas.hues
    assert plain.gas.amount == thirds.gas.amount


@pytest.mark.parametrize("seed", range(3))
def test_a_close_planet_fills_the_frame(seed: int) -> None:
    def filled(word: str) -> float:
        pixels = space.paint(_brief(f"{word} ice planet", seed), Progress())
        return float((pixels.max(axis=2) > 90).mean())

    assert filled("close-up") > 1.6 * filled("")


@pytest.mark.parametrize("color", ["", "blue", "purple", "green"])
def test_a_single_cloud_is_there_to_be_seen(color: str) -> None:
    for seed in (3, 11):
        pixels = space.paint(_brief(f"minimalist {color} nebula", seed), Progress())
        shine = (pixels.max(axis=2) > 60).mean()

        assert 0.004 < shine < 0.2
