import pytest

from kit.engines.base import Order
from kit.engines.editing.video.captions import STYLES, Captions
from kit.engines.editing.video.captionwords import (
    LONGEST_TEXT,
    caption_problems,
    caption_words,
    spoken_words,
)
from kit.engines.editing.video.spoken import timed
from kit.engines.models.video_edit import Edit


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("« Ça va ? » dit-il !", ["« Ça", "va ? »", "dit-il !"]),
        ("Wait ... what — no", ["Wait ...", "what —", "no"]),
        ("- Hi (it is me )", ["- Hi", "(it", "is", "me )"]),
        ("salt & pepper 5 %", ["salt", "&", "pepper", "5", "%"]),
        ("100\u00a0000\u202f€ !", ["100\u00a0000\u202f€ !"]),
        ("…", ["…"]),
        ("  \n\n ", []),
    ],
)
def test_signs_that_stand_alone_stay_with_a_word(text: str, words: list[str]) -> None:
    assert [word for word, _ in spoken_words(text)] == words


def test_the_ends_of_lines_are_known() -> None:
    found = spoken_words("Roses are red\n\nViolets too")

    assert [word for word, ends in found if ends] == ["red", "too"]


def test_an_endless_word_is_shown_in_parts() -> None:
    words = [word for word, _ in spoken_words("see " + "x" * 300)]

    assert words[0] == "see"
    assert "".join(word.rstrip("-") for word in words[1:]) == "x" * 300
    assert max(map(len, words)) <= 23


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "text",
    [
        "Γειά שלום Привет hello",
        "مرحبا Γειά Việt שלום",
        "Ω שלום ẞ ∞ мир",
        "ȿ ɐ ʞ are letters of phonetics",
        "z\u0327 q\u0301 שלום",
        "a\x07b \u202eright\u202c",
        "W" * 300,
    ],
)
def test_what_passes_the_check_can_be_drawn_in_the_smallest_film(style: str, text: str) -> None:
    assert list(caption_problems("captions", text, style)) == []

    words = timed(caption_words(text, style).text, 60.0)
    captions = Captions(words, style, "bottom", (64, 64))
    for word in words:
        captions._drawn(_group_of(captions, word.start), 0, 1.0)


def _group_of(captions: Captions, moment: float) -> object:
    return next(g for g in captions._groups if g.start <= moment < max(g.end, g.words[-1].end))


@pytest.mark.parametrize(
    ("text", "named"),
    [("你好 hello", "你 好"), ("สวัสดี", "ด ว ส"), ("hello שΓ", "others: ש"), ("नमस्ते", "त न म")],
)
def test_letters_that_cannot_be_set_are_named_before_anything_is_paid(
    text: str, named: str
) -> None:
    values = {p.name: p.default for p in Edit.definition.settings if p.default is not None}
    order = Order(prompt="", parameters={**values, "captions": text}, media={"video": 1})

    ((name, sentence),) = Edit().check(order)

    assert name == "captions"
    assert named in sentence


def test_a_script_of_three_thousand_words_is_taken_and_an_endless_one_is_not() -> None:
    assert list(caption_problems("captions", "Honey never " * 1500, "bold")) == []

    ((_, sentence),) = caption_problems("captions", "x " * LONGEST_TEXT, "bold")
    assert "at most 30,000" in sentence
