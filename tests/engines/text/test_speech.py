"""The spoken duration of a text, and cleaning of texts that are read aloud."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engines.text.phrases import clean, hook_sentence, shorten
from kit.engines.text.speech import COMMA, RATE, STOP, seconds, syllables, words

#: Words as they are written, and figures and acronyms as they are read: "1905" is nineteen oh five.
COUNTED = {
    1: "make makes jumped played eye whole more goes does shoes brave cause tongue league blue",
    2: "table tables honey planet ocean cities stories people science quiet isn't flying rhythm "
    "7 NASA well-known Dr",
    3: "radio created animals oxygen curious video museum average memories scientist everyone "
    "21 3.5 $3 DNA",
    4: "bacteria society experience television necessary temperature mysterious geography "
    "1905 1800 1920s km BMW",
    5: "university electricity curiosity imagination 1969 45%",
    6: "2,500",
}


@pytest.mark.parametrize(
    ("word", "count"), [(word, n) for n, group in COUNTED.items() for word in group.split()]
)
def test_syllables_agree_with_a_count_by_hand(word: str, count: int) -> None:
    assert syllables(word) == count


def test_a_sentence_lasts_as_long_as_its_syllables() -> None:
    assert seconds("Honey never spoils.") == pytest.approx(5 / RATE)


def test_commas_and_inner_stops_pause_but_the_last_stop_does_not() -> None:
    plain = seconds("One two three four.")

    assert seconds("One two, three four.") == pytest.approx(plain + COMMA)
    assert seconds("One two. Three four.") == pytest.approx(plain + STOP)


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        seconds("Honey.", rate=0)


@given(st.text(max_size=200))
def test_any_text_has_a_finite_duration_and_each_word_takes_time(text: str) -> None:
    assert math.isfinite(seconds(text))
    assert seconds(text) >= len(words(text)) / RATE


@pytest.mark.parametrize(
    ("text", "spoken"),
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
def test_clean_text_can_be_read_aloud(text: str, spoken: str) -> None:
    assert clean(text) == spoken


@given(st.text(max_size=120))
def test_clean_text_has_no_doubled_marks_or_spaces(text: str) -> None:
    spoken = clean(text)

    assert not re.search(r"\s\s|\s[.,;:!?]|[.,;:!?]{2}|[*_`#{}<>\[\]|\n]", spoken)
    assert clean(spoken) == spoken


@pytest.mark.parametrize(
    ("angle", "sentence"),
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
def test_an_angle_becomes_the_first_sentence(angle: str, sentence: str) -> None:
    assert hook_sentence(angle) == sentence


@given(st.text(min_size=1, max_size=80), st.floats(1, 20))
def test_a_shortened_text_keeps_to_its_limit(text: str, limit: float) -> None:
    cut = shorten(clean(text), limit)

    assert seconds(cut) <= limit or len(cut) == 1
