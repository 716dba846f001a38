import json

import pytest

from kit.engines.prompt.landscape import read


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("sunrise over the Alps", {"time": "dawn", "subject": "mountains"}),
        ("Moonlit dunes", {"time": "night", "subject": "desert"}),
        ("golden hour in rolling hills", {"time": "sunset", "subject": "hills"}),
        ("foggy pine forests at noon", {"time": "day", "subject": "forest", "weather": "fog"}),
        ("snowy peaks, twilight", {"season": "winter", "time": "dusk", "subject": "mountains"}),
        ("a blizzard on the lake", {"weather": "snow", "season": "winter", "subject": "lake"}),
        ("rainy beaches in october", {"weather": "rain", "season": "autumn", "subject": "sea"}),
        ("northern lights over an island", {"time": "night", "extras": ("aurora",)}),
        ("fireflies in the woods", {"time": "dusk", "extras": ("fireflies",)}),
        ("epic valleys with birds", {"mood": "dramatic", "extras": ("birds",)}),
        ("teal and orange mountains", {"tints": ("teal", "orange")}),
        ("a lake on a cloudy day", {"weather": "overcast", "time": "day"}),
        ("hills under heavy clouds", {"weather": "overcast"}),
        ("a bay under leaden skies at dawn", {"weather": "overcast", "time": "dawn"}),
        ("a forest, partly cloudy", {"weather": "clear"}),
        ("gloomy mountains", {"mood": "gloomy", "weather": "overcast", "time": "day"}),
        ("moody mountains in the rain", {"mood": "gloomy", "weather": "rain"}),
        ("an eerie forest", {"mood": "gloomy", "weather": "mist"}),
        ("a cozy warm valley", {"warmth": 1}),
        ("a chilly valley", {"warmth": -1}),
        ("a valley", {"warmth": 0}),
        ("snow falling on the sea", {"weather": "snow", "season": "winter"}),
        ("the last light on a desert", {"time": "sunset"}),
        ("a bird's-eye view of hills", {"extras": ()}),
        ("black and white mountains", {"tints": ("monochrome",)}),
        ("mountains in the blue hour", {"time": "dusk", "tints": ()}),
        ("no snow, summer mountains", {"season": "summer"}),
        ("not a desert but a forest", {"subject": "forest"}),
        ("a lake without any rain or snow", {"subject": "lake", "season": "summer"}),
        ("🌲🌲 in the 🌃", {"subject": "forest", "time": "night"}),
        ("FORÊT au crépuscule, lake", {"subject": "lake"}),
    ],
)
def test_words_direct_the_scene(prompt: str, expected: dict[str, object]) -> None:
    scene = read(prompt, seed=1)

    assert {axis: getattr(scene, axis) for axis in expected} == expected


def test_the_first_word_on_an_axis_decides() -> None:
    assert read("dawn after the night", seed=1).time == "dawn"


def test_unknown_words_vary_what_the_prompt_leaves_open() -> None:
    scenes = [read(f"{word} at night by a lake", seed=1) for word in ("zebra", "piano", "robot")]

    assert {(scene.time, scene.subject) for scene in scenes} == {("night", "lake")}
    assert len({scene.number for scene in scenes}) == 3


@pytest.mark.parametrize(
    "prompts",
    [
        ("夜の海", "森", "雪山"),
        ("Ночной лес", "Ночной город", "Ночной лес под снегом"),
        ("غابة في الليل", "بحر في الليل", "صحراء"),
        ("12345", "54321", "1"),
        ("🎹", "🦓", "🤖"),
        ("forêt", "forât", "for t"),
    ],
)
def test_words_of_every_script_vary_the_picture(prompts: tuple[str, ...]) -> None:
    assert len({read(prompt, seed=5).number for prompt in prompts}) == len(prompts)


@pytest.mark.parametrize("prompt", ["a sunny beach", "a bright desert", "sunlit hills"])
def test_where_the_sun_shines_there_is_no_mist(prompt: str) -> None:
    assert {read(prompt, seed=seed).weather for seed in range(20)} == {"clear"}


def test_the_sun_is_not_seen_by_night() -> None:
    times = {read("the sun over a lake", seed=seed).time for seed in range(60)}

    assert times == {"dawn", "day", "sunset"}


@pytest.mark.parametrize("lights", ["aurora", "a crescent moon", "a starry sky"])
def test_gloom_does_not_hide_the_lights_of_the_sky(lights: str) -> None:
    scenes = [read(f"gloomy mountains under {lights}", seed=seed) for seed in range(8)]

    assert not any(scene.covered for scene in scenes)


@pytest.mark.parametrize("prompt", ["", "  ", "...", "?!"])
def test_a_prompt_without_words_is_open(prompt: str) -> None:
    assert len({read(prompt, seed=seed).number for seed in range(5)}) == 5


def test_case_spaces_and_punctuation_do_not_matter() -> None:
    assert read("A LAKE,  at night!", seed=3) == read("a lake at night", seed=3)


def test_an_open_prompt_visits_every_hour_and_place() -> None:
    scenes = [read("something nice", seed=seed) for seed in range(200)]

    assert {scene.time for scene in scenes} == {"dawn", "day", "sunset", "dusk", "night"}
    assert len({scene.subject for scene in scenes}) == 6


def test_the_facts_of_a_scene_are_json() -> None:
    facts = read("crimson islands, birds", seed=9, palette="ink").facts()

    assert json.loads(json.dumps(facts)) == facts
    assert (facts["tints"], facts["palette"], facts["subject"]) == (["crimson"], "ink", "sea")
