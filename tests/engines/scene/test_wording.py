import pytest

from kit.engines.prompt.brief import Brief, read
from kit.engines.prompt.wording import reworded, together

SETTINGS = {"aspect_ratio": "1:1", "size": 512}


def briefs(prompt: str) -> list[Brief]:
    """Return a prompt's briefs of several seeds: what it says must not hang on luck."""
    return [read(prompt, SETTINGS, seed) for seed in range(6)]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        # Two families in one prompt, and words for how a picture is made
        ("an oil painting of a lake", {"family": "lake"}),
        ("ink drawing of a pine forest", {"family": "forest"}),
        ("acrylic paint", {"family": "liquid"}),
        ("a wave pattern", {"family": "flow"}),
        ("waves", {"family": "sea"}),
        ("neon flow field", {"family": "flow"}),
        ("pulsar ridges", {"family": "flow"}),
        ("a print like Joy Division", {"family": "flow"}),
        ("waves of threads", {"family": "flow"}),
        ("threads of mist over the sea", {"family": "sea"}),
        ("silk threads", {"family": "liquid"}),
        ("a pulsar in a nebula", {"family": "space"}),
        ("bright neon", {"family": "city", "time_of_day": "night"}),
        ("a mountain poster", {"family": "poster"}),
        ("vector illustration of a forest", {"family": "poster"}),
        ("a poster on a city street", {"family": "city"}),
        ("the milky way over the mountains", {"family": "lake", "time_of_day": "night"}),
        ("a waterfall in a canyon", {"family": "desert"}),
        ("a deserted street", {"family": "city"}),
        ("salt flats", {"family": "desert"}),
        ("black holes", {"family": "space"}),
        ("blades of grass on a hill", {"family": "lake"}),
        # Synonyms and plurals
        ("raining over the sea", {"weather": "rain"}),
        ("lightning over the sea", {"weather": "rain"}),
        ("a sandstorm", {"family": "desert", "weather": "mist"}),
        ("it snows on the forest", {"weather": "snow", "season": "winter"}),
        ("savannahs at night time", {"family": "desert", "time_of_day": "night"}),
        ("a maroon sky over a lake", {"colors": ("crimson",)}),
        ("a lake in midwinter", {"season": "winter"}),
        # Words that only look like others
        ("snow-capped peaks in summer", {"season": "summer"}),
        ("Niagara Falls and a river", {"season": "summer"}),
        ("a fall forest", {"season": "autumn"}),
        ("a hot spring by a lake", {"season": "summer"}),
        ("a lake in early autumn at noon", {"season": "autumn", "time_of_day": "day"}),
        ("early evening at the sea", {"time_of_day": "sunset"}),
        ("a dark blue sea at noon", {"time_of_day": "day", "colors": ("blue",)}),
        ("a lake at first light, first light", {"time_of_day": "dawn"}),
        ("a lake in thin 🌫", {"weather": "mist"}),
        ("a midnight blue lake at noon", {"time_of_day": "day", "colors": ("navy",)}),
        ("Aurora's lake at noon", {"time_of_day": "day", "extras": ()}),
        ("an aurora over a lake", {"time_of_day": "night", "extras": ("aurora",)}),
        ("Rose's house by a lake", {"colors": ()}),
        # The camera
        ("a lighthouse above the sea", {"composition": ()}),
        ("a forest from above", {"composition": ("high",)}),
        ("a top-down view of islands", {"composition": ("high",)}),
        ("a lake, high quality, high detail", {"composition": ()}),
        ("high mountains", {"composition": ()}),
        ("a lake near mountains", {"composition": ()}),
        ("a low angle street", {"composition": ("low",)}),
        # Denials
        ("no clouds over the sea", {"weather": "clear"}),
        ("a sea with a cloud-free sky", {"weather": "clear"}),
        ("a forest without fog", {"weather": "clear"}),
        ("a lake, overcast, no rain", {"weather": "overcast"}),
        ("mountains, don't show snow", {"season": "summer"}),
        ("mountains, avoid snow", {"season": "summer"}),
        ("a forest rather than a desert", {"family": "forest"}),
        ("a sea of stars, starry night", {"weather": "clear"}),
        ("an empty street, overcast", {"time_of_day": "day", "weather": "overcast"}),
    ],
)
def test_a_prompt_says_what_it_means(prompt: str, expected: dict[str, object]) -> None:
    for said in briefs(prompt):
        assert {name: getattr(said, name) for name in expected} == expected


def test_a_dessert_is_no_desert() -> None:
    assert {said.family for said in briefs("a dessert")} != {"desert"}


def test_what_is_read_stands_in_the_facts() -> None:
    facts = read("a mountain lake in early spring, no clouds, from above", SETTINGS, 4).facts()

    said = {name: facts[name] for name in ("family", "season", "weather", "composition")}
    assert said == {
        "family": "lake",
        "season": "spring",
        "weather": "clear",
        "composition": ["high"],
    }


@pytest.mark.parametrize(
    ("prompt", "plain"),
    [
        ("Dark, blue lake", "dark, blue lake"),
        ("DARK-BLUE lake", "blue lake"),
        ("thunderous", "thunderous"),
        ("nearby", "nearby"),
        ("don’t show fog", "without fog"),
        ("砂漠 🌲", "砂漠 🌲"),
        ("", ""),
    ],
)
def test_only_whole_phrases_are_reworded(prompt: str, plain: str) -> None:
    assert reworded(prompt) == plain


def test_a_phrase_is_put_together_wherever_it_stands() -> None:
    words = ["thin", "fog", "thin", "fog", "snow", "is", "falling", "and", "birds"]

    assert together(words) == ["mist", "mist", "snowfall", "and", "birds"]
