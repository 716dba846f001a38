import numpy as np
import pytest

from kit.engines.editing.video.pauses import anchored

TEXTS = ["a", "b", "c.", "d", "e", "f,", "g", "h", "i.", "j", "k", "l"]
EVEN = np.arange(13, dtype=float)


def test_without_pauses_the_pace_is_even() -> None:
    assert np.array_equal(anchored(EVEN, TEXTS, []), EVEN)


def test_pauses_fall_on_the_ends_of_sentences_and_the_rest_moves_along() -> None:
    found = anchored(EVEN, TEXTS, [3.4, 9.3])

    assert (found[3], found[9]) == (3.4, 9.3)
    assert found[6] == pytest.approx((3.4 + 9.3) / 2)
    assert (found[0], found[-1]) == (0.0, 12.0)
    assert (np.diff(found) > 0).all()


def test_a_pause_that_is_near_another_word_still_belongs_to_the_sentence() -> None:
    assert anchored(EVEN, TEXTS, [3.9])[3] == 3.9


def test_all_pauses_together_decide() -> None:
    # The second pause alone would be the comma's; with the third it must be the sentence's.
    found = anchored(EVEN, TEXTS, [3.0, 6.1, 8.9])

    assert (found[3], found[6], found[9]) == (3.0, 6.1, 8.9)


def test_a_pause_inside_a_phrase_is_allowed_where_nothing_else_fits() -> None:
    found = anchored(EVEN, TEXTS, [3.0, 6.0, 9.0, 11.0])

    assert (found[3], found[9], found[11]) == (3.0, 9.0, 11.0)


def test_one_word_and_many_pauses_do_no_harm() -> None:
    assert np.array_equal(anchored(np.array([0.0, 2.0]), ["a"], [0.5, 1.0]), [0.0, 2.0])
    found = anchored(EVEN, TEXTS, [n / 10 for n in range(1, 120, 3)])
    assert (np.diff(found) >= 0).all()
