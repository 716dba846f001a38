from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.media.color import lab_of
from kit.engines.painting.families import paint
from kit.engines.prompt.brief import read

LANDS = ["lake", "desert", "forest", "sea"]


def painted(prompt: str, seed: int = 1, aspect: str = "1:1", size: int = 144) -> np.ndarray:
    settings = {"aspect_ratio": aspect, "size": size, "detail": "low"}
    return paint(read(prompt, settings, seed), Progress())


def lab(prompt: str, seed: int = 1) -> np.ndarray:
    return lab_of(painted(prompt, seed) / 255)


@pytest.mark.parametrize("family", LANDS)
def test_the_same_brief_gives_the_same_pixels_and_another_seed_others(family: str) -> None:
    one, again, other = (painted(f"clear {family} at noon", seed) for seed in (3, 3, 4))

    assert (one == again).all()
    assert np.abs(one.astype(int) - other).mean() > 3


@pytest.mark.parametrize("family", LANDS)
def test_every_land_fills_a_tall_frame(family: str) -> None:
    picture = painted(f"{family} at sunset", aspect="9:16")

    assert picture.shape == (144, 81, 3)
    assert picture.std() > 15


@pytest.mark.parametrize("family", ["desert", "sea"])
def test_night_is_darker_than_day(family: str) -> None:
    assert lab(f"clear {family} by night")[..., 0].mean() < 0.7 * (
        lab(f"clear {family} at noon")[..., 0].mean()
    )


@pytest.mark.parametrize("family", ["desert", "sea"])
def test_color_words_turn_the_hue(family: str) -> None:
    teal, crimson = (lab(f"{family} at dusk, clear, {word} light") for word in ("teal", "crimson"))

    assert teal[..., 1].mean() < crimson[..., 1].mean() - 0.03


@pytest.mark.parametrize(
    "prompt",
    [
        "winter mountains, snowfall",
        "rolling hills with birds",
        "alps in the rain",
        "autumn lake, fireflies",
        "mesa at dawn",
        "snowy dunes",
        "dunes and mesas at sunset",
        "birch grove in winter",
        "jungle in the rain",
        "tropical beach, minimal",
        "archipelago in a storm",
        "lighthouse on a cliff by night",
        "sailboat on a calm sea, wide",
        "martian desert, high aerial view",
        "forest, low angle, centered",
    ],
)
def test_every_kind_of_land_renders(prompt: str) -> None:
    assert painted(prompt).std() > 10


@pytest.mark.parametrize(
    ("colored", "plain", "turn"),
    [
        ("turquoise sea at noon, clear", "sea at noon, clear", -1),
        ("red canyon at noon, clear", "canyon at noon, clear", 1),
    ],
)
def test_a_thing_takes_the_color_that_is_said_of_it(colored: str, plain: str, turn: int) -> None:
    one, other = (lab(prompt)[90:, :, 1].mean() for prompt in (colored, plain))

    assert turn * (one - other) > 0.008


def test_cacti_stand_on_the_plain_when_they_are_asked_for() -> None:
    plain = painted("desert canyon with x at noon, clear", size=256)
    cacti = painted("desert canyon with cactus at noon, clear", size=256)

    def green(picture: np.ndarray) -> int:
        red, other = picture[..., 0].astype(int), picture[..., 1].astype(int)
        return int((other > red + 12)[140:].sum())

    assert green(cacti) > 60 > 10 * green(plain)


def test_rain_that_is_not_to_be_drawn_leaves_its_light() -> None:
    brief = read("stormy sea at sunset", {"aspect_ratio": "1:1", "size": 144}, 1)
    dry = replace(brief, falling=False)
    clear = replace(brief, weather="clear")
    wet, plain, other = (paint(one, Progress()).astype(int) for one in (brief, dry, clear))

    assert 0.2 < np.abs(wet - plain).mean() < np.abs(other - plain).mean()


def test_northern_lights_turn_the_night_sky_green() -> None:
    aurora, plain = (lab(f"{words} over the sea, clear night", seed=2) for words in ("aurora", "x"))

    assert aurora[:50, :, 1].min() < plain[:50, :, 1].min() - 0.03


def test_winter_is_whiter_than_summer() -> None:
    winter, summer = (lab(f"clear {season} mountains at noon") for season in ("winter", "summer"))
    chroma = [np.hypot(part[72:, :, 1], part[72:, :, 2]).mean() for part in (winter, summer)]

    assert chroma[0] < 0.8 * chroma[1]


def test_still_water_mirrors_the_sky() -> None:
    picture = lab("calm minimal lake at sunset, clear", seed=5)
    top, bottom = picture[40:60], picture[84:104]

    assert np.abs(top.mean(axis=(0, 1)) - bottom.mean(axis=(0, 1))).max() < 0.2


@pytest.mark.parametrize("family", ["forest", "sea"])
def test_progress_rises_in_several_steps(family: str) -> None:
    seen: list[float] = []
    brief = read(f"clear {family}", {"aspect_ratio": "1:1", "size": 96, "detail": "low"}, 1)
    paint(brief, Progress(seen.append))

    assert seen == sorted(seen)
    assert len(seen) >= 5


@pytest.mark.parametrize("family", LANDS)
def test_a_canceled_painting_is_given_up(family: str) -> None:
    progress = Progress()
    progress.cancel()
    brief = read(f"clear {family}", {"aspect_ratio": "1:1", "size": 96, "detail": "low"}, 1)

    with pytest.raises(CanceledError):
        paint(brief, progress)
