import pytest

from kit.engines.media.fonts.wording import Wording, capitals, wording, wording_problems
from kit.errors import EngineError


@pytest.mark.parametrize(
    ("text", "rest", "left_out"),
    [
        ("Good morning 🌅", "Good morning", ("🌅",)),
        ("Hello 🌅!", "Hello!", ("🌅",)),
        ("a🔥b", "a b", ("🔥",)),
        ("👨\u200d👩\u200d👧 day", "day", ("👨\u200d👩\u200d👧",)),
        ("🇩🇪 or 🇫🇷🇩🇪", "or", ("🇩🇪", "🇫🇷")),
        ("line 🌅\nnext 👋🏽", "line\nnext", ("🌅", "👋🏽")),
        ("1\ufe0f\u20e3 first → next", "1 first → next", ()),
        ("שלום 🌙 עולם", "שלום עולם", ("🌙",)),
        ("می\u200cخواهم", "می\u200cخواهم", ()),
        ("be\x07low\x00 zero\nnext", "below zero\nnext", ()),
    ],
)
def test_symbols_that_no_font_has_are_left_out_and_told(
    text: str, rest: str, left_out: tuple[str, ...]
) -> None:
    assert wording(text, "anton") == Wording(rest, left_out)


@pytest.mark.parametrize("text", ["日本 news 🌅", "नमस्ते", "한국어", "🌅 🌙", "\u20e3 🌅"])
def test_missing_letters_and_texts_of_nothing_but_emoji_are_problems(text: str) -> None:
    ((name, sentence),) = wording_problems("prompt", text, "anton")

    assert name == "prompt"
    assert sentence.startswith("no font has these characters: ")
    with pytest.raises(EngineError) as told:
        wording(text, "anton")
    assert (told.value.code, str(told.value)) == ("no_letters", sentence)


@pytest.mark.parametrize("text", ["", "  ", "Ωμέγα", "Привет 🌅", "Café, 5 €"])
def test_what_can_be_set_and_an_empty_text_are_no_problem(text: str) -> None:
    assert list(wording_problems("text", text, "playfair")) == []


def test_words_of_several_scripts_may_be_set_apart() -> None:
    text = "日本"
    assert list(wording_problems("captions", text, "inter", together=False))
    assert wording("Ελλάδα 🌅 שלום", "anton", together=False).left_out == ("🌅",)


@pytest.mark.parametrize(
    ("text", "large"),
    [
        ("Πώς είναι", "ΠΩΣ ΕΙΝΑΙ"),
        ("μάιος, ρολόι", "ΜΑΪΟΣ, ΡΟΛΟΪ"),
        ("αυτός ή αυτή", "ΑΥΤΟΣ Ή ΑΥΤΗ"),
        ("προϊόν", "ΠΡΟΪΟΝ"),
        ("café straße йод", "CAFÉ STRASSE ЙОД"),
    ],
)
def test_greek_capitals_have_no_accents_others_keep_theirs(text: str, large: str) -> None:
    assert capitals(text) == large
