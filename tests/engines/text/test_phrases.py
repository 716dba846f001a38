import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engines.text.phrases import angled, clean, sentence, within
from kit.engines.text.speech import seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("**Why** _sharks_ are `old`", "Why sharks are old"),
        ("Wait... what?!", "Wait, what?"),
        ("\U0001f680 Rockets \U0001f680 #space", "Rockets space"),
        ("Salt & pepper", "Salt and pepper"),
        ('"Quoted" titles', "Quoted titles"),
        ("Don't panic", "Don't panic"),
        ("One – two -- three", "One, two, three"),
        ("{subject} and <b>tags</b>", "subject and b tags b"),
        ("5 facts, 3.5 km, 20% off", "5 facts, 3.5 km, 20% off"),
        ("?!.", ""),
        ("line\nbreaks\tand  spaces", "line breaks and spaces"),
    ],
)
def test_clean_text_can_be_read_aloud(text: str, said: str) -> None:
    assert clean(text) == said


@given(st.text(max_size=120))
def test_clean_text_has_no_doubled_marks_or_spaces(text: str) -> None:
    said = clean(text)

    assert not re.search(r"\s\s|\s[.,;:!?]|[.,;:!?]{2}|[*_`#{}<>\[\]|\n]", said)
    assert clean(said) == said


@pytest.mark.parametrize(
    ("angle", "said"),
    [
        ("What if your brain lies to you?", "What if your brain lies to you?"),
        ("Your brain is lying to you", "Your brain is lying to you."),
        ("Open with the fact that honey never spoils", "Honey never spoils."),
        ("Focus on how cold space is", "Here is how cold space is."),
        ("the loneliest planet", "Here is the loneliest planet."),
        ("A look at what people believe", "Here is a look at what people believe."),
        ("art thieves who were never caught", "Think of art thieves who were never caught."),
        ("You know what they say", "You know what they say."),
        ("Reveal why bees dance", "Here is why bees dance."),
    ],
)
def test_an_angle_becomes_the_first_sentence(angle: str, said: str) -> None:
    assert angled(angle) == said


def test_a_text_is_cut_where_it_hurts_least() -> None:
    text = "Sharks are older than trees, and they are older than the rings of Saturn. Think of it."

    assert within(text, 60) == text
    assert (
        within(text, 5)
        == "Sharks are older than trees, and they are older than the rings of Saturn."
    )
    assert within(text, 3) == "Sharks are older than trees"
    assert within("the story of the oldest tree of the world", 1.7) == "the story"
    assert within("the day when everything changed for us", 1.7) == "the day"


@given(st.text(min_size=1, max_size=80), st.floats(1, 20))
def test_a_cut_text_keeps_to_its_limit(text: str, limit: float) -> None:
    cut = within(clean(text), limit)

    assert seconds(cut) <= limit or len(cut) == 1


def test_a_sentence_starts_with_a_capital_and_ends_with_a_mark() -> None:
    assert sentence("bees dance") == "Bees dance."
    assert sentence("do bees dance?") == "Do bees dance?"
