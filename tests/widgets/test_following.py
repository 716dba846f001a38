"""Widgets are updated with every change at their service."""

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
from kit.widgets.background import BackgroundRunner, Throttled
from kit.widgets.form import Form
from kit.widgets.panel import PageSet, Panel, PanelPage
from kit.widgets.table import HistoryTable
from tests.widgets.forms import Api, Clock, model, price
from tests.widgets.table.histories import history
from tests.widgets.tree import Announcements, every, send


class FakeService:
    """A service that notifies its subscribers of changes."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def subscribe(self, call: Any) -> None:
        self.calls.append(call)

    def change(self) -> None:
        for call in self.calls:
            call()


def texts(widget: Any) -> str:
    return " ".join(one.value for one in every(widget, HTML))


def test_many_changes_are_throttled_and_the_last_one_is_included(clock: Clock) -> None:
    seen: list[float] = []
    follow = Throttled(lambda: seen.append(clock.now), 0.4, clock.background)

    for _ in range(10):
        follow.request()
        clock.wait(0.1)
    clock.wait(1)

    assert len(seen) == 3
    assert seen[-1] > 0.9, "one call comes after the last change"


def test_a_change_starts_no_thread_for_what_no_page_shows() -> None:
    begun: list[float] = []
    background = BackgroundRunner(after=lambda seconds, work: begun.append(seconds) or work)
    follow = Throttled(lambda: None, 0.4, background)

    follow.pause(True)
    follow.request()
    assert begun == []

    follow.pause(False)
    assert begun == [0.4], "the missed change"


def test_a_form_shows_the_balance_after_a_start_elsewhere(
    form: Form, clock: Clock, api: Api
) -> None:
    assert "balance afterwards 9.4" in price(form)

    api.funds = Decimal(5)
    api.change()
    clock.wait(0.9)

    assert "balance afterwards 4.4" in price(form)


def test_a_form_with_invalid_values_does_not_subscribe(api: Api, clock: Clock) -> None:
    with pytest.raises(ParameterError, match="no_such"):
        Form(model(), {"parameters": {"no_such": 1}}, service=api, background=clock.background)

    assert api.followers == []


def make_table(service: FakeService, clock: Clock, refreshes: list[float]) -> HistoryTable:
    def renew() -> Any:
        refreshes.append(clock.now)
        return history()

    subscribe, background = service.subscribe, clock.background
    return HistoryTable(
        history(), search=search_rows, renew=renew, subscribe=subscribe, background=background
    )


@pytest.mark.usefixtures("shell")
def test_a_closed_table_is_not_refreshed(clock: Clock) -> None:
    service, refreshes = FakeService(), list[float]()
    table = make_table(service, clock, refreshes)
    display(table)
    service.change()
    clock.wait(0.9)
    assert len(refreshes) == 1

    table.controls.close()
    assert table.controls.comm is None  # it is closed on every page
    service.change()
    table.page = 1
    clock.wait(5)

    assert len(refreshes) == 1


def test_a_table_on_no_page_is_refreshed_once_a_page_shows_it_again(clock: Clock) -> None:
    service, refreshes = FakeService(), list[float]()
    controls = make_table(service, clock, refreshes).controls
    (script,) = every(controls, Accessibility)

    for pages, calls in ((1, 1), (1, 2), (-1, 3), (-1, 3)):
        send(script, {"pages": pages})
        service.change()
        clock.wait(0.9)
        assert len(refreshes) == calls
    send(script, {"pages": 1})
    clock.wait(0.9)
    assert len(refreshes) == 4, "it catches up"


def test_a_table_shows_new_rows_and_keeps_the_selection(clock: Clock) -> None:
    service = FakeService()
    frames = [history()]
    table = HistoryTable(
        history().iloc[1:],
        search=search_rows,
        renew=lambda: frames[0],
        subscribe=service.subscribe,
        background=clock.background,
    )
    assert len(table) == len(history()) - 1
    chosen = str(table.frame.index[0])
    announced = Announcements(table.controls)
    table.select([chosen])
    assert announced.texts == ["1–5 of 5 · 1 chosen"]

    service.change()
    clock.wait(0.9)

    assert len(table) == len(history())
    assert table.ids == [chosen]
    assert "1–6 of 6 · 1 chosen" in table.controls.words.value
    assert len(announced.texts) == 1, "only changes by the user are announced"


def test_a_panel_updates_its_heading_and_the_open_page(clock: Clock) -> None:
    service = FakeService()
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
    panel = Panel(pages, snapshot=str, background=clock.background)
    clock.run()
    panel.page = "Costs"
    clock.run()
    assert "9 left" in texts(panel)

    service.change()
    clock.wait(0.9)
    assert "8 left" in texts(panel)
    assert built == {"Costs": 2, "Create": 1}

    panel.page = "Create"
    clock.run()
    service.change()
    clock.wait(0.9)
    assert built == {"Costs": 2, "Create": 1}
    panel.page = "Costs"
    clock.run()
    assert built == {"Costs": 3, "Create": 1}


def test_an_account_panel_updates_its_balance(clock: Clock) -> None:
    service = FakeService()
    left = [Decimal(10)]
    panel = AccountPanel(
        lambda: Facts("here", wire.Account(id="a", name="Ada", credits=left[0])),
        subscribe=service.subscribe,
        background=clock.background,
    )
    clock.run()
    assert "10 credits" in texts(panel)

    left[0] = Decimal(9)
    service.change()
    clock.wait(0.9)

    assert "9 credits" in texts(panel)


def test_a_visible_panel_checks_the_service_of_its_open_account(clock: Clock) -> None:
    checks: list[str] = []
    one, other = (
        PageSet(
            [PanelPage("One", HTML)], subscribe=lambda _, name=name: lambda: checks.append(name)
        )
        for name in ("one", "other")
    )
    panel = Panel(one, snapshot=str, background=clock.background)
    (script,) = every(panel, Accessibility)
    assert script.follows

    send(script, {"look": True})
    panel.page_set = other
    send(script, {"look": True})

    assert checks == ["one", "other"]
