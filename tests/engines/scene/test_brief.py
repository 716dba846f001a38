import json

import pytest

from kit.engines.painting.families import FAMILIES
from kit.engines.prompt.brief import Brief, read

SETTINGS = {"aspect_ratio": "1:1", "size": 512}


def brief(prompt: str, seed: int = 1, **values: object) -> Brief:
    return read(prompt, {**SETTINGS, **values}, seed)


@pytest.mark.parametrize(
    ("prompt", "family"),
    [
        ("a mountain lake", "lake"),
        ("rolling hills of Tuscany", "lake"),
        ("sand dunes", "desert"),
        ("red canyons in Arizona", "desert"),
        ("misty pine forests", "forest"),
        ("ocean waves with a sailboat", "sea"),
        ("neon street in the rain", "city"),
        ("spiral galaxies and ringed planets", "space"),
        ("gold veins in black marble", "liquid"),
        ("flow field lines", "flow"),
        ("flat vector poster", "poster"),
        ("white sand beach at sunset", "sea"),
        ("trees around a lake", "lake"),
        ("a lonely tree", "forest"),
        ("the reflection of a neon city street", "city"),
    ],
)
def test_subject_words_choose_the_family(prompt: str, family: str) -> None:
    assert brief(prompt).family == family


@pytest.mark.parametrize("family", FAMILIES)
def test_the_setting_overrules_the_words(family: str) -> None:
    assert brief("a mountain lake", family=family).family == family


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("lake at golden hour", {"time_of_day": "sunset"}),
        ("snowy peaks at twilight", {"time_of_day": "dusk", "season": "winter"}),
        ("october woods in the rain", {"season": "autumn", "weather": "rain"}),
        ("epic sea", {"mood": "dramatic", "composition": ("dramatic",)}),
        ("wide low angle view of dunes", {"composition": ("wide", "low")}),
        ("green hills in spring", {"season": "spring"}),
        ("teal and orange mountains", {"colors": ("teal", "orange")}),
        ("a sea under dark clouds", {"weather": "overcast", "time_of_day": "day"}),
        ("a dark sea with clouds", {"time_of_day": "night"}),
        ("a gloomy lake", {"mood": "gloomy", "weather": "overcast", "time_of_day": "day"}),
        ("warm city lights", {"family": "city", "warmth": 1}),
        ("northern lights over a lake", {"extras": ("aurora",), "time_of_day": "night"}),
    ],
)
def test_words_direct_light_and_camera(prompt: str, expected: dict[str, object]) -> None:
    said = brief(prompt)

    assert {name: getattr(said, name) for name in expected} == expected


def test_a_street_is_wet_and_dark_unless_the_prompt_says_otherwise() -> None:
    assert (brief("city").time_of_day, brief("city").weather) == ("night", "rain")
    said = brief("city at noon, clear")
    assert (said.time_of_day, said.weather) == ("day", "clear")


def test_unknown_words_change_the_seed_alone() -> None:
    one, other = brief("zebra lake at dawn in clear air"), brief("piano lake at dawn in clear air")

    assert one.seed != other.seed
    assert {**one.facts(), "number": 0} == {**other.facts(), "number": 0}


def test_the_job_s_seed_changes_the_seed() -> None:
    assert brief("a lake", 1).seed != brief("a lake", 2).seed
    assert brief("a lake", 1) == brief("A lake!", 1)


def test_an_open_prompt_visits_several_families() -> None:
    assert len({brief("something nice", seed).family for seed in range(60)}) >= 5


def test_the_size_is_the_longer_side() -> None:
    tall = brief("a lake", aspect_ratio="9:16", size=640)

    assert (tall.width, tall.height) == (360, 640)


def test_a_painter_can_ask_for_words_in_the_singular() -> None:
    said = brief("planets, galaxies and a zebra")

    assert said.says("planet")
    assert said.says("galaxy", "comet")
    assert said.says("zebra")
    assert not said.says("comet")


def test_facts_are_json() -> None:
    facts = brief("crimson sea, birds", palette="ink").facts()

    assert json.loads(json.dumps(facts)) == facts
    assert (facts["family"], facts["colors"], facts["palette"]) == ("sea", ["crimson"], "ink")
