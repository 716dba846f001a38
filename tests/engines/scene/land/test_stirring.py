import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land import motion as stirring
from kit.engines.prompt.brief import read


def told(prompt: str, seed: int = 1) -> tuple[np.ndarray, list[stirring.Stir]]:
    brief = read(prompt, {"aspect_ratio": "16:9", "size": 192, "detail": "low"}, seed)
    with stirring.heard() as stirs:
        picture = paint(brief, Progress())
    return picture, stirs


def unheard(prompt: str, seed: int = 1) -> np.ndarray:
    brief = read(prompt, {"aspect_ratio": "16:9", "size": 192, "detail": "low"}, seed)
    return paint(brief, Progress())


def kinds(prompt: str) -> set[str]:
    return {type(stir).__name__ for stir in told(prompt)[1]}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a mountain lake", {"Water"}),
        ("a waterfall at noon", {"Fall", "Spray", "Depths", "Water"}),
        ("an erupting volcano over a lake", {"Smoke", "Fountain", "Lava", "Depths", "Water"}),
        ("an erupting volcano in the desert", {"Smoke", "Fountain", "Lava", "Depths"}),
        ("an erupting volcano in the sea", {"Smoke", "Fountain", "Lava", "Depths"}),
        ("a volcano at noon, clear", {"Smoke", "Depths", "Water"}),
        ("a dormant volcano", set()),
    ],
)
def test_painters_tell_what_moves(prompt: str, expected: set[str]) -> None:
    assert kinds(prompt) - {"Sky"} == expected


def test_nobody_is_told_where_nobody_listens() -> None:
    stirring.tell(stirring.Depths(np.zeros((2, 2), np.float32)))

    with stirring.heard() as stirs:
        assert stirring.listened()
    assert not stirring.listened()
    assert stirs == []


def test_whoever_listens_within_hears_alone() -> None:
    depths = stirring.Depths(np.zeros((2, 2), np.float32))
    with stirring.heard() as outer:
        with stirring.heard() as inner:
            stirring.tell(depths)
        assert inner == [depths]
    assert outer == []


@pytest.mark.parametrize("prompt", ["a waterfall at noon", "a volcano at noon, clear"])
def test_a_picture_is_the_same_whoever_listens(prompt: str) -> None:
    assert np.array_equal(told(prompt)[0], unheard(prompt))


def test_only_what_flies_is_left_to_the_film() -> None:
    prompt = "an erupting volcano at night, clear"
    picture, stirs = told(prompt)
    fountain = next(stir for stir in stirs if isinstance(stir, stirring.Fountain))
    column, row = (round(place) for place in fountain.crater)
    reach = round(5 * fountain.unit)
    changed = np.abs(picture.astype(int) - unheard(prompt)).max(axis=2)

    assert changed[max(0, row - reach) : row, column - reach : column + reach].max() > 60
    # Its shine is wide, its stones are not.
    assert changed[row + reach :].max() < 60
    assert len(fountain.stones) == 150


def test_a_plume_stands_over_its_crater() -> None:
    _, stirs = told("an erupting volcano at noon, clear")
    smoke = next(stir for stir in stirs if isinstance(stir, stirring.Smoke))
    column, row = (round(place / smoke.step) for place in smoke.crater)

    assert smoke.cover[: row - 3, column].mean() > 0.6
    assert smoke.tall > 4 * smoke.unit


def test_water_takes_the_time_that_its_height_gives_it() -> None:
    _, stirs = told("a waterfall at noon")
    falls = [stir for stir in stirs if isinstance(stir, stirring.Fall)]

    assert falls
    for fall in falls:
        assert 1.5 < fall.seconds < 6.0  # about 11 to 170 m
        assert fall.down[0, 0] < 0.05 < 0.9 < fall.down[-1, 0]
        assert np.abs(fall.across).min() < 0.1


def test_northern_lights_tell_where_they_shine() -> None:
    _, stirs = told("northern lights over a lake")
    curtains = next(stir for stir in stirs if isinstance(stir, stirring.Curtains))
    sky = next(stir for stir in stirs if isinstance(stir, stirring.Sky))

    assert curtains.light.shape[1] == sky.shown.shape[1] == 192
    assert 0.1 < curtains.light.max() < 2
    assert sky.shown[0].mean() > 0.5
    assert not sky.shown[-1].any()
