"""The panel in JupyterLab: every page, by mouse and by keyboard."""

import json

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.cells import check_part, open_cells
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

CELLS = ("import kit\nstudio = kit.connect()", "panel = studio.panel()\npanel")


def test_the_panel_generates_a_picture_and_works_on_a_narrow_page(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        here = page.locator(".kit-page:visible")
        expect(here).to_contain_text("Poster Landscape")
        expect(page.locator(".kit-top")).to_contain_text("1,000 credits")

        page.get_by_placeholder("search models").fill("flat layered landscapes")
        expect(here).to_contain_text("1 of ")
        here.get_by_role("button", name="Use").locator("visible=true").click()

        form = page.locator(".kit-form")
        expect(form).to_contain_text("Poster Landscape")
        form.get_by_label("prompt").fill("a misty lake at dawn")
        expect(form).to_contain_text("balance afterwards")
        form.get_by_role("button", name="Generate").click()
        picture = page.locator(".kit-page:visible .kit-result img").first
        expect(picture).to_be_visible(timeout=30_000)
        assert picture.evaluate("image => image.naturalWidth") >= 320
        expect(page.locator(".kit-top")).to_contain_text("999.9")

        tab(page, "History").click()
        expect(here).to_contain_text("a misty lake at dawn")
        expect(page.locator(".kit-top")).to_contain_text("999.9")
        for name, words in (
            ("Costs", "spent today"),
            ("Write", "Suggest a title"),
            ("Account", "Demo"),
        ):
            tab(page, name).click()
            expect(here).to_contain_text(words)
        expect(page.get_by_role("button", name="Refresh")).to_have_count(1)
        check_part(notebook, "panel", ".kit-panel")

        page.set_viewport_size({"width": 720, "height": 1000})
        tab(page, "Models").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(tab(page, "Create")).to_have_attribute("aria-selected", "true")
        expect(form.get_by_label("prompt")).to_have_value("a misty lake at dawn")
        overflow = "panel => panel.scrollWidth - panel.clientWidth"
        assert page.locator(".kit-panel").evaluate(overflow) <= 0
        check_part(notebook, "panel-created", ".kit-panel")
        page.set_viewport_size({"width": 420, "height": 1000})
        labels = page.locator(".kit-panel .lm-TabBar-tabLabel")
        assert labels.evaluate_all("tabs => tabs.every(t => t.scrollWidth <= t.clientWidth)")

        assert notebook.errors() == []
        assert "cs_test_" not in json.dumps(notebook.save())


def tab(page: Page, name: str) -> Locator:
    return page.locator(".kit-panel").get_by_role("tab", name=name, exact=True)
