"""The panel: pages that are built when they are opened, and the errors of those that fail."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial
from typing import Any

import ipywidgets
import pytest

from kit import wire
from kit.errors import KitError, NoAnswerError
from kit.widgets.form import Form
from kit.widgets.panel import PageSet, Panel, PanelPage, heading, pages, render_panel
from kit.widgets.panel.pages import CreatePage, ModelPage
from tests.widgets.forms import Api, Clock
from tests.widgets.writers import click, search, text

MODELS = [
    wire.Model(id="poster", title="Poster", asset_type="image", description="flat <hills>"),
    wire.Model(id="drift", title="Drift", asset_type="video", description="a slow camera"),
    wire.Model(id="plain", asset_type="image"),
]

SAVED = partial(render_panel, "Panel", (), "studio.panel()")


class Tabs:
    """Pages that count how often they are built; `errors` has the errors of those that fail."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}
        self.errors: dict[str, Exception] = {}

    def page(self, name: str, *, rebuilds: bool = False) -> PanelPage:
        def build() -> Any:
            self.count[name] = self.count.get(name, 0) + 1
            if name in self.errors:
                raise self.errors[name]
            return ipywidgets.HTML(f"page {name} {self.count[name]}")

        return PanelPage(name, build, rebuilds)


@pytest.fixture
def tabs() -> Tabs:
    return Tabs()


@pytest.fixture
def panel(tabs: Tabs, clock: Clock) -> Panel:
    pages = [tabs.page("Models", rebuilds=True), tabs.page("Create"), tabs.page("Costs")]
    page_set = PageSet(pages, heading=lambda: "<b>10 credits</b>")
    return Panel(page_set, snapshot=SAVED, background=clock.background)


def test_a_page_is_built_when_its_tab_is_first_opened(
    panel: Panel, tabs: Tabs, clock: Clock
) -> None:
    assert tabs.count == {}
    assert "loading" in text(panel)

    clock.run()
    assert tabs.count == {"Models": 1}

    panel.page = "Costs"
    clock.run()
    panel.page = "Models"
    clock.run()
    assert tabs.count == {"Models": 1, "Costs": 1}
    assert "page Costs 1" in text(panel)


def test_a_failed_page_shows_the_error_and_can_be_retried(
    panel: Panel, tabs: Tabs, clock: Clock
) -> None:
    clock.run()
    tabs.errors["Create"] = NoAnswerError("no <answer>")
    panel.page = "Create"
    clock.run()
    assert "no &lt;answer&gt;" in text(panel)

    del tabs.errors["Create"]
    click(panel, "Try again")
    clock.run()

    assert "page Create 2" in text(panel)
    assert "answer" not in text(panel)


def test_a_refresh_calls_the_refresh_method_of_the_open_page(clock: Clock) -> None:
    class Account(ipywidgets.HTML):
        def refresh(self) -> None:
            self.value += " refreshed"

    account = Account("account")
    pages = [PanelPage("Models", ipywidgets.HTML), PanelPage("Account", lambda: account)]
    panel = Panel(PageSet(pages), snapshot=SAVED, background=clock.background)
    panel.page = "Account"
    clock.run()

    panel.refresh()
    clock.run()
    assert account.value == "account refreshed"

    panel.page = "Models"
    panel.refresh()
    assert account.value == "account refreshed"


def test_a_page_that_builds_no_widget_shows_an_error(clock: Clock) -> None:
    panel = Panel(
        PageSet([PanelPage("Odd", lambda: "a text")]), snapshot=str, background=clock.background
    )
    clock.run()

    assert "TraitError" in text(panel)


def test_a_refresh_rebuilds_only_pages_without_user_input(
    panel: Panel, tabs: Tabs, clock: Clock
) -> None:
    clock.run()
    click(panel, "Refresh")
    clock.run()
    assert "page Models 2" in text(panel)

    panel.page = "Create"
    clock.run()
    click(panel, "Refresh")
    clock.run()
    assert tabs.count == {"Models": 2, "Create": 1}


def test_a_page_that_is_no_longer_shown_is_closed(panel: Panel, clock: Clock) -> None:
    def page(words: str) -> Any:
        return next(one for one in search(panel, ipywidgets.HTML) if one.value == words)

    clock.run()
    first = page("page Models 1")
    click(panel, "Refresh")
    clock.run()
    second = page("page Models 2")
    assert (first.comm, second.comm is None) == (None, False)
    assert (first.layout.comm, first.style.comm) == (None, None)

    panel.close()

    assert second.comm is None


def test_the_heading_is_updated_when_a_tab_is_opened(clock: Clock, tabs: Tabs) -> None:
    lines = iter(["10 credits", "9 credits"])
    pages = PageSet([tabs.page("One"), tabs.page("Two")], heading=lambda: next(lines))
    panel = Panel(pages, snapshot=str, background=clock.background)
    clock.run()
    assert "10 credits" in text(panel)

    panel.page = "Two"
    clock.run()
    assert "9 credits" in text(panel)

    panel.page = "One"
    clock.run()
    assert "StopIteration" in text(panel), "an error of the heading is shown"


def test_an_unknown_page_is_refused_with_the_known_ones(panel: Panel) -> None:
    sentence = "no page 'Cost'; its pages are Models, Create, Costs"
    with pytest.raises(ValueError, match=sentence) as caught:
        panel.page = "Cost"
    assert len(caught.value._render_traceback_()) == 3  # type: ignore[attr-defined]


def test_the_repr_of_a_panel_is_the_same_in_each_run(panel: Panel, clock: Clock) -> None:
    clock.run()
    bundle = panel._repr_mimebundle_()

    assert repr(panel) == bundle["text/plain"] == "<Panel Models · Create · Costs>"
    assert "studio.panel()" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_another_page_set_opens_on_the_same_page_and_the_first_keeps_its_state(
    panel: Panel, tabs: Tabs, clock: Clock
) -> None:
    names = ("Models", "Create", "Costs")
    mine = panel.page_set
    other = PageSet([tabs.page(n) for n in names], heading=lambda: "Bob", banner="<div>there</div>")
    panel.page = "Create"
    clock.run()
    mine.built[1][0].value = "typed"

    panel.page_set = other
    clock.run()
    assert panel.page == "Create"
    assert "page Create 2" in text(panel)
    assert "Bob" in text(panel)
    assert "there" in text(panel)
    assert "typed" not in text(panel)

    panel.page_set = mine
    clock.run()
    assert "typed" in text(panel)
    assert "10 credits" in text(panel)
    assert "there" not in text(panel)
    assert tabs.count == {"Models": 1, "Create": 2}


def test_a_late_heading_of_a_page_set_does_not_replace_that_of_another(
    panel: Panel, tabs: Tabs, clock: Clock
) -> None:
    clock.run()
    panel.refresh()
    late = clock.pending.pop(0)
    panel.page_set = PageSet([tabs.page("Models")], heading=lambda: "Bob")
    clock.run()

    late()

    assert "Bob" in text(panel)
    assert "10 credits" not in text(panel)


def test_a_saved_panel_lists_some_models_and_the_number_of_others() -> None:
    models = [wire.Model(id=f"m{n}", title=f"<M{n}>", asset_type="image") for n in range(15)]
    html = render_panel("a <place>", models, "await studio.panel()")

    assert "a &lt;place&gt;" in html
    assert html.count("&lt;M") == 12
    assert "and 3 more models" in html
    assert "await studio.panel()" in html


def test_the_heading_escapes_text_of_the_service() -> None:
    html = heading("https://x.test/<a>", wire.Account(id="a", name="<Ada>"))

    assert "<Ada>" not in html
    assert "<a>" not in html


@pytest.mark.parametrize(
    ("kind", "words", "shown"),
    [
        ("all", "", ["poster", "drift", "plain"]),
        ("video", "", ["drift"]),
        ("image", "POSTER", ["poster"]),
        ("all", "slow camera", ["drift"]),
        ("image", "camera", []),
    ],
)
def test_models_are_filtered_by_type_and_words(kind: str, words: str, shown: list[str]) -> None:
    catalog = ModelPage(MODELS, use=print)
    search(catalog, ipywidgets.ToggleButtons)[0].value = kind
    search(catalog, ipywidgets.Text)[0].value = words

    assert catalog.shown == shown
    assert f"{len(shown)} of 3" in text(catalog)
    assert len(catalog.children[1].children) == len(shown)


def test_a_long_list_of_models_is_shown_in_portions() -> None:
    catalog = ModelPage([wire.Model(id=f"m{number}") for number in range(70)], use=print)
    rows, more = catalog.children[1], catalog.children[2]
    assert (len(rows.children), more.layout.display) == (30, None)

    more.click()
    more.click()

    assert (len(rows.children), more.layout.display) == (70, "none")
    assert len(catalog.shown) == 70
    search(catalog, ipywidgets.Text)[0].value = "m1"
    assert (len(rows.children), more.layout.display) == (11, "none")


def test_the_use_button_of_a_model_selects_it_and_its_text_is_escaped() -> None:
    used: list[str] = []
    catalog = ModelPage(MODELS, use=used.append)

    search(catalog, ipywidgets.Button)[1].click()

    assert used == ["drift"]
    assert "flat &lt;hills&gt;" in text(catalog)


def test_a_form_keeps_its_values_while_another_model_is_chosen(clock: Clock) -> None:
    bench = CreatePage(MODELS, form=lambda m: ipywidgets.Text(m.id), background=clock.background)
    clock.run()
    bench.form.value = "typed"
    bench.model = "drift"
    clock.run()
    assert bench.form.value == "drift"

    bench.model = "poster"

    assert bench.form.value == "typed"
    assert clock.pending == [], "no form is built twice"
    bench.model = "drift"
    hidden, bench.model = bench.form, "plain"
    bench.close()
    assert hidden.comm is None, "hidden forms are closed, too"


def test_a_form_that_switches_its_model_is_the_form_of_that_model(clock: Clock, api: Api) -> None:
    bench = CreatePage(
        MODELS,
        form=lambda model: Form(model, service=api, background=clock.background),
        background=clock.background,
    )
    clock.run()
    form = bench.form

    assert form.switch("drift")

    assert (bench.model, bench.form, form.model.id) == ("drift", form, "drift")
    bench.model = "poster"
    clock.run()
    assert bench.form is not form
    assert bench.form.model.id == "poster"


def test_the_form_of_the_last_chosen_model_is_shown(clock: Clock) -> None:
    bench = CreatePage(
        MODELS, form=lambda m: ipywidgets.Text(m.id), model="drift", background=clock.background
    )
    bench.model = "poster"
    late, early = clock.pending
    early()
    late()

    assert bench.children[1].children == (bench.form,)
    assert bench.form.value == "poster"


def test_a_form_that_cannot_be_built_shows_the_error(clock: Clock) -> None:
    def errors(_: wire.Model) -> Any:
        raise KitError("this model is odd")

    bench = CreatePage(MODELS, form=errors, background=clock.background)
    clock.run()

    assert "this model is odd" in text(bench)


def test_a_service_without_models_shows_a_message(clock: Clock) -> None:
    bench = CreatePage([], form=ipywidgets.Text, background=clock.background)

    assert bench.model is None
    assert "no models" in text(bench)


def test_amounts_are_shown_in_tiles_and_unknown_ones_are_left_out() -> None:
    html = pages.figures([("left", None), ("spent <today>", Decimal("0.050"))])

    assert "left" not in html
    assert "spent &lt;today&gt;" in html
    assert "<b>0.05</b>" in html


def test_bars_are_relative_to_the_largest_amount() -> None:
    rows = [("a <b>", Decimal(4), "in 2"), ("c", Decimal(1), ""), ("free", Decimal(0), "")]
    html = pages.bars("By model", rows)

    assert "a &lt;b&gt;" in html
    assert [float(w) for w in re.findall(r"width:([\d.]+)%", html)] == [100, 25, 0]


def test_columns_of_days_without_spending_have_no_height() -> None:
    html = pages.columns("Days", [("2026-01-01", Decimal(0)), ("2026-01-02", Decimal(0))])

    assert re.findall(r"height:([\d.]+)%", html) == ["0.0", "0.0"]
    assert pages.columns("Days", [])
