import pytest

from kit.engines.media.direction import in_sight, leftward


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("iPhone הוא טלפון", True),
        ("The word שלום", False),
        ("we say שלום עולם", False),
        ("שלום עולם we say", True),
        ("مرحبا 2024", True),
        ("2024 — 15:30", False),
        ("", False),
    ],
)
def test_a_text_runs_as_most_of_its_letters_do(text: str, left: bool) -> None:
    assert leftward(text) is left


@pytest.mark.parametrize(
    ("line", "left", "seen"),
    [
        ("we say hello", False, "we say hello"),
        ("אני אוהב אותך", True, "אותך אוהב אני"),
        ("we say שלום עולם here", False, "we say עולם שלום here"),
        ("אני אוהב New York מאוד", True, "מאוד New York אוהב אני"),
        ("בשנת 1984 2000 נולדתי", True, "נולדתי 2000 1984 בשנת"),
        ("iPhone 15 הוא", True, "הוא iPhone 15"),
        ("one – שלום", False, "one – שלום"),
        ("שלום – עולם", True, "עולם – שלום"),
        ("we say שלום – עולם", False, "we say עולם – שלום"),
    ],
)
def test_words_stand_where_they_are_read(line: str, left: bool, seen: str) -> None:
    words = line.split()

    assert [words[number] for number in in_sight(words, left=left)] == seen.split()
