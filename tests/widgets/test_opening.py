"""Opening a result from static HTML: one card at a time, the last one requested."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from ipywidgets import HTML
from ipywidgets.widgets.widget import _instances

from kit.errors import NoAnswerError
from kit.widgets.boxes import OpenedBox
from kit.widgets.compare import Comparison
from kit.widgets.gallery import Gallery
from kit.widgets.result import OpenButtons, ResultOpener, show_openable
from tests.widgets.forms import Clock
from tests.widgets.gallery_items import new_item, photo
from tests.widgets.tree import every, send


def card(number: int) -> Any:
    if number > 1:
        raise NoAnswerError("<it> is gone")
    return HTML("ab"[number])


@pytest.fixture
def opener(clock: Clock) -> ResultOpener:
    return ResultOpener("kit-snapshot-1", card, background=clock.background)


def click(opener: ResultOpener, number: int | None) -> None:
    send(every(opener, OpenButtons)[0], {"open": number})


def shown(opener: ResultOpener) -> list[str]:
    return [one.value for one in every(every(opener, OpenedBox)[0], HTML)]


def test_a_click_opens_a_result_in_place_of_the_previous_one(
    opener: ResultOpener, clock: Clock
) -> None:
    click(opener, 0)
    click(opener, 1)
    clock.run()
    assert shown(opener) == ["b"]

    click(opener, None)
    assert shown(opener) == []


def test_a_result_that_cannot_be_opened_shows_the_error(opener: ResultOpener, clock: Clock) -> None:
    click(opener, 2)
    clock.run()

    assert "&lt;it&gt; is gone" in shown(opener)[0]


@pytest.mark.parametrize("kind", [Gallery, Comparison])
def test_only_items_with_a_card_have_a_place_for_a_button(kind: Any) -> None:
    plain = new_item("gen_1", small=photo(64, 64))
    openable = replace(new_item("gen_2", small=photo(64, 64)), card=lambda: HTML("card"))

    assert kind([plain, openable]).html().count("data-kit-result=") == 1
    assert 'data-kit-result="1"' in kind([plain, openable]).html()
    with pytest.raises(NotImplementedError):
        kind([plain, plain])._ipython_display_()


@pytest.mark.usefixtures("shell")
def test_the_buttons_of_a_cell_are_closed_when_it_is_run_again() -> None:
    kernel = InteractiveShell.instance().kernel = SimpleNamespace(get_parent=dict)

    def run_cell(cell: str, run: str) -> set[str]:
        before = set(_instances)
        kernel.get_parent = lambda: {"metadata": {"cellId": cell}, "header": {"msg_id": run}}
        with capture_output():
            show_openable("<p>", "a gallery", card)
        return _instances.keys() - before

    first, other = run_cell("a", "1"), run_cell("b", "2")
    again = run_cell("a", "3")

    assert first.isdisjoint(_instances)
    assert other | again <= _instances.keys()
