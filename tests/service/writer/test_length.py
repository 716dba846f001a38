import pytest

from kit.engines.text.speech import RATE
from kit.service.writer.text import Length, is_similar, split_sentences
from tests.service.writer.conftest import text_of


@pytest.mark.parametrize("seconds", [10, 30, 60, 180])
def test_a_text_fits_a_duration_within_ten_percent(seconds: int) -> None:
    text = text_of(seconds)

    assert Length(seconds, RATE).fits(text)
    assert not Length(seconds * 1.25, RATE).fits(text)
    assert not Length(seconds * 0.8, RATE).fits(text)


@pytest.mark.parametrize("seconds", [15, 60, 180])
def test_the_number_of_words_of_a_duration_is_about_right(seconds: int) -> None:
    length = Length(seconds, RATE)

    assert length.words == pytest.approx(len(text_of(seconds).split()), rel=0.25)


def test_the_number_of_words_is_scaled_from_a_given_text() -> None:
    text = text_of(60)

    assert Length(30, RATE).words_for(text) == pytest.approx(len(text.split()) / 2, rel=0.1)
    assert Length(30, RATE).words_for("") == Length(30, RATE).words


@pytest.mark.parametrize(("has", "target"), [(40, 30), (60, 30), (60, 50), (180, 150)])
def test_a_long_text_loses_inner_sentences_and_keeps_its_ends(has: int, target: int) -> None:
    long = text_of(has)

    short = Length(target, RATE).trim(long)

    assert short
    assert Length(target, RATE).fits(short)
    assert split_sentences(short)[0] == split_sentences(long)[0]
    assert split_sentences(short)[-1] == split_sentences(long)[-1]
    assert set(split_sentences(short)) < set(split_sentences(long))


@pytest.mark.parametrize("text", ["", "One sentence only.", text_of(20)])
def test_a_short_text_cannot_be_trimmed(text: str) -> None:
    assert Length(60, RATE).trim(text) is None


def test_a_text_of_one_long_sentence_cannot_be_trimmed() -> None:
    assert Length(10, RATE).trim("and so on " * 100 + ".") is None


def test_two_texts_are_similar_if_they_share_most_sentences() -> None:
    one, other = text_of(30), text_of(30, seed=9)

    assert is_similar(one, one)
    assert is_similar(one, one.upper())
    assert is_similar(one, " ".join(split_sentences(one)[1:]))
    assert not is_similar(one, other)
