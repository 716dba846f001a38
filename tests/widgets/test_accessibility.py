"""Each widget with buttons and fields of its own contains the accessibility script."""

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
from tests.widgets.table.histories import history
from tests.widgets.writers import FakeWriter

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
        lambda: Writing(FakeWriter(), "SPACE", background=AT_ONCE),
    ],
    ids=["table", "account", "signing", "panel", "writing"],
)
def test_each_widget_contains_the_accessibility_script(make: Callable[[], Any]) -> None:
    widget = make()
    (reach,) = (child for child in widget.children if isinstance(child, Accessibility))

    assert reach.box == widget.model_id, "the page finds unsent input by this id"


def test_the_accessibility_script_is_an_anywidget_with_a_short_repr() -> None:
    state = Accessibility().get_state()

    assert (state["_view_module"], state["_view_name"]) == ("anywidget", "AnyView")
    assert state["_esm"].count("export default") == 1
    assert repr(Accessibility()) == "<Accessibility>"
