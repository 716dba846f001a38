import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.media.color import lab_of
from kit.engines.painting.families import paint
from kit.engines.painting.land.look import Look, look_for
from kit.engines.prompt.brief import Brief, read

SETTINGS = {"aspect_ratio": "16:9", "size": 160, "detail": "low"}


def brief(prompt: str, seed: int = 3, **settings: str) -> Brief:
    return read(prompt, {**SETTINGS, **settings}, seed)


def look(prompt: str) -> Look:
    return look_for(brief(prompt))


def lightness(prompt: str) -> float:
    return float(lab_of(paint(brief(prompt), Progress()) / np.float32(255))[..., 0].mean())


@pytest.mark.parametrize("hour", ["morning", "evening", "dusk"])
@pytest.mark.parametrize("weather", ["rain", "overcast", "snowfall"])
def test_a_low_sun_that_is_not_named_leaves_no_color(hour: str, weather: str) -> None:
    closed, clear = look(f"a lake, {hour}, {weather}"), look(f"a lake, {hour}, clear")

    assert max(chroma for _, chroma, _ in closed.sky) < 0.05
    assert max(chroma for _, chroma, _ in clear.sky) > 0.09
    assert not closed.disc


@pytest.mark.parametrize("family", ["lake", "sea", "desert"])
def test_shapes_are_seen_in_a_rainy_night(family: str) -> None:
    wet, dry = lightness(f"{family} by night, rain"), lightness(f"{family} by night, clear")

    assert 0.75 * dry < wet < lightness(f"{family} at noon, rain")


def test_clouds_hide_stars_unless_the_prompt_names_them() -> None:
    assert look("a lake by night in rain").stars == 0
    assert look("a lake by night, clear").stars > 0.9
    assert look("a starry night over a lake in rain").stars > 0.2


@pytest.mark.parametrize(
    ("prompt", "light"),
    [
        ("storm at sunset over the sea", "the sun breaks through"),
        ("fog over the sea at dawn", "the sun"),
        ("the sea by night in rain", "a full moon"),
    ],
)
def test_sun_and_moon_come_out_where_they_are_named(prompt: str, light: str) -> None:
    hidden, shown = look(prompt), look(f"{prompt}, {light}")

    assert not hidden.disc
    assert shown.disc
    assert shown.sun_power > hidden.sun_power


def test_a_setting_that_lets_it_rain_closes_the_sky_too() -> None:
    for seed in range(6):
        said = brief("mountain lake", seed, weather="rain")
        assert (said.weather, said.time_of_day) == ("rain", "day")
    assert brief("mountain lake", weather="none") == brief("mountain lake", weather="auto")
