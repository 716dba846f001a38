import pytest

from kit.engines.editing.picture.looks import is_idle, look_of, manner_of
from kit.engines.prompt.styles import read_style
from kit.engines.registry import engine_for


@pytest.mark.parametrize(
    ("prompt", "look", "redrawn"),
    [
        ("like a Van Gogh painting", "none", "painting"),
        ("make it look like a pencil sketch", "none", "sketch"),
        ("pop art poster of my cat", "none", "poster"),
        ("a moody watercolor", "cinematic", "painting"),
        ("black and white line drawing", "noir", "sketch"),
        ("teal and orange", "cinematic", "none"),
        ("a cat", "none", "none"),
    ],
)
def test_a_sentence_selects_look_and_redrawing(prompt: str, look: str, redrawn: str) -> None:
    style = read_style(prompt)

    assert (style.look, style.redrawn) == (look, redrawn)


#: Sentences that select a choice of the settings.
SENTENCES = {
    "painting": (
        *("like a Van Gogh painting", "In the style of Monet's water lilies", "as an oil-painting"),
        *("a water-color of this", "paint it with thick brush strokes", "an impressionistic view"),
    ),
    "sketch": (
        *("as a pencil sketch", "like a pencil-drawing", "charcoal sketches, please", "hand-drawn"),
        *("as if drawn by hand", "black line-art on white paper", "a copper etching"),
    ),
    "poster": (
        *("as a flat poster", "a screen-print in five inks", "pop-art", "in Warhol's manner"),
        *("like a comic-book", "a bit cartoonish", "a vector illustration", "painted posters"),
    ),
    "cinematic": ("make it cinematic", "like a still from a movie", "more dramatic"),
    "warm": ("make it warmer", "a cozy evening"),
    "cold": ("colder, please", "cooler tones"),
    "vintage": ("an old-fashioned photo", "vintage", "like an old polaroid"),
    "noir": ("film noir", "in b&w", "black-and-white", "an old greyscale photo in noir"),
    "neon": ("neon lights", "a cyber-punk look"),
    "sepia": ("an old sepia photograph", "in sepia tones"),
    "matte": ("a matte finish", "low contrast and muted"),
    "vivid": ("the old man in vivid colors", "more vibrant", "punchier? no: bolder"),
    "pastel": ("pastels", "softer and lighter"),
    "golden": ("in the golden hour", "a glowing sunset"),
    "dreamy": ("dreamy", "like in a dream"),
}


@pytest.mark.parametrize("choice", SENTENCES)
def test_every_choice_is_found_in_its_sentences(choice: str) -> None:
    manner = choice in ("painting", "sketch", "poster")
    styles = {prompt: read_style(prompt) for prompt in (choice, *SENTENCES[choice])}

    found = {prompt: s.redrawn if manner else s.look for prompt, s in styles.items()}
    assert found == dict.fromkeys(styles, choice)
    assert not is_idle(SENTENCES[choice][0], {"look": "auto", "stylize": "auto"})


def test_every_choice_has_sentences() -> None:
    settings = {p.name: p.enum for p in engine_for("restyle").definition.settings}

    for name in ("look", "stylize"):
        assert {*settings[name]} - {"auto", "none"} <= {*SENTENCES}


def test_settings_overrule_words() -> None:
    style = read_style("a warm painting")

    assert look_of("noir", style)[0] == "noir"
    assert manner_of("sketch", style) == "sketch"
    assert manner_of("auto", style) == "painting"


def test_a_style_lists_its_used_and_unused_words() -> None:
    style = read_style("make it darker and more teal, with a dragon")

    assert (style.used, style.unused) == (("darker", "teal"), ("dragon",))
    assert style.light < 0
    assert style.tint is not None


def test_a_sentence_without_a_style_changes_nothing() -> None:
    values = {"look": "auto", "stylize": "auto", "text": None}

    assert is_idle("a dragon", values)
    assert not is_idle("a dragon in ink, like a Van Gogh painting", values)
