"""Text setting: fonts with the letters, line breaks, direction, and drawing."""

import subprocess
import sys

import numpy as np
import pytest

from kit.engines.media.fonts import FACES, face_for, faces_with, letters, path_of
from kit.engines.media.fonts.wording import Wording, capitals, wording, wording_problems
from kit.engines.media.lettering import Block, balance_lines, extent, sprite, stamp
from kit.engines.media.line_breaks import is_rtl, pieces, visual_order
from kit.errors import EngineError
from tests.engines.conftest import NOT_SHAPED, SHAPED

TEXT = "the mountain that swallowed a village"


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("most_lines", [1, 2, 4])
def test_a_text_fits_its_space_and_keeps_its_words(face: str, most_lines: int) -> None:
    block = balance_lines(TEXT, face, 300, height=120, most_lines=most_lines)

    width, height, _ = extent(block)
    assert width <= (302 if SHAPED else 315)  # without shaping, letters are placed at whole pixels
    assert height <= 122
    assert len(block.lines) <= most_lines
    assert " ".join(block.lines) == TEXT


def test_one_endless_word_is_broken_into_lines() -> None:
    block = balance_lines("a" * 100, "inter", 200, height=200, most_lines=8)

    assert len(block.lines) > 1
    assert all(line.endswith("-") for line in block.lines[:-1])
    assert "".join(block.lines).replace("-", "") == "a" * 100
    assert block.continued == tuple(range(1, len(block.lines)))


def test_an_accent_colors_both_parts_of_a_broken_word() -> None:
    block = balance_lines("go " + "w" * 30 + " on", "inter", 150, height=300, most_lines=4)
    picture = sprite(block, color=(255, 255, 255), accent=(255, 0, 0), accented=(1,))

    red = (picture[..., 3] > 200) & (picture[..., 1] < 60)
    rows = np.nonzero(red.any(axis=1))[0]
    assert len(block.continued) == 1
    assert np.ptp(rows) > block.size
    white = (picture[..., 3] > 200) & (picture[..., 1] > 200)
    assert 0 < white.sum() < red.sum()


@pytest.mark.parametrize("text", ["word " * 161, "many words " * 40])
def test_a_text_too_long_for_its_space_is_refused(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        balance_lines(text, "inter", 60, height=20, smallest=10)

    assert caught.value.code == "text_too_long"


#: The first Hebrew word of a line that runs both ways is the last one to the right.
@pytest.mark.parametrize(
    ("line", "face", "number"), [("one two", "anton", 1), ("we say שלום עולם", "rubik", 2)]
)
def test_an_accent_colors_only_one_word(line: str, face: str, number: int) -> None:
    picture = sprite(Block((line,), face, 50), accent=(255, 0, 0), accented=(number,))

    solid = picture[..., 3] > 200
    red = solid & (picture[..., 1] < 60)
    white = solid & (picture[..., 1] > 200)
    assert np.nonzero(white)[1].max() < np.nonzero(red)[1].min()


@pytest.mark.parametrize(("left", "top"), [(-5, -5), (35, 25), (100, 100), (-100, 0)])
def test_a_stamp_is_clipped_at_the_edge(left: int, top: int) -> None:
    pixels = np.zeros((30, 40, 3), np.uint8)
    picture = np.full((10, 12, 4), 255, np.uint8)

    stamp(pixels, picture, left, top)

    across = max(0, min(40, left + 12) - max(0, left))
    down = max(0, min(30, top + 10) - max(0, top))
    assert (pixels == 255).all(axis=2).sum() == across * down


@pytest.mark.parametrize("face", FACES)
def test_every_face_has_the_letters_of_western_europe(face: str) -> None:
    assert {ord(letter) for letter in "AZaz09ÄÖÜßéñç€—’…"} <= letters(face)


@pytest.mark.parametrize("face", FACES)
def test_every_face_has_its_license_beside_it(face: str) -> None:
    family = path_of(face).stem.partition("-")[0]
    license_text = path_of(face).with_name(f"OFL-{family}.txt").read_text()

    assert "SIL OPEN FONT LICENSE Version 1.1" in license_text


@pytest.mark.parametrize(
    ("text", "face"),
    [("Hello", "anton"), ("Ωμέγα", "inter-bold"), ("Привет", "inter-bold"), ("שלום", "rubik")],
)
def test_a_text_is_set_in_a_face_that_has_its_letters(text: str, face: str) -> None:
    assert face_for(text, "anton") == face


_WITHOUT_RAQM = """
from PIL import _imagingft
_imagingft.HAVE_RAQM = False
from kit.engines.media.fonts import face_for
from kit.engines.media.lettering import balance_lines, sprite
block = balance_lines("the mountain of Київ", "anton", 600, most_lines=2)
print(sprite(block)[..., 3].max(), sprite(block).shape[1] <= 610)
face_for("שלום", "anton")
"""


def test_without_fribidi_only_right_to_left_text_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _WITHOUT_RAQM], capture_output=True, text=True
    )

    assert done.stdout.split() == ["255", "True"]
    assert "right-to-left text needs the library FriBiDi" in done.stderr


@pytest.mark.skipif(not SHAPED, reason=NOT_SHAPED)
def test_letters_that_no_single_face_has_are_named() -> None:
    with pytest.raises(EngineError, match="together with the others: Ω") as caught:
        face_for("שלום Ω", "anton")

    assert caught.value.code == "no_letters"
    assert faces_with("שלום Ω", "anton") == ()


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
def test_symbols_that_no_font_has_are_left_out_and_listed(
    text: str, rest: str, left_out: tuple[str, ...]
) -> None:
    assert wording(text, "anton") == Wording(rest, left_out)


@pytest.mark.parametrize("text", ["日本 news 🌅", "नमस्ते", "한국어", "🌅 🌙", "\u20e3 🌅"])
def test_missing_letters_and_texts_of_only_emoji_are_problems(text: str) -> None:
    ((name, sentence),) = wording_problems("prompt", text, "anton")

    assert name == "prompt"
    assert sentence.startswith("no font has these characters: ")
    with pytest.raises(EngineError) as caught:
        wording(text, "anton")
    assert (caught.value.code, str(caught.value)) == ("no_letters", sentence)


@pytest.mark.parametrize("text", ["", "  ", "Ωμέγα", "Привет 🌅", "Café, 5 €"])
def test_a_text_with_known_letters_and_an_empty_text_are_no_problem(text: str) -> None:
    assert list(wording_problems("text", text, "playfair")) == []


@pytest.mark.parametrize(
    ("text", "large"),
    [
        ("Πώς είναι", "ΠΩΣ ΕΙΝΑΙ"),
        ("μάιος, ρολόι", "ΜΑΪΟΣ, ΡΟΛΟΪ"),
        ("café straße йод", "CAFÉ STRASSE ЙОД"),
    ],
)
def test_greek_capitals_have_no_accents_others_keep_theirs(text: str, large: str) -> None:
    assert capitals(text) == large


@pytest.mark.parametrize(
    "word", ["x" * 44, "a" * 50, "1234567890" * 5, "schsch" * 12, "b\u0301" * 30]
)
def test_parts_of_a_word_are_short_and_none_is_lost(word: str) -> None:
    parts = [piece.text for piece in pieces(word)]

    assert "".join(parts) == word
    assert max(len(part.replace("\u0301", "")) for part in parts) <= 22


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("iPhone הוא טלפון", True),
        ("The word שלום", False),
        ("שלום עולם we say", True),
        ("مرحبا 2024", True),
        ("", False),
    ],
)
def test_the_direction_of_a_text_is_that_of_most_letters(text: str, left: bool) -> None:
    assert is_rtl(text) is left


@pytest.mark.parametrize(
    ("line", "left", "seen"),
    [
        ("we say שלום עולם here", False, "we say עולם שלום here"),
        ("אני אוהב New York מאוד", True, "מאוד New York אוהב אני"),
        ("בשנת 1984 2000 נולדתי", True, "נולדתי 2000 1984 בשנת"),
        ("iPhone 15 הוא", True, "הוא iPhone 15"),
        ("we say שלום – עולם", False, "we say עולם – שלום"),
    ],
)
def test_words_of_both_directions_are_ordered_for_display(line: str, left: bool, seen: str) -> None:
    words = line.split()

    assert [words[number] for number in visual_order(words, rtl=left)] == seen.split()
