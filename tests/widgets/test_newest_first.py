"""A pile grows at its top, and a page has no reason to draw anew what is in it."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest

from kit.widgets.boxes import MAX_DEPTH, NewestFirst
from tests.widgets.tree import every


def words(pile: NewestFirst) -> list[str]:
    return [one.value for one in pile.shown]


def drawn(box: Any) -> list[str]:
    """What a page shows of a box, top to bottom."""
    if not hasattr(box, "children"):
        return [box.value]
    return [word for child in box.children for word in drawn(child)]


def boxes(pile: NewestFirst) -> list[Any]:
    return every(pile, ipywidgets.VBox)


def grown(count: int, most: int) -> NewestFirst:
    pile = NewestFirst(most)
    for number in range(count):
        pile.add(ipywidgets.HTML(str(number)))
    return pile


@pytest.mark.parametrize(
    "count", [0, 1, 2, 3, 4, 9, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2, 3 * MAX_DEPTH]
)
def test_the_newest_stands_first_and_the_oldest_go(count: int) -> None:
    pile = grown(count, 3)

    wanted = [str(number) for number in range(count)][:-4:-1]
    assert words(pile) == wanted
    assert drawn(pile) == wanted


def test_what_is_there_stays_where_it_is() -> None:
    pile = grown(3, 3)
    changed: list[Any] = []
    for box in boxes(pile):
        box.observe(lambda change: changed.append((change.old, change.new)), "children")

    pile.add(ipywidgets.HTML("3"))

    # The page keeps the children of a box up to the first one that is another.
    for old, new in changed:
        shared = min(len(old), len(new))
        assert old[:shared] == new[:shared]
    assert len(changed) == 2, "one place was taken and one was left"


def test_it_does_not_grow_deeper_for_ever() -> None:
    pile = grown(3 * MAX_DEPTH, 3)

    assert len(boxes(pile)) <= MAX_DEPTH + 1


def test_boxes_that_are_not_used_any_more_are_closed() -> None:
    made: list[Any] = []

    def box(**traits: Any) -> Any:
        made.append(ipywidgets.VBox(**traits))
        return made[-1]

    pile = NewestFirst(2, box=box)
    for number in range(MAX_DEPTH + 5):
        pile.add(ipywidgets.HTML(str(number)))

    used = {one.model_id for one in boxes(pile)}
    assert [one for one in made if one.comm is not None and one.model_id not in used] == []
