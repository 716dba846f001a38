from __future__ import annotations

import pytest

from kit import wire
from kit.widgets import preview


def script(content: str, duration: str = "", words: int = 0) -> wire.Script:
    metrics = wire.Metrics(duration=duration, word_count=words)
    return wire.Script(id="s", title="T", content=content, metrics=metrics)


@pytest.mark.parametrize(
    ("content", "opening"),
    [
        ("Stop. Look at this. Then go.", "Stop."),
        ('"Why?" she asked. Nobody knew.', '"Why?"'),
        ("It weighs 3.5 tons. Really!", "It weighs 3.5 tons."),
        ("Wait… what? Yes.", "Wait…"),
        ("no end in sight", "no end in sight"),
    ],
)
def test_the_first_sentence_is_shown_separately(content: str, opening: str) -> None:
    html = preview.script(script(content)).replace("&quot;", '"')

    assert f'title="opening">{opening}</div>' in html
    assert html.count(opening.split()[-1]) >= 1


def test_all_sentences_are_shown() -> None:
    html = preview.script(script("One. Two.\n\nThree."))

    assert ">One.</div>" in html
    assert ">Two.\n\nThree.</div>" in html


def test_an_empty_script_is_a_card_with_0_words() -> None:
    assert "0 words" in preview.script(script(""))


@pytest.mark.parametrize(
    ("duration", "words", "text"),
    [
        ("20", 50, "20 s to speak · 50 words · 150 words/min"),
        ("12.5", 25, "12.5 s to speak · 25 words · 120 words/min"),
        ("soon", 25, "soon to speak · 25 words"),
        ("0", 1, "0 s to speak · 1 word"),
    ],
)
def test_a_script_has_the_reported_length(duration: str, words: int, text: str) -> None:
    assert preview.script_length(script("a b", duration, words)) == text


def test_a_title_shows_its_length_and_its_writer() -> None:
    html = preview.title(wire.Title(title="Why so dark?", hook_angle="Look up", writer="offline"))

    assert "3 words · 12 characters · written offline" in html
    assert ">Look up</div>" in html
    assert "by m-1" in preview.title(wire.Title(title="Why?", writer="model:m-1"))
    assert "· by" not in preview.title(wire.Title(title="Why?"))
