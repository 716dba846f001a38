from itertools import pairwise

import numpy as np
import pytest

from kit.engines.editing.video.spoken import timed
from kit.engines.media.sound import RATE, Sound
from kit.errors import EngineError

TEXT = "The sea is deep. Nobody knows how many animals live in it, and few ever will."


def speech(*stretches: tuple[float, float], seconds: float) -> Sound:
    """Return noise, loud in some stretches of time."""
    rng = np.random.default_rng(2)
    loud = np.full(round(seconds * RATE), 0.001)
    for start, end in stretches:
        loud[round(start * RATE) : round(end * RATE)] = 0.2
    line = (rng.standard_normal(len(loud)) * loud).astype(np.float32)
    return Sound(np.stack([line, line]))


def test_without_sound_the_words_fill_the_clip_in_order() -> None:
    words = timed(TEXT, 6.0)

    assert [word.text for word in words] == TEXT.split()
    assert words[0].start == 0.0
    assert words[-1].end == pytest.approx(6.0, abs=0.5)
    assert all(a.start < a.end <= b.start + 1e-9 for a, b in pairwise(words))


def test_long_words_take_longer_than_short_ones() -> None:
    words = {word.text: word.end - word.start for word in timed("a hippopotamus is big", 2.0)}

    assert words["hippopotamus"] > 2.5 * words["big"]


def test_a_short_text_does_not_crawl_over_a_long_clip() -> None:
    assert timed("Look at that", 60.0)[-1].end < 3.0


def test_words_are_said_only_while_somebody_is_heard() -> None:
    sound = speech((1.0, 2.0), (3.0, 5.5), seconds=8.0)

    words = timed(TEXT, 8.0, sound)

    assert words[0].start == pytest.approx(1.0, abs=0.08)
    assert words[-1].end == pytest.approx(5.5, abs=0.08)
    assert not [word for word in words if 2.1 < word.start < 2.9]


def test_a_pause_falls_on_the_end_of_the_sentence() -> None:
    # The first sentence is said much slower than the rest.
    sound = speech((0.5, 1.9), (2.6, 5.6), seconds=7.0)

    words = timed(TEXT, 7.0, sound)

    after = next(word for word in words if word.text == "Nobody")
    assert after.start == pytest.approx(2.6, abs=0.1)


def test_sound_that_is_loud_throughout_counts_as_none() -> None:
    assert timed(TEXT, 6.0, speech((0.0, 6.0), seconds=6.0)) == timed(TEXT, 6.0)
    quiet = Sound(np.zeros((2, 6 * RATE), np.float32))
    assert timed(TEXT, 6.0, quiet) == timed(TEXT, 6.0)


def test_a_few_claps_are_not_taken_for_a_long_speech() -> None:
    claps = speech((1.0, 1.2), (3.0, 3.2), seconds=6.0)

    assert timed(TEXT, 6.0, claps) == timed(TEXT, 6.0)


def test_no_text_has_no_words_and_signs_alone_do_no_harm() -> None:
    assert timed("  \n ", 3.0) == []
    assert [word.text for word in timed("— … !!!", 3.0)] == ["— … !!!"]


def test_more_text_than_anybody_can_say_is_refused() -> None:
    with pytest.raises(EngineError, match="shorten them") as told:
        timed(TEXT * 10, 3.0)
    assert told.value.code == "captions_too_long"


def test_parts_of_a_second_are_told_as_such() -> None:
    with pytest.raises(EngineError, match=r"about 0\.\d+ s to say, .* only time for 0\.02 s"):
        timed("honey", 0.02)


def test_of_two_syllables_the_longer_one_takes_longer_where_somebody_is_heard() -> None:
    text = "a strength a strength a strength a"

    words = timed(text, 5.0, speech((0.5, 3.5), seconds=5.0))

    lengths = {word.text: word.end - word.start for word in words}
    assert lengths["strength"] > 2 * lengths["a"]
    assert words[-1].end == pytest.approx(3.5, abs=0.08)


def test_the_last_word_before_a_pause_is_drawn_out() -> None:
    words = timed("stone stone stone stone. stone stone stone", 4.0, speech((0.5, 3), seconds=4.0))

    usual, last = (word.end - word.start for word in words[2:4])
    assert last > 1.1 * usual


def test_a_long_speech_can_be_stopped_while_its_words_are_laid_out() -> None:
    stretches = [(3.0 * n, 3.0 * n + 2.4) for n in range(20)]
    calls: list[None] = []

    timed(TEXT * 8, 60.0, speech(*stretches, seconds=60.0), check=lambda: calls.append(None))

    assert len(calls) > 20, "at each pause, and while it listens"
