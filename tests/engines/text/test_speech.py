import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engines.text.speech import COMMA, RATE, STOP, seconds, syllables, words

COUNTED = {
    1: "make makes jumped played eye whole more goes does shoes brave cause tongue league blue",
    2: "table tables honey planet ocean cities stories people science quiet isn't flying rhythm",
    3: "radio created animals oxygen curious video museum average memories scientist everyone",
    4: "bacteria society experience television necessary temperature mysterious geography",
    5: "university electricity curiosity imagination",
}


@pytest.mark.parametrize(
    ("word", "count"), [(word, n) for n, group in COUNTED.items() for word in group.split()]
)
def test_syllables_agree_with_a_count_by_hand(word: str, count: int) -> None:
    assert syllables(word) == count


@pytest.mark.parametrize(
    ("figure", "count"),
    [
        ("7", 2),  # se-ven
        ("21", 3),  # twen-ty-one
        ("1969", 5),  # nine-teen six-ty-nine
        ("1905", 4),  # nine-teen oh five
        ("1800", 4),  # eigh-teen hun-dred
        ("2,500", 6),  # two thou-sand five hun-dred
        ("3.5", 3),  # three point five
        ("45%", 5),  # for-ty-five per-cent
        ("$3", 3),  # three dol-lars
        ("1920s", 4),  # nine-teen twen-ty(s)
        ("km", 4),  # ki-lo-me-ters
        ("NASA", 2),
        ("DNA", 3),
        ("BMW", 4),
        ("well-known", 2),
        ("Dr", 2),
    ],
)
def test_figures_and_acronyms_count_as_they_are_read(figure: str, count: int) -> None:
    assert syllables(figure) == count


def test_a_sentence_lasts_as_long_as_its_syllables() -> None:
    assert seconds("Honey never spoils.") == pytest.approx(5 / RATE)


def test_commas_and_inner_stops_pause_but_the_last_stop_does_not() -> None:
    plain = seconds("One two three four.")

    assert seconds("One two, three four.") == pytest.approx(plain + COMMA)
    assert seconds("One two. Three four.") == pytest.approx(plain + STOP)


def test_a_comma_in_a_figure_and_a_dot_in_an_abbreviation_do_not_pause() -> None:
    assert seconds("2,500") == pytest.approx(6 / RATE)
    assert seconds("Dr. Who") == pytest.approx(3 / RATE)


def test_times_of_sentences_add_up_with_one_pause() -> None:
    first, second = "A day on Venus is long.", "It lasts 243 of our days, and it turns backwards."

    assert seconds(f"{first} {second}") == pytest.approx(seconds(first) + STOP + seconds(second))


def test_twice_the_rate_takes_half_the_time() -> None:
    assert seconds("Honey never spoils.", rate=2 * RATE) == pytest.approx(2.5 / RATE)


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        seconds("Honey.", rate=0)


def test_figures_with_signs_and_hyphenated_words_are_one_word() -> None:
    assert words("In 1969, about 12% of $3.5 well-known U.S. jars - didn't.") == [
        *("In", "1969", "about", "12%", "of", "$3.5", "well-known", "U.S", "jars", "didn't"),
    ]


@given(st.text(max_size=200))
def test_any_text_has_a_finite_length_and_no_word_is_silent(text: str) -> None:
    assert math.isfinite(seconds(text))
    assert seconds(text) >= len(words(text)) / RATE
