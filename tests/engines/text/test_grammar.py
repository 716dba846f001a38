import itertools
import json
import random
import re
from importlib.resources import files

import pytest

from kit.engines.text.grammar import Voice, voices

TABLES = json.loads((files("kit.engines.text") / "voices.json").read_text(encoding="utf-8"))
SLOTS = {
    "hook": {"subject"},
    "line": {"title"},
    "aside": {"subject"},
    "aside_hooked": {"subject"},
    "bridge_to": {"subject"},
    "cta": {"noun"},
}


def test_a_slot_is_filled_once_and_never_read_again() -> None:
    voice = Voice({"line": ["today: {title}."]}, random.Random(0))

    assert voice.say("line", title="{noun}", noun="myths") == ["Today: {noun}."]


def test_a_line_whose_slot_is_missing_is_not_said() -> None:
    voice = Voice({"hook": ["Look at {subject}.", "Look."]}, random.Random(0))

    assert voice.say("hook") == ["Look."]


def test_same_seed_gives_the_same_voices() -> None:
    first, again = (voices("facts", random.Random(3)) for _ in range(2))

    assert [v.say("bridge") for v in first] == [v.say("bridge") for v in again]


@pytest.mark.parametrize("manner", TABLES)
def test_the_voices_of_a_manner_share_no_line(manner: str) -> None:
    lines = [
        {line for lines in voice.values() for line in lines if "Follow for" not in line}
        for voice in TABLES[manner]
    ]

    assert len(lines) == 2
    assert all(not a & b for a, b in itertools.combinations(lines, 2))


@pytest.mark.parametrize("manner", TABLES)
def test_lines_are_sentences_with_known_slots(manner: str) -> None:
    for voice in TABLES[manner]:
        for symbol, lines in voice.items():
            for line in lines:
                assert re.fullmatch(r"[A-Z].*[.?]", line), line
                assert set(re.findall(r"\{(\w+)\}", line)) <= SLOTS.get(symbol, set()), line
                assert symbol not in ("cta", "cta_frame", "close") or line.endswith((".", "?"))


@pytest.mark.parametrize("manner", TABLES)
def test_a_voice_can_open_without_a_subject_and_bridge_often(manner: str) -> None:
    for voice in voices(manner, random.Random(1)):
        assert voice.say("hook")
        assert len(voice.say("bridge")) >= 10
        assert len(voice.say("bridge_to", subject="the sea")) >= 6
