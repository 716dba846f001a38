import pytest

from kit.engines.editing.title.rooms import headline_room, subtitle_room
from kit.engines.editing.title.setting import Title, stacked
from kit.engines.editing.title.styles import STYLES
from kit.engines.editing.title.words import (
    headline_of,
    headline_problems,
    subtitle_of,
    subtitle_problems,
)
from kit.engines.media.fonts.widths import width_of
from kit.engines.media.typesetting import font_of
from kit.errors import EngineError

SHAPES = [(144, 256), (256, 144), (720, 1280)]
WORDS = "the lazy fox jumps over a mountain that nobody AVOIDS illustriously "


def fits(shape: tuple[int, int], title: Title) -> bool:
    try:
        stacked(shape, title)
    except EngineError:
        return False
    return True


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("style", STYLES)
def test_only_what_cannot_be_set_is_too_long(style: str, shape: tuple[int, int]) -> None:
    told = 0
    for count in (2, 4, 6, 8, 10, 13):
        text = WORDS * count
        if [*headline_problems("prompt", text, "auto", style, shape)]:
            told += 1
            headline = headline_of(text, "auto", style).text
            assert not fits(shape, Title(headline=headline, style=style))
        if [*subtitle_problems("subtitle", WORDS * (count // 2), style, shape)]:
            told += 1
            small = subtitle_of(WORDS * (count // 2), style).text
            assert not fits(shape, Title(headline="Hello", subtitle=small, style=style))

    assert told or shape == (720, 1280)


def test_the_sentence_says_how_many_letters_fit() -> None:
    ((name, sentence),) = headline_problems("prompt", "word " * 150, "auto", "clean", (144, 256))

    assert name == "prompt"
    assert sentence.startswith("is too long to be readable in this size: of its 749 letters about")


@pytest.mark.parametrize("face", ["anton", "playfair", "inter-bold"])
def test_the_tables_of_a_font_tell_the_width_but_for_kerning(face: str) -> None:
    text = "HELLO World, this is AVATAR"

    drawn = font_of(face, 100).getlength(text) / 100

    assert drawn <= width_of(text, face) < 1.06 * drawn


def test_a_subtitle_has_fewer_lines_and_smaller_letters_than_its_headline() -> None:
    headline = headline_room((720, 1280), STYLES["bold"])
    small = subtitle_room((720, 1280), headline, 100)

    assert small.lines < headline.lines
    assert small.largest == pytest.approx(34)
    assert small.width == headline.width
