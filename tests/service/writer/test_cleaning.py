import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.service.domain.writing import normalize
from kit.service.writer.text import clean_title, make_speakable, split_sentences


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("**Wait** for _it_.", "Wait for it."),
        ("# Hook\nLook up.", "Hook Look up."),
        ("Narrator: Look up.\nNarrator: Now down.", "Look up. Now down."),
        ("**Hook:** Look up.\n\n**CTA:** Follow.", "Look up. Follow."),
        ("[Upbeat music]\nLook up. (pause) Now down.", "Look up. Now down."),
        ("Water (also known as H2O) is old.", "Water (also known as H2O) is old."),
        ("Look up! \U0001f680\U0001f3fd #space #stars", "Look up!"),
        ("- One thing.\n- Another thing.", "One thing. Another thing."),
        ("It is -40 degrees, or 20 * 2.", "It is -40 degrees, or 20 * 2."),
        ("Half\x00 of\u200b it\ufeff.", "Half of it."),
        ('"All of it is quoted."', "All of it is quoted."),
        ('"One," she said. "Two."', '"One," she said. "Two."'),
        ("At 12:30 it was 5°C; nobody knew.", "At 12:30 it was 5°C; nobody knew."),
        ("海は古い。とても古い。", "海は古い。とても古い。"),
        ("\U0001f680", ""),
    ],
)
def test_a_script_is_reduced_to_its_spoken_text(written: str, spoken: str) -> None:
    assert make_speakable(written) == spoken


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ('"Why Venus Turns Backwards"', "Why Venus Turns Backwards"),
        ("Title: Why Venus Turns.", "Why Venus Turns"),
        ("**Why Venus Turns**", "Why Venus Turns"),
        ("Intro: The First Computer", "Intro: The First Computer"),
        ("Wait for it...", "Wait for it..."),
        ("One\nTwo", "One Two"),
        ("“Quoted” and “Quoted”", "“Quoted” and “Quoted”"),
    ],
)
def test_a_title_is_one_plain_line(written: str, title: str) -> None:
    assert clean_title(written) == title


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
        ("Dr. Who met Mr. Fox. They ran.", ["Dr. Who met Mr. Fox.", "They ran."]),
        ("It is 3.5 km away e.g. here. So?", ["It is 3.5 km away e.g. here.", "So?"]),
        ("海は古い。とても。", ["海は古い。", "とても。"]),
        ("", []),
    ],
)
def test_text_is_split_into_sentences(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


@given(st.text(max_size=200))
def test_any_text_becomes_one_line_and_does_not_grow_when_cleaned_again(text: str) -> None:
    spoken = make_speakable(text)

    assert not re.search(r"[\x00-\x1f]|  ", spoken)
    assert len(make_speakable(spoken)) <= len(spoken)


def test_titles_are_equal_regardless_of_case_and_punctuation() -> None:
    assert normalize("Why Venus Turns Backwards!") == normalize("why venus  turns back-wards")
    assert normalize("Was ist Größe?") == normalize("was ist GRÖSSE")


@pytest.mark.parametrize("piece", ["(pause ", "[", "\n", "*", "# ", " ", " .", '"', "Hook:", "a. "])
def test_unusual_texts_are_cleaned_quickly(piece: str) -> None:
    text = piece * (10_000 // len(piece))
    began = time.process_time()
    for clean in (make_speakable, clean_title, split_sentences):
        clean(text)

    assert time.process_time() - began < 0.2
