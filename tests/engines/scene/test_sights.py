import pytest

from kit.engines.prompt.brief import Brief, read
from kit.engines.prompt.sights import SIGHTS, sights_of

SETTINGS = {"aspect_ratio": "1:1", "size": 512}


def briefs(prompt: str) -> list[Brief]:
    """Return a prompt's briefs of several seeds: what it asks for must not hang on luck."""
    return [read(prompt, SETTINGS, seed) for seed in range(4)]


@pytest.mark.parametrize(
    ("prompt", "family", "sights"),
    [
        ("a volcano at night", "lake", ("volcano",)),
        ("Mount Fuji", "lake", ("volcano",)),
        ("lava flows down a volcano", "lake", ("volcano", "eruption")),
        ("erupting volcanoes with smoke", "lake", ("volcano", "eruption")),
        ("an oil painting of an eruption", "lake", ("volcano", "eruption")),
        ("a volcano over the jungle", "lake", ("volcano",)),
        ("a volcanic island", "sea", ("volcano",)),
        ("a volcano in the desert", "desert", ("volcano",)),
        ("lava streams into the ocean", "sea", ("volcano", "eruption")),
        ("palm trees at dusk", "sea", ("palms",)),
        ("a coconut grove", "sea", ("palms",)),
        ("Hawaii", "sea", ("palms",)),
        ("a tropical lagoon", "sea", ("palms",)),
        ("an oasis", "desert", ("palms",)),
        ("palms in the dunes", "desert", ("palms",)),
        ("palms by a mountain lake", "lake", ("palms",)),
        ("tropical beach with a sailboat", "sea", ("palms", "sailboat")),
        ("a tropical rainforest", "forest", ()),
        ("black holes", "space", ("black_hole",)),
        ("the event horizon of a black hole", "space", ("black_hole",)),
        ("a wormhole", "space", ("black_hole",)),
        ("Gargantua and a comet", "space", ("black_hole", "comet")),
        ("a waterfall", "lake", ("waterfall",)),
        ("jungle with waterfalls", "lake", ("waterfall",)),
        ("a tropical waterfall", "lake", ("palms", "waterfall")),
        ("waterfalls on an island", "lake", ("waterfall",)),
        ("a cascade of ocean waves", "sea", ()),
        ("a lighthouse on a cliff", "sea", ("lighthouse",)),
        ("a mountain lake", "lake", ()),
        ("molten lava", "liquid", ()),
        ("liquid lava swirls", "liquid", ()),
        ("a volcano as a flat poster", "poster", ()),
    ],
)
def test_things_are_asked_for_by_name(prompt: str, family: str, sights: tuple[str, ...]) -> None:
    for said in briefs(prompt):
        assert (said.family, said.sights) == (family, sights)


@pytest.mark.parametrize(
    ("prompt", "sights"),
    [
        ("tropical beach without palms", ()),
        ("a tropical beach, no trees", ()),
        ("an oasis, no palm trees", ()),
        ("a volcano without lava", ("volcano",)),
        ("a lava field in the desert, no volcano", ()),
        ("a sea without sailboats", ()),
        ("space, no black holes", ()),
        ("a mountain lake, no waterfalls", ()),
    ],
)
def test_things_are_denied(prompt: str, sights: tuple[str, ...]) -> None:
    assert {said.sights for said in briefs(prompt)} == {sights}


def test_what_is_shown_stands_in_the_facts() -> None:
    facts = read("an erupting volcano by the sea, palms", SETTINGS, 1).facts()

    assert facts["sights"] == ["volcano", "palms", "eruption"]


def test_a_family_that_the_settings_choose_shows_what_it_can() -> None:
    said = read("a volcano with palms", {**SETTINGS, "family": "city"}, 1)

    assert (said.family, said.sights) == ("city", ())


@pytest.mark.parametrize("name", SIGHTS)
def test_every_sight_is_shown_where_it_belongs_and_nowhere_else(name: str) -> None:
    sight = SIGHTS[name]
    for family in ("lake", "desert", "forest", "sea", "city", "space", "liquid"):
        shown = sights_of([next(iter(sight.words))], family)
        assert (name in shown) == (family in sight.families)
