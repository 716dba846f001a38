import json
from typing import Any

import pytest

from kit.engines.painting.families import FAMILIES
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.prompt.vocabulary import vocabulary


def briefs(prompt: str, **options: str) -> list[Brief]:
    """Return a prompt's briefs for several seeds: its words must not depend on the seed."""
    return [read(prompt, {}, seed, **options) for seed in range(6)]


def tints(names: str) -> tuple[Any, ...]:
    return tuple(vocabulary().colors[name] for name in names.split())


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
        # Two places in one prompt, and words for how a picture is made
        ("an oil painting of a lake", "lake"),
        ("ink drawing of a pine forest", "forest"),
        ("acrylic paint", "liquid"),
        ("a wave pattern", "flow"),
        ("waves", "sea"),
        ("neon flow field", "flow"),
        ("pulsar ridges", "flow"),
        ("a print like Joy Division", "flow"),
        ("threads of mist over the sea", "sea"),
        ("silk threads", "liquid"),
        ("a pulsar in a nebula", "space"),
        ("a mountain poster", "poster"),
        ("vector illustration of a forest", "poster"),
        ("a poster on a city street", "city"),
        ("a waterfall in a canyon", "desert"),
        ("a deserted street", "city"),
        ("salt flats", "desert"),
        ("black holes", "space"),
        ("blades of grass on a hill", "lake"),
        ("a forest rather than a desert", "forest"),
        ("molten lava", "liquid"),
        ("a tropical rainforest", "forest"),
        ("a cascade of ocean waves", "sea"),
    ],
)
def test_words_select_the_family(prompt: str, family: str) -> None:
    assert {brief.family for brief in briefs(prompt)} == {family}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_family_setting_overrules_the_words(family: str) -> None:
    assert read("a mountain lake", {"family": family}, 1).family == family


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        ("sunrise over the Alps", "mountains"),
        ("Moonlit dunes", "desert"),
        ("golden hour in rolling hills", "hills"),
        ("not a desert but a forest", "forest"),
        ("🌲🌲 in the 🌃", "forest"),
        ("FORÊT au crépuscule, lake", "lake"),
    ],
)
def test_the_first_place_in_a_prompt_is_drawn_in_a_poster(prompt: str, place: str) -> None:
    assert {brief.place for brief in briefs(prompt, family="poster")} == {place}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("lake at golden hour", {"hour": "sunset"}),
        ("dawn after the night over hills", {"hour": "dawn"}),
        ("snowy peaks at twilight", {"hour": "dusk", "season": "winter"}),
        ("october woods in the rain", {"season": "autumn", "weather": "rain"}),
        ("epic sea", {"mood": "dramatic", "composition": ("dramatic",)}),
        ("wide low angle view of dunes", {"composition": ("wide", "low")}),
        ("green hills in spring", {"season": "spring"}),
        ("a sea under dark clouds", {"weather": "overcast", "hour": "day"}),
        ("a dark sea with clouds", {"hour": "night"}),
        ("a bay under leaden skies at dawn", {"weather": "overcast", "hour": "dawn"}),
        ("a gloomy lake", {"mood": "gloomy", "weather": "overcast", "hour": "day"}),
        ("an eerie forest", {"mood": "gloomy", "weather": "mist"}),
        ("warm city lights", {"family": "city", "warmth": 1}),
        ("a chilly valley", {"warmth": -1}),
        ("northern lights over a lake", {"hour": "night"}),
        ("bright neon", {"family": "city", "hour": "night"}),
        ("the milky way over the mountains", {"family": "lake", "hour": "night"}),
        ("city", {"hour": "night", "weather": "rain"}),
        ("city at noon, clear", {"hour": "day", "weather": "clear"}),
        ("fireflies and the sun", {"hour": "sunset"}),
        # Synonyms and plurals
        ("lightning over the sea", {"weather": "rain"}),
        ("a sandstorm", {"family": "desert", "weather": "mist"}),
        ("it snows on the forest", {"weather": "snow", "season": "winter"}),
        ("savannahs at night time", {"family": "desert", "hour": "night"}),
        ("a lake in midwinter", {"season": "winter"}),
        ("hills in dense fog", {"weather": "fog"}),
        ("thick mist over a forest", {"weather": "fog"}),
        ("light fog over hills", {"weather": "mist"}),
        ("a sunny beach", {"weather": "clear"}),
        # Words that only look like others
        ("snow-capped peaks in summer", {"season": "summer"}),
        ("Niagara Falls and a river", {"season": "summer"}),
        ("a fall forest", {"season": "autumn"}),
        ("a lake in early autumn at noon", {"season": "autumn", "hour": "day"}),
        ("early evening at the sea", {"hour": "sunset"}),
        ("a lake at first light, first light", {"hour": "dawn"}),
        ("a lake in thin 🌫", {"weather": "mist"}),
        ("Aurora's lake at noon", {"hour": "day"}),
        ("an aurora over a lake", {"hour": "night"}),
        # The camera
        ("a lighthouse above the sea", {"composition": ()}),
        ("a forest from above", {"composition": ("high",)}),
        ("a top-down view of islands", {"composition": ("high",)}),
        ("a bird's-eye view of a forest", {"composition": ("high",)}),
        ("a lake, high quality, high detail", {"composition": ()}),
        ("high mountains", {"composition": ()}),
        ("a low angle street", {"composition": ("low",)}),
        ("a lake, negative space", {"composition": ("minimal",)}),
        ("hills at noon, golden ratio", {"composition": ("thirds",), "hour": "day"}),
        ("an extreme close-up of dunes", {"composition": ("close",)}),
        ("establishing shot of a desert", {"composition": ("wide",)}),
        # Feeling and light
        ("a menacing sea", {"mood": "gloomy", "tones": ("dark",), "weather": "overcast"}),
        ("a hopeful valley", {"hour": "dawn", "weather": "clear", "warmth": 1}),
        ("a joyful beach", {"mood": "vivid", "hour": "day", "weather": "clear"}),
        ("an ethereal forest", {"mood": "pastel", "tones": ("bright",), "weather": "mist"}),
        ("an ethereal forest in the rain", {"weather": "rain"}),
        ("desert, high contrast", {"tones": ("hard",)}),
        ("high-key mountains", {"tones": ("bright",), "composition": ()}),
        ("a silhouette of mountains", {"tones": ("outline",), "hour": "sunset"}),
        ("backlit mountains at dawn", {"tones": ("outline",), "hour": "dawn"}),
        # Denials
        ("no clouds over the sea", {"weather": "clear"}),
        ("a sea with a cloud-free sky", {"weather": "clear"}),
        ("a lake, overcast, no rain", {"weather": "overcast"}),
        ("mountains, don't show snow", {"season": "summer"}),
        ("a lake without any rain or snow", {"family": "lake", "season": "summer"}),
        ("a sea of stars, starry night", {"weather": "clear"}),
        ("an empty street, overcast", {"hour": "day", "weather": "overcast"}),
    ],
)
def test_words_select_light_weather_and_camera(prompt: str, expected: dict[str, object]) -> None:
    for brief in briefs(prompt):
        assert {name: getattr(brief, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("prompt", "family", "shown", "absent"),
    [
        ("Mount Fuji", "lake", "volcano snowcapped", "eruption"),
        ("lava flows down a volcano", "lake", "volcano eruption", ""),
        ("a volcano over the jungle", "lake", "volcano", ""),
        ("a volcanic island", "sea", "volcano islands", ""),
        ("lava streams into the ocean", "sea", "volcano eruption", ""),
        ("a coconut grove", "sea", "palms", ""),
        ("a tropical lagoon", "sea", "palms tropical", ""),
        ("an oasis", "desert", "palms", ""),
        ("palms by a mountain lake", "lake", "palms", ""),
        ("tropical beach with a sailboat", "sea", "palms sailboat beach", ""),
        ("a wormhole", "space", "black_hole wormhole", "closed_hole"),
        ("jungle with waterfalls", "lake", "waterfall", ""),
        ("tropical beach without palms", "sea", "", "palms"),
        ("a tropical beach, no trees", "sea", "", "palms"),
        ("a volcano without lava", "lake", "volcano", "eruption"),
        ("city street, no people", "city", "no_people", "crowd"),
        ("a volcano as a flat poster", "poster", "", "volcano"),
        ("birds over a lake under a full moon", "lake", "birds full_moon moon", "crescent"),
        ("full of hills", "lake", "", "full_moon"),
        ("a polar bear by a lake", "lake", "", "aurora"),
    ],
)
def test_things_belong_to_their_families(prompt: str, family: str, shown: str, absent: str) -> None:
    for brief in briefs(prompt):
        assert brief.family == family
        assert brief.things >= set(shown.split())
        assert brief.things.isdisjoint(absent.split())


@pytest.mark.parametrize(
    ("prompt", "light", "land", "water"),
    [
        ("a red barn in a green meadow", "", "green", ""),
        ("green rolling Irish hills", "", "green", ""),
        ("a dark blue sea at noon", "", "", "blue"),
        ("a calm teal ocean under a pink sky", "pink", "", "teal"),
        ("teal mountains", "", "teal", ""),
        ("mountains in teal and orange", "teal orange", "", ""),
        ("a lake, crimson light", "crimson", "", ""),
        ("a maroon sky over a lake", "crimson", "", ""),
        ("a midnight blue lake at noon", "", "", "navy"),
        ("a red sailboat at sea", "", "", ""),
        ("a yellow taxi in a street", "", "", ""),
        ("a purple street", "purple", "", ""),
        ("cyberpunk alley, purple and teal", "purple teal", "", ""),
        ("a purple nebula", "purple", "", ""),
        ("Rose's house by a lake", "", "", ""),
        ("a coral reef by the sea", "", "", ""),
        ("black and white hills", "monochrome", "", ""),
        ("a romantic bay", "lavender rose", "", ""),
        ("a romantic bay with a teal boat", "", "", ""),
    ],
)
def test_a_color_beside_a_thing_colors_the_thing_or_nothing(
    prompt: str, light: str, land: str, water: str
) -> None:
    for brief in briefs(prompt):
        assert brief.colors == tints(light)
        assert (brief.land, brief.water) == (*(tints(land) or (None,)), *(tints(water) or (None,)))


@pytest.mark.parametrize(
    ("prompt", "used", "unused"),
    [
        ("a cat on a beach", "beach", "cat"),
        ("a red barn in a green meadow at dusk", "green|meadow|dusk", "red|barn"),
        ("Snow-capped peaks, 4K, highly detailed", "snow capped|peaks", ""),
        ("sunset at dawn over a lake", "sunset|lake", "dawn"),
        ("a nebula in winter rain", "nebula", "winter|rain"),
        ("a lake with a shop sign, no people", "lake", "shop|sign"),
        ("Misty hills 🌲 🦓", "misty|hills|🌲", "🦓"),
        ("夜の海 by a lake", "lake", "夜の海"),
    ],
)
def test_a_brief_lists_its_used_and_unused_words(prompt: str, used: str, unused: str) -> None:
    brief = briefs(prompt)[0]

    assert brief.used == tuple(used.split("|"))
    assert brief.unused == tuple(filter(None, unused.split("|")))


def test_the_facts_of_a_brief_contain_its_words() -> None:
    facts = read("a cat by a crimson sea, birds", {"palette": "ink"}, 9).facts()

    assert json.loads(json.dumps(facts)) == facts
    assert facts["words"] == {"used": ["sea", "birds"], "unused": ["cat", "crimson"]}
    assert (facts["scene"]["family"], facts["scene"]["palette"]) == ("sea", "ink")


def test_unknown_words_change_only_the_seed() -> None:
    one, other = briefs("zebra lake at dawn in clear air"), briefs("piano lake at dawn, clear air")

    assert one[0].seed != other[0].seed
    assert [(it.hour, it.things) for it in one] == [(it.hour, it.things) for it in other]


def test_words_in_any_script_change_the_seed() -> None:
    prompts = ["夜の海", "森", "Ночной лес", "غابة", "12345", "1", "🎹", "🦓", "forêt", "for t"]

    assert len({read(prompt, {}, 5).seed for prompt in prompts}) == len(prompts)


@pytest.mark.parametrize(
    "words", ["minimalist", "epic", "wide shot of", "close-up of", "menacing", "low angle"]
)
def test_a_word_for_mood_or_camera_keeps_the_scene(words: str) -> None:
    both = zip(briefs("lake at dawn"), briefs(f"{words} lake at dawn"), strict=True)
    for plain, directed in both:
        assert (directed.seed, directed.hour) == (plain.seed, plain.hour)


def test_case_spaces_and_punctuation_do_not_matter() -> None:
    assert read("A LAKE,  at night!", {}, 3) == read("a lake at night", {}, 3)


def test_an_open_prompt_gives_every_hour_and_several_families() -> None:
    found = [read("calm", {}, seed) for seed in range(200)]

    assert {brief.hour for brief in found} == {"dawn", "day", "sunset", "dusk", "night"}
    assert len({brief.family for brief in found}) == 6


def test_a_season_alone_gives_a_family_with_land() -> None:
    found = {brief.family for seed in range(60) for brief in [read("winter", {}, seed)]}

    assert found == {"lake", "desert", "forest", "sea"}


def test_the_size_setting_is_the_longer_side() -> None:
    tall = read("a lake", {"aspect_ratio": "9:16", "size": 640}, 1)

    assert (tall.width, tall.height) == (360, 640)


def test_every_family_has_words() -> None:
    assert set(vocabulary().families) == set(FAMILIES)


def test_every_thing_is_read_only_in_its_families() -> None:
    families = vocabulary().families
    for thing in vocabulary().things:
        word = next(word for word in sorted(thing.words) if not word.startswith("no-"))
        for family in families:
            shown = read(word, {}, 1, family=family).things
            able = family in thing.families and (not thing.needs or bool(thing.needs & shown))
            assert (thing.name in shown) == able, (word, family)
