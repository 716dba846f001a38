import numpy as np
import pytest

from kit.engines.media.color import lab_of
from kit.engines.painting.city import hours as street_hours
from kit.engines.painting.city.sky import _CLOUDS
from kit.engines.painting.land import look
from kit.engines.painting.poster import compose as composing
from kit.engines.painting.poster import palettes
from kit.engines.painting.poster.compose import Look, Picture, compose, flat
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.recipes import RECIPES
from kit.engines.prompt import lexicon
from kit.engines.prompt.brief import read as read_brief
from kit.engines.prompt.landscape import read


def picture(prompt: str, seed: int = 3) -> Picture:
    return compose(read(prompt, seed=seed), Look(), Stage(200, 200))


def lab(prompt: str, seed: int = 3) -> np.ndarray:
    return lab_of(np.moveaxis(np.clip(flat(picture(prompt, seed)), 0, 1), 0, -1))


@pytest.mark.parametrize(
    "table",
    [
        palettes._WEATHERS,
        composing._LEAST_MIST,
        look._WEATHERS,
        street_hours._THICKER,
        _CLOUDS,
    ],
)
def test_every_table_of_weathers_knows_every_weather(table: dict[str, object]) -> None:
    assert set(table) == set(lexicon.WEATHERS)


@pytest.mark.parametrize(
    ("prompt", "weather"),
    [
        ("hills in dense fog", "fog"),
        ("a foggy lake", "fog"),
        ("thick mist over a forest", "fog"),
        ("a misty lake", "mist"),
        ("light fog over hills", "mist"),
        ("hazy mountains", "mist"),
    ],
)
def test_fog_is_thicker_than_mist(prompt: str, weather: str) -> None:
    assert read(prompt, seed=1).weather == weather


@pytest.mark.parametrize("subject", RECIPES)
def test_fog_hides_sun_birds_and_clouds(subject: str) -> None:
    names = {plane.name for plane in picture(f"thick fog, {subject} at noon").back}
    clear = {plane.name for plane in picture(f"clear {subject} at noon").back}

    assert names.isdisjoint({"sun", "glare", "birds", "cloud", "stars"})
    assert {"sun", "birds", "cloud"} <= clear


def test_fog_whitens_the_sky_and_hides_the_distance() -> None:
    foggy, clear = (lab(f"{word} mountains at noon") for word in ("foggy", "clear"))
    blue = [np.hypot(one[:60, :, 1], one[:60, :, 2]).mean() for one in (foggy, clear)]
    spread = [one[80:120, :, 0].std() for one in (foggy, clear)]

    assert blue[0] < 0.02 < 0.6 * blue[1]
    assert spread[0] < 0.6 * spread[1]


def test_water_in_fog_does_not_glitter() -> None:
    foggy, clear = (picture(f"{word} lake at noon").water for word in ("foggy", "clear"))

    assert foggy is not None
    assert not foggy.glitter.any()
    assert clear is not None
    assert clear.glitter.any()


@pytest.mark.parametrize("subject", ["forest", "hills", "lake", "mountains"])
def test_winter_ground_is_snow_and_its_trees_are_not_green(subject: str) -> None:
    winter, summer = (lab(f"clear {season} {subject} at noon") for season in ("winter", "summer"))
    chroma = [np.hypot(one[130:, :, 1], one[130:, :, 2]).mean() for one in (winter, summer)]

    assert chroma[0] < 0.5 * chroma[1]
    assert np.percentile(winter[130:, :, 0], 90) > 0.80
    assert winter[130:, :, 0].min() < 0.45  # trees stand out against it


def test_snow_by_night_is_darker_than_by_day() -> None:
    night, day = (
        lab(f"clear winter hills {hour}")[130:, :, 0].mean() for hour in ("night", "noon")
    )

    assert night < 0.7 * day


def test_a_street_in_fog_has_no_sky_of_its_own() -> None:
    settings = {"aspect_ratio": "1:1", "size": 96, "family": "city"}
    brief = read_brief("foggy street at noon", settings, 1)
    hour = street_hours.hour_of(np.random.default_rng(1), brief)

    assert (hour.sky[0], hour.sky[2]) == hour.haze


CLOSED = ("rain", "a thunderstorm", "dense fog", "an overcast sky", "a blizzard")


@pytest.mark.parametrize("weather", CLOSED)
def test_a_closed_sky_without_an_hour_is_a_day_s(weather: str) -> None:
    for subject in ("islands", "desert dunes", "a pine forest", "a lake"):
        prompt = f"{subject} in {weather}"

        assert {read(prompt, seed=seed).time for seed in range(8)} == {"day"}
        settings = {"aspect_ratio": "1:1", "size": 256}
        assert {read_brief(prompt, settings, seed).time_of_day for seed in range(8)} == {"day"}


def test_an_hour_or_a_sun_that_is_named_stays() -> None:
    assert read("a lake in rain at sunset", seed=1).time == "sunset"
    assert read("fireflies in the rain", seed=1).time == "dusk"
    shower = [read("a sun shower over the sea", seed=seed) for seed in range(8)]
    assert {scene.weather for scene in shower} == {"rain"}
    assert {scene.time for scene in shower} <= {"dawn", "day", "sunset"}
    assert all(scene.open for scene in shower)


@pytest.mark.parametrize("weather", ["rain", "overcast", "snowfall", "fog"])
def test_water_glitters_under_a_closed_sky_only_where_the_sun_is_named(weather: str) -> None:
    def glitter(prompt: str) -> int:
        sheet = picture(prompt).water
        assert sheet is not None
        return int(sheet.glitter.max())

    assert glitter(f"a lake at sunset, {weather}") == 0
    assert glitter(f"a lake at sunset, {weather}, the sun breaks through") > 0


def test_a_rainy_evening_is_gray_and_a_storm_at_sunset_burns() -> None:
    def chroma(prompt: str) -> float:
        return float(np.hypot(*np.moveaxis(lab(prompt)[:90, :, 1:], -1, 0)).mean())

    assert chroma("the sea, a rainy evening") < 0.6 * chroma("the sea, a rainy sunset")


def test_rain_by_day_is_grayer_and_darker_than_a_clear_day() -> None:
    wet, dry = (lab(f"{weather} hills at noon")[:90] for weather in ("rainy", "clear"))

    assert wet[..., 0].mean() < 0.92 * dry[..., 0].mean()
    assert (
        np.hypot(wet[..., 1], wet[..., 2]).mean() < 0.6 * np.hypot(dry[..., 1], dry[..., 2]).mean()
    )


def test_heavy_clouds_that_are_gray_tint_nothing_else() -> None:
    assert read("islands, gray heavy clouds", seed=6).tints == ()
    assert read("a gray heavy stone by a lake", seed=6).tints == ("gray",)
