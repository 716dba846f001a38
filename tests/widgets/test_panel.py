"""The panel: pages that are built when they are looked at, and what is said when they cannot be."""

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
from tests.widgets.authoring import click, found, text
from tests.widgets.forming import Shop, Stage

MODELS = [
    wire.Model(id="poster", title="Poster", asset_type="image", description="flat <hills>"),
    wire.Model(id="drift", title="Drift", asset_type="video", description="a slow camera"),
    wire.Model(id="plain", asset_type="image"),
]

SAVED = partial(render_panel, "Panel", (), "studio.panel()")


class Built:
    """Pages that count how often they are built; `broken` says which cannot be."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}
        self.broken: dict[str, Exception] = {}

    def page(self, name: str, *, rebuilds: bool = False) -> PanelPage:
        def build() -> Any:
            self.count[name] = self.count.get(name, 0) + 1
            if name in self.broken:
                raise self.broken[name]
            return ipywidgets.HTML(f"page {name} {self.count[name]}")

        return PanelPage(name, build, rebuilds)


@pytest.fixture
def built() -> Built:
    return Built()


@pytest.fixture
def panel(built: Built, stage: Stage) -> Panel:
    pages = [built.page("Models", rebuilds=True), built.page("Create"), built.page("Costs")]
    page_set = PageSet(pages, heading=lambda: "<b>10 credits</b>")
    return Panel(page_set, snapshot=SAVED, background=stage.background)


def test_a_page_is_built_when_its_tab_is_opened_first(
    panel: Panel, built: Built, stage: Stage
) -> None:
    assert built.count == {}
    assert "loading" in text(panel)

    stage.run()
    assert built.count == {"Models": 1}

    panel.page = "Costs"
    stage.run()
    panel.page = "Models"
    stage.run()
    assert built.count == {"Models": 1, "Costs": 1}
    assert "page Costs 1" in text(panel)


def test_a_page_that_fails_says_why_and_can_be_tried_again(
    panel: Panel, built: Built, stage: Stage
) -> None:
    stage.run()
    built.broken["Create"] = NoAnswerError("no <answer>")
    panel.page = "Create"
    stage.run()
    assert "no &lt;answer&gt;" in text(panel)

    del built.broken["Create"]
    click(panel, "Try again")
    stage.run()

    assert "page Create 2" in text(panel)
    assert "answer" not in text(panel)


def test_a_refresh_updates_the_open_page_by_its_own_refresh(stage: Stage) -> None:
    class Account(ipywidgets.HTML):
        def refresh(self) -> None:
            self.value += " refreshed"

    account = Account("account")
    pages = [PanelPage("Models", ipywidgets.HTML), PanelPage("Account", lambda: account)]
    panel = Panel(PageSet(pages), snapshot=SAVED, background=stage.background)
    panel.page = "Account"
    stage.run()

    panel.refresh()
    stage.run()
    assert account.value == "account refreshed"

    panel.page = "Models"
    panel.refresh()
    assert account.value == "account refreshed"


def test_what_builds_no_widget_is_told_too(stage: Stage) -> None:
    panel = Panel(
        PageSet([PanelPage("Odd", lambda: "a text")]), snapshot=str, background=stage.background
    )
    stage.run()

    assert "TraitError" in text(panel)


def test_asking_anew_builds_only_pages_that_nothing_is_typed_in(
    panel: Panel, built: Built, stage: Stage
) -> None:
    stage.run()
    click(panel, "Refresh")
    stage.run()
    assert "page Models 2" in text(panel)

    panel.page = "Create"
    stage.run()
    click(panel, "Refresh")
    stage.run()
    assert built.count == {"Models": 2, "Create": 1}


def test_what_is_not_shown_any_more_is_closed(panel: Panel, stage: Stage) -> None:
    def page(words: str) -> Any:
        return next(one for one in found(panel, ipywidgets.HTML) if one.value == words)

    stage.run()
    first = page("page Models 1")
    click(panel, "Refresh")
    stage.run()
    second = page("page Models 2")
    assert (first.comm, second.comm is None) == (None, False)

    panel.close()

    assert second.comm is None


def test_the_line_above_is_asked_for_whenever_a_tab_is_opened(stage: Stage, built: Built) -> None:
    lines = iter(["10 credits", "9 credits"])
    pages = PageSet([built.page("One"), built.page("Two")], heading=lambda: next(lines))
    panel = Panel(pages, snapshot=str, background=stage.background)
    stage.run()
    assert "10 credits" in text(panel)

    panel.page = "Two"
    stage.run()
    assert "9 credits" in text(panel)

    panel.page = "One"
    stage.run()
    assert "StopIteration" in text(panel), "a line that cannot be told says so"


def test_an_unknown_page_is_refused_by_name(panel: Panel) -> None:
    with pytest.raises(ValueError, match="no page 'Cost'; its pages are Models, Create, Costs"):
        panel.page = "Cost"


def test_a_panel_prints_the_same_in_each_run(panel: Panel, stage: Stage) -> None:
    stage.run()
    bundle = panel._repr_mimebundle_()

    assert repr(panel) == bundle["text/plain"] == "<Panel Models · Create · Costs>"
    assert "studio.panel()" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_another_book_is_opened_on_the_same_page_and_found_again_as_it_was(
    panel: Panel, built: Built, stage: Stage
) -> None:
    names = ("Models", "Create", "Costs")
    mine = panel.page_set
    other = PageSet(
        [built.page(n) for n in names], heading=lambda: "Bob", banner="<div>there</div>"
    )
    panel.page = "Create"
    stage.run()
    mine.built[1][0].value = "typed"

    panel.page_set = other
    stage.run()
    assert panel.page == "Create"
    assert "page Create 2" in text(panel)
    assert "Bob" in text(panel)
    assert "there" in text(panel)
    assert "typed" not in text(panel)

    panel.page_set = mine
    stage.run()
    assert "typed" in text(panel)
    assert "10 credits" in text(panel)
    assert "there" not in text(panel)
    assert built.count == {"Models": 1, "Create": 2}


def test_what_a_book_says_late_is_not_shown_over_another(
    panel: Panel, built: Built, stage: Stage
) -> None:
    stage.run()
    panel.refresh()
    late = stage.begun.pop(0)
    panel.page_set = PageSet([built.page("Models")], heading=lambda: "Bob")
    stage.run()

    late()

    assert "Bob" in text(panel)
    assert "10 credits" not in text(panel)


def test_a_saved_panel_names_some_models_and_how_many_more() -> None:
    models = [wire.Model(id=f"m{n}", title=f"<M{n}>", asset_type="image") for n in range(15)]
    html = render_panel("a <place>", models, "await studio.panel()")

    assert "a &lt;place&gt;" in html
    assert html.count("&lt;M") == 12
    assert "and 3 more models" in html
    assert "await studio.panel()" in html


def test_the_heading_escapes_what_a_service_says() -> None:
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
def test_models_are_found_by_kind_and_words(kind: str, words: str, shown: list[str]) -> None:
    catalog = ModelPage(MODELS, use=print)
    found(catalog, ipywidgets.ToggleButtons)[0].value = kind
    found(catalog, ipywidgets.Text)[0].value = words

    assert catalog.shown == shown
    assert f"{len(shown)} of 3" in text(catalog)
    assert len(catalog.children[1].children) == len(shown)


def test_a_long_catalog_is_shown_in_portions() -> None:
    catalog = ModelPage([wire.Model(id=f"m{number}") for number in range(70)], use=print)
    rows, more = catalog.children[1], catalog.children[2]
    assert (len(rows.children), more.layout.display) == (30, None)

    more.click()
    more.click()

    assert (len(rows.children), more.layout.display) == (70, "none")
    assert len(catalog.shown) == 70
    found(catalog, ipywidgets.Text)[0].value = "m1"
    assert (len(rows.children), more.layout.display) == (11, "none")


def test_a_model_leads_to_where_it_is_used_and_is_escaped() -> None:
    used: list[str] = []
    catalog = ModelPage(MODELS, use=used.append)

    found(catalog, ipywidgets.Button)[1].click()

    assert used == ["drift"]
    assert "flat &lt;hills&gt;" in text(catalog)


def test_a_form_that_was_left_is_found_again_as_it_was(stage: Stage) -> None:
    bench = CreatePage(MODELS, form=lambda m: ipywidgets.Text(m.id), background=stage.background)
    stage.run()
    bench.form.value = "typed"
    bench.model = "drift"
    stage.run()
    assert bench.form.value == "drift"

    bench.model = "poster"

    assert bench.form.value == "typed"
    assert stage.begun == [], "nothing is built twice"


def test_a_form_that_becomes_that_of_another_model_is_found_as_its_form(
    stage: Stage, shop: Shop
) -> None:
    bench = CreatePage(
        MODELS,
        form=lambda model: Form(model, service=shop, background=stage.background),
        background=stage.background,
    )
    stage.run()
    form = bench.form

    assert form.switch("drift")

    assert (bench.model, bench.form, form.model.id) == ("drift", form, "drift")
    bench.model = "poster"
    stage.run()
    assert bench.form is not form
    assert bench.form.model.id == "poster"


def test_the_form_of_the_model_that_is_wanted_last_is_shown(stage: Stage) -> None:
    bench = CreatePage(
        MODELS, form=lambda m: ipywidgets.Text(m.id), model="drift", background=stage.background
    )
    bench.model = "poster"
    late, early = stage.begun
    early()
    late()

    assert bench.children[1].children == (bench.form,)
    assert bench.form.value == "poster"


def test_a_form_that_cannot_be_made_says_why(stage: Stage) -> None:
    def broken(_: wire.Model) -> Any:
        raise KitError("this model is odd")

    bench = CreatePage(MODELS, form=broken, background=stage.background)
    stage.run()

    assert "this model is odd" in text(bench)


def test_a_service_without_models_says_so(stage: Stage) -> None:
    bench = CreatePage([], form=ipywidgets.Text, background=stage.background)

    assert bench.model is None
    assert "no models" in text(bench)


def test_amounts_stand_in_tiles_and_what_nobody_knows_is_left_out() -> None:
    html = pages.figures([("left", None), ("spent <today>", Decimal("0.050"))])

    assert "left" not in html
    assert "spent &lt;today&gt;" in html
    assert "<b>0.05</b>" in html


def test_the_longest_bar_is_for_the_most() -> None:
    rows = [("a <b>", Decimal(4), "in 2"), ("c", Decimal(1), ""), ("free", Decimal(0), "")]
    html = pages.bars("By model", rows)

    assert "a &lt;b&gt;" in html
    assert [float(w) for w in re.findall(r"width:([\d.]+)%", html)] == [100, 25, 0]


def test_nothing_spent_has_columns_without_height() -> None:
    html = pages.columns("Days", [("2026-01-01", Decimal(0)), ("2026-01-02", Decimal(0))])

    assert re.findall(r"height:([\d.]+)%", html) == ["0.0", "0.0"]
    assert pages.columns("Days", [])
