"""What makes a widget reachable is a part of each that has buttons and fields of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets
import pytest

from kit import wire
from kit.explore.archive import search_rows
from kit.widgets.accessibility import Accessibility
from kit.widgets.account.panel import AccountPanel, Facts
from kit.widgets.account.signin import SignIn
from kit.widgets.background import BackgroundRunner
from kit.widgets.panel import PageSet, Panel, PanelPage
from kit.widgets.table import HistoryTable
from kit.widgets.writing import Writing
from tests.widgets.authoring import Author
from tests.widgets.table.histories import history

AT_ONCE = BackgroundRunner(begin=lambda work: work(), after=lambda _seconds, _work: lambda: None)
PAGES = PageSet([PanelPage("One", ipywidgets.HTML)])
FACTS = Facts("x", wire.Account(id="a", name="Ada"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: HistoryTable(history(), search=search_rows, background=AT_ONCE).controls,
        lambda: AccountPanel(lambda: FACTS, background=AT_ONCE),
        lambda: SignIn(lambda *_: None, background=AT_ONCE),
        lambda: Panel(PAGES, snapshot=str, background=AT_ONCE),
        lambda: Writing(Author(), "SPACE", background=AT_ONCE),
    ],
    ids=["table", "account", "signing", "panel", "writing"],
)
def test_each_widget_is_reached(make: Callable[[], Any]) -> None:
    made = make()
    (reach,) = (child for child in made.children if isinstance(child, Accessibility))

    assert reach.box == made.model_id, "the page finds by it what was typed and is not sent yet"


def test_it_is_one_of_anywidgets_in_the_page_and_says_nothing() -> None:
    state = Accessibility().get_state()

    assert (state["_view_module"], state["_view_name"]) == ("anywidget", "AnyView")
    assert state["_esm"].count("export default") == 1
    assert repr(Accessibility()) == "<Accessibility>"
