"""A pile of widgets grows at its top, and a page need not redraw those that are in it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ipywidgets
import pytest

from kit.widgets.boxes import MAX_DEPTH, NewestFirst
from tests.widgets.tree import every


def words(pile: NewestFirst) -> list[str]:
    return [one.value for one in pile.shown]


def visible_words(box: Any) -> list[str]:
    """Return the words that a page shows of a box, from top to bottom."""
    if not hasattr(box, "children"):
        return [box.value]
    return [word for child in box.children for word in visible_words(child)]


def boxes(pile: NewestFirst) -> list[Any]:
    return every(pile, ipywidgets.VBox)


def make_pile(count: int, most: int) -> NewestFirst:
    pile = NewestFirst(most)
    for number in range(count):
        pile.add(ipywidgets.HTML(str(number)))
    return pile


def test_two_threads_can_add_at_the_same_time() -> None:
    pile = NewestFirst(3)
    pile.observe(lambda _: time.sleep(0.05), "children")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(pile.add, [ipywidgets.HTML("0"), ipywidgets.HTML("1")]))

    assert sorted(words(pile)) == ["0", "1"]


@pytest.mark.parametrize(
    "count", [0, 1, 2, 3, 4, 9, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2, 3 * MAX_DEPTH]
)
def test_the_newest_is_first_and_the_oldest_are_removed(count: int) -> None:
    pile = make_pile(count, 3)

    expected = [str(number) for number in range(count)][:-4:-1]
    assert words(pile) == expected
    assert visible_words(pile) == expected


def test_adding_a_widget_does_not_redraw_the_others() -> None:
    pile = make_pile(3, 3)
    changed: list[Any] = []
    for box in boxes(pile):
        box.observe(lambda change: changed.append((change.old, change.new)), "children")

    pile.add(ipywidgets.HTML("3"))

    # The page keeps the children of a box up to the first one that differs.
    for old, new in changed:
        shared = min(len(old), len(new))
        assert old[:shared] == new[:shared]
    assert len(changed) == 2, "one box is filled and one is emptied"


def test_the_nesting_of_boxes_has_a_limit() -> None:
    pile = make_pile(3 * MAX_DEPTH, 3)

    assert len(boxes(pile)) <= MAX_DEPTH + 1


def test_unused_boxes_are_closed() -> None:
    created: list[Any] = []

    def box(**traits: Any) -> Any:
        created.append(ipywidgets.VBox(**traits))
        return created[-1]

    pile = NewestFirst(2, box=box)
    for number in range(MAX_DEPTH + 5):
        pile.add(ipywidgets.HTML(str(number)))

    used = {one.model_id for one in boxes(pile)}
    assert [one for one in created if one.comm is not None and one.model_id not in used] == []
