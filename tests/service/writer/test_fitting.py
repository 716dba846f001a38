import pytest

from kit.engines.text.speech import RATE
from kit.service.writer.cleaning import sentences
from kit.service.writer.fitting import Length, alike
from tests.service.writer.conftest import text_of


@pytest.mark.parametrize("seconds", [10, 30, 60, 180])
def test_a_text_fits_within_a_tenth(seconds: int) -> None:
    text = text_of(seconds)

    assert Length(seconds, RATE).fits(text)
    assert not Length(seconds * 1.25, RATE).fits(text)
    assert not Length(seconds * 0.8, RATE).fits(text)


@pytest.mark.parametrize("seconds", [15, 60, 180])
def test_the_number_of_words_is_about_right(seconds: int) -> None:
    length = Length(seconds, RATE)

    assert length.words == pytest.approx(len(text_of(seconds).split()), rel=0.25)


def test_a_text_tells_how_many_words_of_its_kind_would_do() -> None:
    text = text_of(60)

    assert Length(30, RATE).words_for(text) == pytest.approx(len(text.split()) / 2, rel=0.1)
    assert Length(30, RATE).words_for("") == Length(30, RATE).words


@pytest.mark.parametrize(("has", "target"), [(40, 30), (60, 30), (60, 50), (180, 150)])
def test_a_long_text_loses_inner_sentences_and_keeps_its_ends(has: int, target: int) -> None:
    long = text_of(has)

    short = Length(target, RATE).trimmed(long)

    assert short
    assert Length(target, RATE).fits(short)
    assert sentences(short)[0] == sentences(long)[0]
    assert sentences(short)[-1] == sentences(long)[-1]
    assert set(sentences(short)) < set(sentences(long))


@pytest.mark.parametrize("text", ["", "One sentence only.", text_of(20)])
def test_a_short_text_cannot_be_trimmed(text: str) -> None:
    assert Length(60, RATE).trimmed(text) is None


def test_a_text_of_one_long_sentence_cannot_be_trimmed() -> None:
    assert Length(10, RATE).trimmed("and so on " * 100 + ".") is None


def test_two_texts_are_alike_when_they_share_most_of_what_they_say() -> None:
    one, other = text_of(30), text_of(30, seed=9)

    assert alike(one, one)
    assert alike(one, one.upper())
    assert alike(one, " ".join(sentences(one)[1:]))
    assert not alike(one, other)
