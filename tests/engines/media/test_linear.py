"""Texts of any length are processed in linear time before they are refused."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from kit.engines.editing.title import headline_problems
from kit.engines.editing.video.checks import caption_problems
from kit.engines.media.fonts.wording import capitals, wording
from kit.engines.media.lettering import balance_lines
from kit.engines.media.line_breaks import clusters, pieces, visual_order
from kit.engines.text.speech import seconds
from kit.errors import EngineError

#: Characters of the shorter text; the longer one has four times as many.
LENGTH = 5_000
#: Four times the text takes four times as long, and sixteen times if the work is quadratic.
MOST = 8

#: Text before, repeated text, and text behind.
TEXTS = {
    "one word": ("", "a", ""),
    "words": ("", "word ", ""),
    "signs": ("", ". ", ""),
    "dots": ("", ".", ""),
    "blanks": ("a", " ", "b"),
    "a symbol and blanks": ("a\U0001fffa", " ", "b"),
    "symbols": ("a", "\U0001fffa", "b"),
    "marks": ("a", "\u0301", ""),
    "marks out of order": ("a", "\u0301\u0316", ""),
    "accents": ("", "\u0390", ""),
    "flags": ("", "\U0001f1e6", ""),
}
WORK: dict[str, Callable[[str], Any]] = {
    "clusters": clusters,
    "pieces": pieces,
    "capitals": capitals,
    "wording": lambda text: wording(text, "anton"),
    "lines": lambda text: balance_lines(text, "anton", 800, height=400),
    "direction": lambda text: visual_order(text.split(), rtl=True),
    "seconds": seconds,
    "headline": lambda text: [*headline_problems("prompt", text, "auto", "bold", (720, 1280))],
    "captions": lambda text: [*caption_problems("captions", text, "bold", 10.0)],
}


def measure(work: Callable[[str], Any], text: str) -> float:
    """Return the processor time of some work at its best."""
    times = []
    for _ in range(3):
        began = time.thread_time()
        with suppress(EngineError):
            work(text)
        times.append(time.thread_time() - began)
    return min(times)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", WORK)
def test_processing_time_is_linear_in_the_length_of_a_text(name: str, text: str) -> None:
    before, again, behind = TEXTS[text]
    texts = [before + (again * length)[:length] + behind for length in (LENGTH, 4 * LENGTH)]
    short, long = (measure(WORK[name], one) for one in texts)

    assert long <= MOST * max(short, 0.016 if os.name == "nt" else 0.001)  # the step of its clock


def test_a_text_of_different_symbols_is_read_in_time() -> None:
    text = "".join(chr(0x31500 + number) for number in range(4 * LENGTH))  # none has a name

    assert measure(WORK["wording"], text) < 1


def test_too_many_combining_marks_are_left_out() -> None:
    assert wording("x" + "\u0323" * 99, "inter").text == "x" + "\u0323" * 30
    assert wording("Việt Nam", "inter").text == "Việt Nam"


def test_symbols_that_are_left_out_leave_no_gap() -> None:
    assert wording("a \U0001fffa \U0001fffa.", "anton").text == "a."
    assert wording("a \U0001fffa b\n \U0001fffa c", "anton").text == "a b\nc"
