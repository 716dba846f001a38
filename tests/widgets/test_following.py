"""Widgets follow what happens at their service, whoever has caused it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from IPython.display import display
from ipywidgets import HTML

from kit import wire
from kit.errors import ParameterError
from kit.explore.archive import search_rows
from kit.widgets.accessibility import Accessibility
from kit.widgets.account.panel import AccountPanel, Facts
from kit.widgets.background import Throttled
from kit.widgets.form import Form
from kit.widgets.panel import PageSet, Panel, PanelPage
from kit.widgets.table import HistoryTable
from tests.widgets.forming import Shop, Stage, model, price
from tests.widgets.table.histories import history
from tests.widgets.tree import every, send


class Service:
    """Something that changes."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def subscribe(self, call: Any) -> None:
        self.calls.append(call)

    def change(self) -> None:
        for call in self.calls:
            call()


def texts(widget: Any) -> str:
    return " ".join(one.value for one in every(widget, HTML))


def test_many_changes_are_one_call_and_the_last_one_counts(stage: Stage) -> None:
    seen: list[float] = []
    follow = Throttled(lambda: seen.append(stage.now), 0.4, stage.background)

    for _ in range(10):
        follow.request()
        stage.wait(0.1)
    stage.wait(1)

    assert len(seen) == 3
    assert seen[-1] > 0.9, "after the last change"


def test_a_form_shows_the_balance_after_a_start_elsewhere(
    form: Form, stage: Stage, shop: Shop
) -> None:
    assert "balance afterwards 9.4" in price(form)

    shop.funds = Decimal(5)
    shop.change()
    stage.wait(0.9)

    assert "balance afterwards 4.4" in price(form)


def test_a_form_that_was_refused_follows_nothing(shop: Shop, stage: Stage) -> None:
    with pytest.raises(ParameterError, match="no_such"):
        Form(model(), {"parameters": {"no_such": 1}}, service=shop, background=stage.background)

    assert shop.followers == []


def renewing(service: Service, stage: Stage, renewed: list[float]) -> HistoryTable:
    def renew() -> Any:
        renewed.append(stage.now)
        return history()

    subscribe, background = service.subscribe, stage.background
    return HistoryTable(
        history(), search=search_rows, renew=renew, subscribe=subscribe, background=background
    )


@pytest.mark.usefixtures("shell")
def test_a_table_that_was_closed_follows_nothing(stage: Stage) -> None:
    service, renewed = Service(), list[float]()
    table = renewing(service, stage, renewed)
    display(table)
    service.change()
    stage.wait(0.9)
    assert len(renewed) == 1

    table.controls.close()
    assert table.controls.comm is None  # it is gone from every page
    service.change()
    table.page = 1
    stage.wait(5)

    assert len(renewed) == 1


def test_a_table_that_no_page_has_follows_when_one_has_it_again(stage: Stage) -> None:
    service, renewed = Service(), list[float]()
    controls = renewing(service, stage, renewed).controls
    (script,) = every(controls, Accessibility)

    for pages, calls in ((1, 1), (1, 2), (-1, 3), (-1, 3)):
        send(script, {"pages": pages})
        service.change()
        stage.wait(0.9)
        assert len(renewed) == calls
    send(script, {"pages": 1})
    stage.wait(0.9)
    assert len(renewed) == 4, "what it has missed"


def test_a_table_shows_what_is_new_and_keeps_what_was_chosen(stage: Stage) -> None:
    service = Service()
    frames = [history()]
    table = HistoryTable(
        history().iloc[1:],
        search=search_rows,
        renew=lambda: frames[0],
        subscribe=service.subscribe,
        background=stage.background,
    )
    assert len(table) == len(history()) - 1
    chosen = str(table.frame.index[0])
    _ = table.controls
    table.select([chosen])

    service.change()
    stage.wait(0.9)

    assert len(table) == len(history())
    assert table.ids == [chosen]


def test_a_panel_follows_at_its_top_and_on_the_page_that_is_open(stage: Stage) -> None:
    service = Service()
    built = {"Costs": 0, "Create": 0}

    def page(name: str) -> Any:
        built[name] += 1
        return HTML(f"{name} {built[name]}")

    left = iter(("10 left", "9 left", "8 left", "7 left", "6 left"))
    pages = PageSet(
        [
            PanelPage("Create", lambda: page("Create")),
            PanelPage("Costs", lambda: page("Costs"), follows=True),
        ],
        heading=lambda: next(left),
        subscribe=service.subscribe,
    )
    panel = Panel(pages, snapshot=str, background=stage.background)
    stage.run()
    panel.page = "Costs"
    stage.run()
    assert "9 left" in texts(panel)

    service.change()
    stage.wait(0.9)
    assert "8 left" in texts(panel)
    assert built == {"Costs": 2, "Create": 1}

    panel.page = "Create"
    stage.run()
    service.change()
    stage.wait(0.9)
    assert built == {"Costs": 2, "Create": 1}
    panel.page = "Costs"
    stage.run()
    assert built == {"Costs": 3, "Create": 1}


def test_an_account_panel_follows(stage: Stage) -> None:
    service = Service()
    left = [Decimal(10)]
    panel = AccountPanel(
        lambda: Facts("here", wire.Account(id="a", name="Ada", credits=left[0])),
        subscribe=service.subscribe,
        background=stage.background,
    )
    stage.run()
    assert "10 credits" in texts(panel)

    left[0] = Decimal(9)
    service.change()
    stage.wait(0.9)

    assert "9 credits" in texts(panel)
