import pytest

from kit.engines.text.cadence import stutters


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        (["People wait.", "People go."], 1),
        (["People wait.", "Most people go.", "People come back."], 0),
        (["The river is wide.", "The sea is wider."], 0),
        (["The river is wide.", "The river is deep."], 1),
        (["Now, Venus.", "Now it ends."], 1),
        (["People wait. It rains.", "People go."], 0),
        (["It rains. People wait.", "People go. It stops.", "It stops again."], 2),
        (["Alone."], 0),
        ([], 0),
    ],
)
def test_parts_that_begin_like_the_sentence_before_are_counted(
    parts: list[str], count: int
) -> None:
    assert stutters(parts) == count
