import pytest

from kit.engines.editing.picture.looks import LOOKS, is_idle, look_of, manner_of
from kit.engines.prompt.styles import read_style


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
def test_a_sentence_chooses_look_and_manner(prompt: str, look: str, redrawn: str) -> None:
    style = read_style(prompt)

    assert (style.look, style.redrawn) == (look, redrawn)


def test_every_look_can_be_asked_for() -> None:
    assert {read_style(name).look for name in LOOKS} == set(LOOKS)


def test_settings_go_before_words() -> None:
    style = read_style("a warm painting")

    assert look_of("noir", style)[0] == "noir"
    assert manner_of("sketch", style) == "sketch"
    assert manner_of("auto", style) == "painting"


def test_words_that_ask_for_nothing_are_told() -> None:
    style = read_style("make it darker and more teal, with a dragon")

    assert (style.used, style.unused) == (("darker", "teal"), ("dragon",))
    assert style.light < 0
    assert style.tint is not None


def test_a_sentence_without_a_style_leaves_a_picture_as_it_is() -> None:
    values = {"look": "auto", "stylize": "auto", "text": None}

    assert is_idle("a dragon", values)
    assert not is_idle("a dragon in ink, like a Van Gogh painting", values)
