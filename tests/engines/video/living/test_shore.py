from dataclasses import replace

import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.film.living.shore import water_of
from kit.engines.painting.families import paint
from kit.engines.prompt.brief import Brief, read


def brief(prompt: str) -> Brief:
    return read(prompt, {"aspect_ratio": "16:9", "size": 1024, "family": "sea"}, 7)


def test_an_open_sea_is_water_up_to_its_horizon() -> None:
    water = water_of(brief("a sea"), Progress())

    assert water.shape == (81, 144)
    assert water[:30].max() < 0.1
    assert water[54:].min() > 0.9


@pytest.mark.parametrize("prompt", ["a tropical beach", "a calm tropical beach by night in fog"])
def test_a_beach_stays_where_it_is_whatever_the_weather(prompt: str) -> None:
    low = water_of(brief(prompt), Progress())[60:]

    assert 0.15 < (low < 0.1).mean() < 0.8
    assert (low > 0.9).mean() > 0.15


def test_it_can_be_canceled() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        water_of(brief("a sea"), progress)


def test_sand_that_a_storm_floods_and_trunks_before_the_sea_stand_still() -> None:
    said = read("tropical beach with palms", {"aspect_ratio": "16:9", "size": 1024}, 3)
    water = water_of(said, Progress())
    day = replace(said, time_of_day="day", weather="clear", width=144, height=81, detail="low")
    picture = paint(day, Progress()).astype(int)
    sand = (picture[..., 0] > picture[..., 2] + 30) & (picture[..., 0] > 150)

    assert sand[45:].sum() > 300
    assert water[sand].mean() < 0.1
