import numpy as np
import pytest

from kit.engines.painting.poster.compose import Look, compose, flat
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.recipes import RECIPES
from kit.engines.prompt import directing, lexicon
from kit.engines.prompt.landscape import Scene, read

SEEDS = range(6)
SIDE = 160


def painted(scene: Scene) -> np.ndarray:
    return flat(compose(scene, Look(), Stage(SIDE, SIDE)))


def luma(picture: np.ndarray) -> np.ndarray:
    return np.tensordot([0.2126, 0.7152, 0.0722], picture, 1)


def edges(picture: np.ndarray) -> float:
    """Return the share of pixels that differ from a neighbor."""
    bright = luma(picture)
    return float((np.abs(np.diff(bright, axis=1))[:-1] > 0.025).mean())


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a menacing sea", {"mood": "gloomy", "tones": ("dark",), "weather": "overcast"}),
        ("threatening mountains", {"mood": "gloomy", "tones": ("dark",)}),
        ("a hopeful valley", {"time": "dawn", "weather": "clear", "warmth": 1}),
        ("hopeful hills at night", {"time": "night"}),
        ("a joyful beach", {"mood": "vivid", "time": "day", "weather": "clear"}),
        ("cheerful hills", {"mood": "vivid", "time": "day"}),
        ("a romantic bay", {"mood": "pastel", "time": "sunset", "tints": ("lavender", "rose")}),
        ("a romantic teal bay", {"tints": ("teal",)}),
        ("nostalgic hills", {"mood": "pastel", "tints": ("brown",), "warmth": 1}),
        ("an ethereal forest", {"mood": "pastel", "tones": ("bright",), "weather": "mist"}),
        ("an ethereal forest in the rain", {"weather": "rain"}),
        ("a lonely island", {"composition": ("minimal",), "warmth": -1}),
        ("a cozy valley", {"warmth": 1}),
        ("harsh light on a desert", {"tones": ("hard",)}),
        ("desert, high contrast", {"tones": ("hard",)}),
        ("desert, soft light", {"tones": ("soft",)}),
        ("high-key mountains", {"tones": ("bright",), "composition": ()}),
        ("low key mountains", {"tones": ("dark",), "composition": ()}),
        ("a silhouette of mountains", {"tones": ("outline",), "time": "sunset"}),
        ("backlit mountains at dawn", {"tones": ("outline",), "time": "dawn"}),
        ("a lake, negative space", {"composition": ("minimal",), "subject": "lake"}),
        ("a lake, off-center", {"composition": ("thirds",)}),
        ("hills at noon, golden ratio", {"composition": ("thirds",), "time": "day"}),
        ("establishing shot of a desert", {"composition": ("wide",)}),
        ("an extreme close-up of dunes", {"composition": ("close",)}),
        ("worm's-eye view of a forest", {"composition": ("low",)}),
        ("a bird's-eye view of a forest", {"composition": ("high",)}),
        ("a sea, high angle", {"composition": ("high",)}),
        ("a low sun over the sea", {"time": "sunset", "discs": ("sun",), "composition": ()}),
        ("a sunny day", {"discs": ()}),
        ("hills without a sun", {"discs": ()}),
    ],
)
def test_what_creators_say_of_feeling_light_and_camera_is_read(
    prompt: str, expected: dict[str, object]
) -> None:
    for seed in range(5):
        scene = read(prompt, seed=seed)
        assert {name: getattr(scene, name) for name in expected} == expected


@pytest.mark.parametrize(
    "words",
    ["minimalist", "epic", "wide shot of", "close-up of", "menacing", "pastel", "low angle"],
)
def test_a_word_of_mood_or_camera_keeps_the_scene(words: str) -> None:
    for seed in range(8):
        plain, directed = (read(f"{said} lake at dawn", seed=seed) for said in ("", words))

        assert directed.number == plain.number
        assert (directed.time, directed.subject) == (plain.time, plain.subject)


def test_neon_is_a_thing_as_well_as_a_mood() -> None:
    assert read("neon hills", seed=1).number != read("hills", seed=1).number


def test_every_word_of_a_feeling_is_known_and_means_something() -> None:
    for word in directing.WORDS:
        scene, plain = (read(f"{said} hills", seed=1) for said in (word, ""))

        assert {**scene.facts(), "lights": []} != {**plain.facts(), "lights": []}, word


def test_a_phrase_of_photographers_leads_to_known_words() -> None:
    plain = read("hills", seed=1)

    assert not [phrase for phrase in directing.PHRASES if read(f"{phrase} hills", seed=1) == plain]


@pytest.mark.parametrize("subject", RECIPES)
def test_a_minimal_picture_has_far_fewer_edges(subject: str) -> None:
    shares = []
    for seed in SEEDS:
        plain, bare = (painted(read(f"{w} {subject} at noon", seed=seed)) for w in ("", "minimal"))
        shares.append(edges(bare) / edges(plain))

    assert np.mean(shares) < 0.6
    assert max(shares) < 0.9


@pytest.mark.parametrize("subject", ["mountains", "lake", "sea", "desert"])
def test_an_epic_picture_has_a_towering_subject(subject: str) -> None:
    def height(words: str, seed: int) -> float:
        picture = compose(
            read(f"{words} clear {subject} at noon", seed=seed), Look(), Stage(SIDE, SIDE)
        )
        crests = [plane for plane in picture.back if plane.name == "ridge" and plane.depth < 0.6]
        solid = [plane.top + np.flatnonzero((plane.alpha > 127).any(1)) for plane in crests]
        return SIDE * 0.6 - min(rows[0] for rows in solid if len(rows))

    plain, epic = (np.mean([height(w, s) for s in SEEDS]) for w in ("", "epic"))

    assert epic > 1.15 * plain


def test_an_epic_sun_sends_shafts_over_the_sky() -> None:
    scene = read("epic mountains at sunset", seed=2)
    planes = compose(scene, Look(), Stage(SIDE, SIDE)).back

    assert [plane.name for plane in planes].count("glare") == 3
    quiet = compose(read("mountains at sunset", seed=2), Look(), Stage(SIDE, SIDE)).back
    assert [plane.name for plane in quiet].count("glare") == 2


def _disc_shown(scene: Scene) -> tuple[float, float]:
    """Return the column of a scene's light, and how much of its disc no ridge hides."""
    picture = compose(scene, Look(birds=False), Stage(SIDE, SIDE))
    free = np.zeros((SIDE, SIDE))
    disc = next(plane for plane in picture.back if plane.name == "sun")
    free[disc.top : disc.bottom] = disc.alpha[: SIDE - disc.top] / 255
    whole = free.sum()
    for plane in (*picture.back, *picture.front):
        if plane.name == "ridge":
            free[plane.top : plane.bottom] *= 1 - plane.alpha / 255
    return picture.light.x / SIDE, float(free.sum() / whole)


@pytest.mark.parametrize("subject", RECIPES)
@pytest.mark.parametrize("hour", ["at dawn", "at noon", "at sunset", ""])
def test_a_centered_sun_is_seen_in_the_middle(subject: str, hour: str) -> None:
    for seed in SEEDS:
        across, shown = _disc_shown(read(f"a centered sun over a {subject} {hour}", seed=seed))

        assert across == pytest.approx(0.5)
        assert shown > 0.55


@pytest.mark.parametrize("words", ["epic", "close-up of", "low angle"])
def test_no_peak_hides_a_sun_that_is_asked_for(words: str) -> None:
    for seed in SEEDS:
        _, shown = _disc_shown(read(f"{words} mountains with the sun at dawn", seed=seed))

        assert shown > 0.55


def test_a_centered_moon_is_seen_in_the_middle() -> None:
    for seed in SEEDS:
        scene = read("a centered full moon over mountains", seed=seed)

        assert _disc_shown(scene) == (pytest.approx(0.5), pytest.approx(1.0, abs=0.45))


def test_a_silhouette_is_dark_land_before_a_light_sky() -> None:
    for seed in SEEDS:
        plain, dark = (
            luma(painted(read(f"{w} mountains at sunset in winter", seed=seed)))
            for w in ("", "silhouette of")
        )
        assert dark[-60:].mean() < 0.6 * plain[-60:].mean()
        assert dark[:40].mean() == pytest.approx(plain[:40].mean(), rel=0.25)


def test_moods_and_tones_set_light_and_contrast() -> None:
    def measured(words: str) -> tuple[float, float]:
        one = [luma(painted(read(f"{words} mountains at noon", seed=seed))) for seed in SEEDS]
        return float(np.mean(one)), float(np.mean([picture.std() for picture in one]))

    light, contrast = zip(
        *(measured(w) for w in ("clear", "gloomy", "menacing", "high key", "pastel")), strict=True
    )
    assert light[2] < 0.8 * light[1] < 0.7 * light[0]
    assert light[3] > light[0]
    assert contrast[4] < 0.7 * contrast[0]
    assert measured("calm clear")[1] < 0.9 * contrast[0]
    assert measured("dramatic clear")[1] > 1.1 * contrast[0]
    assert measured("harsh clear")[1] > 1.15 * contrast[0]
    assert measured("soft light, clear")[1] < 0.8 * contrast[0]


def test_every_mood_of_the_lexicon_has_a_palette_of_its_own() -> None:
    pictures = [
        painted(read(f"{mood} clear hills at noon", seed=3)) for mood in ("", *lexicon.MOODS)
    ]

    for number, one in enumerate(pictures):
        for other in pictures[number + 1 :]:
            assert np.abs(one - other).mean() > 0.02


def test_light_that_is_high_in_key_is_that_of_a_day_where_no_hour_is_named() -> None:
    assert {read("high key beach", seed=seed).time for seed in range(20)} == {"day"}
    assert read("high key beach at dusk", seed=1).time == "dusk"


def test_the_silhouette_of_a_scene_is_the_same_scene() -> None:
    assert _number("silhouette of mountains") == _number("mountains")


def _number(place: str) -> int:
    return read(f"{place} at sunset", seed=1).number
