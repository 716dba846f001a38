"""The bank of the offline writer: enough entries of each topic, unique, fit to be read aloud."""

import json
import re
from collections import Counter
from importlib.resources import files

import pytest

from kit.engines.text.bank import BankEntry, bank, stems
from kit.engines.text.offline import TITLE_LIMIT
from kit.engines.text.speech import seconds
from kit.errors import BadRequestError
from kit.wire import TOPICS

BY_TOPIC = pytest.mark.parametrize("topic", TOPICS)


def texts(entry: BankEntry) -> list[str]:
    return [text for text in (entry.text, entry.more, entry.hook) if text]


@BY_TOPIC
def test_a_topic_has_enough_entries(topic: str) -> None:
    source = bank(topic)

    assert source.topic == topic
    assert source.manner in ("facts", "stories", "advice", "cases")
    assert len(source.entries) >= 40
    assert sum(seconds(entry.text) <= 4.5 for entry in source.entries) >= 6


@BY_TOPIC
def test_subjects_titles_and_texts_are_unique(topic: str) -> None:
    entries = bank(topic).entries
    for values in (
        [entry.subject.casefold() for entry in entries],
        [title.casefold() for entry in entries for title in entry.titles],
        [text for entry in entries for text in texts(entry)],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


@BY_TOPIC
def test_entries_are_complete_and_of_speakable_length(topic: str) -> None:
    for entry in bank(topic).entries:
        assert entry.source
        assert entry.keywords
        assert len(entry.titles) >= 2
        assert max(map(len, entry.titles)) <= TITLE_LIMIT
        assert 0.8 <= seconds(entry.text) <= 8, entry.text
        assert seconds(entry.more) <= 13, entry.more
        assert 0.8 <= seconds(entry.hook) <= 4.5, entry.hook


@BY_TOPIC
def test_entries_are_written_to_be_read_aloud(topic: str) -> None:
    for entry in bank(topic).entries:
        for text in texts(entry):
            assert re.fullmatch(r"[A-Z0-9][A-Za-z0-9 .,;:?!'$%&-]*[.?!]", text), text
            assert not re.search(r"  |\.\.|\s[.,;:?!]|,,|\b(\w+) \1\b", text), text
        for name in (entry.subject, *entry.titles):
            assert re.fullmatch(r"[A-Za-z0-9 .,:?'%&-]*[A-Za-z0-9.?]", name), name


def test_an_unknown_topic_is_refused_with_the_list() -> None:
    with pytest.raises(BadRequestError, match="SPACE"):
        bank("COOKING")


def test_forms_of_a_word_have_the_same_stem() -> None:
    assert stems("the planets") == stems("A planet's") == {"planet"}
    assert stems("cities") == stems("city")


TABLES = json.loads((files("kit.engines.text") / "voices.json").read_text(encoding="utf-8"))

SLOTS = {
    "hook": {"subject"},
    "line": {"title"},
    "aside": {"subject"},
    "aside_hooked": {"subject"},
    "bridge_to": {"subject"},
    "cta": {"noun"},
}


@pytest.mark.parametrize("manner", TABLES)
def test_lines_are_sentences_with_known_slots(manner: str) -> None:
    for voice in TABLES[manner]:
        for symbol, lines in voice.items():
            for line in lines:
                assert re.fullmatch(r"[A-Z].*[.?]", line), line
                assert set(re.findall(r"\{(\w+)\}", line)) <= SLOTS.get(symbol, set()), line
                assert symbol not in ("cta", "cta_frame", "close") or line.endswith((".", "?"))
