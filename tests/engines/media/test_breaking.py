import pytest

from kit.engines.media.breaking import pieces


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Donaudampfschifffahrtsgesellschaft", ["Donaudampfschiff", "fahrtsgesellschaft"]),
        (
            "pneumonoultramicroscopicsilicovolcanoconiosis",
            ["pneumonoultramic", "roscopicsilico", "volcanoconiosis"],
        ),
        ("Сельскохозяйственномашиностроение", ["Сельскохозяйствен", "номашиностроение"]),
    ],
)
def test_a_hyphen_stands_where_a_syllable_begins(word: str, parts: list[str]) -> None:
    assert [piece.text for piece in pieces(word)] == parts
    assert [piece.tail for piece in pieces(word)] == ["-"] * (len(parts) - 1) + [""]


@pytest.mark.parametrize(
    "word", ["x" * 44, "a" * 50, "1234567890" * 5, "schsch" * 12, "b\u0301" * 30]
)
def test_no_part_is_longer_than_a_line_bears_and_none_is_lost(word: str) -> None:
    parts = [piece.text for piece in pieces(word)]

    assert "".join(parts) == word
    assert max(len(part.replace("\u0301", "")) for part in parts) <= 22


def test_two_letters_of_one_sound_stay_together() -> None:
    for word in ("abendschulabschlussprüfungen", "mathematicsphilosophyother"):
        for piece in pieces(word)[1:]:
            assert not piece.text.startswith(("h", "chl"))
