import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import city
from kit.engines.painting.city import cars, trees, walkers
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.passing import Thing, things_of
from kit.engines.painting.city.roofs import cap
from kit.engines.painting.city.staging import staged
from kit.engines.painting.city.view import blocks_of, view_of
from kit.engines.prompt.brief import Brief, read

seeds = pytest.mark.parametrize("seed", range(4))


def _brief(prompt: str, seed: int = 1) -> Brief:
    return read(prompt, {"aspect_ratio": "16:9", "size": 160, "family": "city"}, seed)


def _things(prompt: str, seed: int = 1) -> list[Thing]:
    brief = _brief(prompt, seed)
    rng = np.random.default_rng(seed)
    return staged(things_of(rng, brief, hour_of(rng, brief)), brief)


def _height(prompt: str, seed: int) -> float:
    """Return how tall the nearest walker is seen, as a share of the frame."""
    view = view_of(np.random.default_rng(seed), _brief(prompt, seed))
    nearest = next(it for it in reversed(_things(prompt, seed)) if it.tall == walkers.TALL)
    return view.focal * 1.75 / nearest.spot.z / view.height


@seeds
def test_a_minimal_street_has_one_figure_and_nothing_else(seed: int) -> None:
    things = _things("minimalist street in rain", seed)

    assert [thing.tall for thing in things] == [walkers.TALL]
    assert not _things("minimalist street in rain, no people", seed)


@seeds
def test_a_figure_fills_a_close_view_and_is_small_in_a_wide_one(seed: int) -> None:
    prompt = "street in rain with umbrellas"

    assert _height(f"close-up {prompt}", seed) > 0.9
    assert _height(f"wide {prompt}", seed) < 0.25
    assert _height(f"epic {prompt}", seed) < 0.3


@seeds
def test_nobody_stands_before_the_figure_of_a_close_view(seed: int) -> None:
    things = _things("close-up street in rain", seed)

    assert things[-1].tall == walkers.TALL
    assert all(thing.spot.z > 2 * things[-1].spot.z for thing in things[:-1])


def test_a_close_view_without_people_shows_a_car() -> None:
    assert _things("close-up street, no people")[-1].tall == cars.TALL


@seeds
def test_a_calm_street_has_less_traffic(seed: int) -> None:
    def passing(prompt: str) -> int:
        return sum(it.tall in (walkers.TALL, cars.TALL) for it in _things(prompt, seed))

    assert 0 < passing("calm street") < 0.8 * passing("street")


@seeds
def test_both_sides_of_a_centered_street_are_alike(seed: int) -> None:
    brief = _brief("centered street in rain", seed)
    blocks = blocks_of(np.random.default_rng(seed), brief)
    sides = [[(b.near, b.far, b.tall) for b in blocks if b.side == side] for side in (-1, 1)]
    things = _things("centered street in rain", seed)

    assert sides[0] == sides[1]
    planted = sorted((it.spot.z, it.spot.x) for it in things if it.tall == trees.TREE_TALL)
    assert sum(x for _, x in planted) == pytest.approx(0.0)
    assert any(it.tall == walkers.TALL and it.spot.x == 0.0 for it in things)


@seeds
def test_epic_houses_tower_and_those_below_a_roof_do_not(seed: int) -> None:
    def tallest(prompt: str) -> float:
        blocks = blocks_of(np.random.default_rng(seed), _brief(prompt, seed))
        return max(block.tall for block in blocks if block.near < 60.0)

    assert tallest("epic street") > 2.0 * tallest("street")
    view = view_of(np.random.default_rng(seed), _brief("aerial street", seed))
    assert tallest("aerial street") < view.eye


def test_roofs_are_seen_from_above_alone() -> None:
    def covered(prompt: str) -> float:
        brief = _brief(prompt)
        rng = np.random.default_rng(3)
        view, hour = view_of(rng, brief), hour_of(rng, brief)
        picture = np.zeros((3, view.height, view.width), np.float32)
        cover = np.zeros((view.height, view.width), np.float32)
        for block in blocks_of(rng, brief):
            cap(view, block, hour, (picture, cover, picture.copy()))
        assert (picture[:, cover == 0.0] == 0.0).all()
        return float(cover.mean())

    assert covered("aerial street at noon") > 0.3
    assert covered("street at noon") == 0.0
    assert covered("low angle street at noon") == 0.0


@seeds
def test_the_horizon_sinks_from_below_and_rises_from_above(seed: int) -> None:
    high, plain, low = (
        view_of(np.random.default_rng(seed), _brief(f"{word} street", seed))
        for word in ("aerial", "", "low angle")
    )

    assert high.y < 0.15 * high.height < plain.y < low.y - 0.2 * low.height


def test_the_ground_behind_a_near_figure_is_out_of_focus() -> None:
    def sharp(word: str) -> float:
        pixels = city.paint(_brief(f"{word} street at noon", 2), Progress()).astype(float)
        edges = np.abs(np.diff(pixels.mean(axis=2), axis=1))
        return float(np.percentile(edges[:, :40], 90))

    assert sharp("close-up") < 0.6 * sharp("")


def test_roofs_by_night_are_seen_with_lights_of_rooms_below() -> None:
    brief = read("aerial street at night", {"aspect_ratio": "16:9", "size": 480}, 4)
    picture = city.paint(brief, Progress()).astype(float)
    roofs = picture[brief.height // 2 :, : brief.width // 4].mean(axis=2)

    assert np.median(roofs) > 25
    assert 0.002 < (roofs > 120).mean() < 0.2
