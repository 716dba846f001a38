import math

import pytest

from kit.engines.painting.land.look import Look, look_for
from kit.engines.prompt.brief import read


def look(prompt: str, **values: object) -> Look:
    return look_for(read(prompt, {"aspect_ratio": "1:1", "size": 512, **values}, 1))


def test_stars_belong_to_the_night() -> None:
    assert look("clear night").stars > look("clear dusk").stars > look("clear noon").stars == 0


def test_rain_dims_the_sun_and_covers_the_sky() -> None:
    clear, rain = look("lake at noon, clear"), look("lake at noon, rain")

    assert rain.sun_power < 0.5 * clear.sun_power
    assert rain.clouds > clear.clouds
    assert rain.haze > clear.haze


def test_clouds_close_the_sky_and_gray_it() -> None:
    clear, closed = look("lake at noon, clear"), look("lake at noon, overcast")

    assert closed.clouds >= 1.0 > clear.clouds
    assert closed.sun_power < 0.5 * clear.sun_power
    assert not closed.disc
    assert all(gray[1] < 0.5 * blue[1] for gray, blue in zip(closed.sky, clear.sky, strict=True))


def test_gloom_takes_light_and_color() -> None:
    plain, gloomy = look("lake at noon, overcast"), look("gloomy lake at noon")

    assert gloomy.exposure < plain.exposure
    assert gloomy.saturation < plain.saturation


def test_warm_and_cold_light_part_the_hues() -> None:
    warm, plain, cold = (
        look(f"{word} lake at noon, clear").shade for word in ("warm", "plain", "cold")
    )

    blue = [one[1] * math.sin(math.radians(one[2])) for one in (warm, plain, cold)]
    assert blue[0] > blue[1] > blue[2]


@pytest.mark.parametrize("hour", ["dawn", "noon", "sunset", "dusk", "night"])
def test_a_color_word_turns_the_zenith(hour: str) -> None:
    sky = look(f"a lake in teal light at {hour}").sky

    assert abs(sky[-1][2] - 192) < 1


@pytest.mark.parametrize(
    ("prompt", "plain"),
    [
        ("green rolling hills at noon, clear", "rolling hills at noon, clear"),
        ("red canyon at sunset, clear", "canyon at sunset, clear"),
        ("turquoise sea at dawn, clear", "sea at dawn, clear"),
    ],
)
def test_a_color_that_a_thing_has_in_nature_leaves_the_sky_alone(prompt: str, plain: str) -> None:
    assert look(prompt).sky == look(plain).sky


def test_a_stormy_sunset_burns_under_a_dark_ceiling() -> None:
    storm, clear = look("stormy sea at sunset"), look("clear sea at sunset")

    assert storm.sky[0][1] > 0.1
    assert storm.sky[-1][0] < clear.sky[-1][0]
    assert storm.clouds > clear.clouds


def test_mist_lies_low_and_leaves_the_distance_visible() -> None:
    mist, clear = look("misty lake at dawn"), look("clear lake at dawn")

    assert mist.mist > clear.mist == 0
    assert mist.haze < 2 * clear.haze


def test_the_last_of_two_color_words_turns_the_horizon() -> None:
    sky = look("violet and orange lake at sunset, clear").sky

    assert (round(sky[-1][2]), round(sky[0][2])) == (297, 55)


def test_a_palette_beats_color_words() -> None:
    assert (
        look("teal clear noon", palette="ember").sky
        == look("crimson clear noon", palette="ember").sky
    )


def test_moods_change_saturation() -> None:
    assert look("vivid lake").saturation > look("lake").saturation > look("pastel lake").saturation
