"""The writing panel in JupyterLab: from a topic to captions, by clicking."""

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import check_part, open_cells
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

CELLS = ("import kit\nstudio = kit.connect()", "writing = studio.writing('SPACE')\nwriting")


def test_the_writing_panel_creates_a_title_scripts_and_captions(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        panel = page.locator(".kit-writing")
        expect(panel).to_contain_text("0.05 credits")
        expect(panel).to_contain_text("balance afterwards 999.95")

        page.get_by_role("button", name="Write a script").click()
        expect(panel.get_by_role("alert")).to_contain_text("a script needs a title")

        title = panel.get_by_label("Title", exact=True)
        title.fill("x" * 201)
        expect(panel.locator(".kit-field-note", has_text="must have 1 to 200")).to_be_visible()
        expect(title).to_have_attribute("aria-invalid", "true")
        length = panel.locator(".widget-readout")
        length.fill("500")
        length.press("Enter")
        expect(panel).to_contain_text("500 is more than 180, the most; 180 is used")

        page.get_by_role("button", name="Suggest a title").click()
        expect(panel.get_by_label("Title", exact=True)).not_to_have_value("")
        expect(panel.get_by_role("alert")).to_have_count(0)
        panel.get_by_label("Hook", exact=True).check()
        panel.get_by_role("button", name="2", exact=True).click()
        expect(panel).to_contain_text("for variations 2 · balance afterwards 999.65")
        page.get_by_role("button", name="Write 2 scripts").click()

        texts = panel.get_by_role("textbox", name="Script ")
        expect(texts).to_have_count(2)
        expect(panel.locator(".kit-script").first).to_contain_text("s to speak")
        expect(panel).to_contain_text("balance afterwards 999.35")
        left, right = (texts.nth(i).bounding_box() for i in range(2))
        assert left is not None
        assert right is not None
        assert left["y"] == right["y"], "variations stand side by side"

        texts.first.fill("Five words of my own.")
        expect(panel.locator(".kit-script").first).to_contain_text("5 words")
        page.evaluate(
            "() => change(navigator, 'clipboard', { value: {"
            "writeText: text => { window.copied = text; return Promise.resolve(); } } })"
        )
        page.get_by_role("button", name="Copy script 1").click()
        assert page.evaluate("window.copied") == "Five words of my own."

        page.get_by_role("button", name="Make captions").first.click()
        captions = panel.locator(".kit-form").get_by_label("captions")
        expect(captions).to_have_value("Five words of my own.")
        check_part(notebook, "writing", ".kit-writing")

        assert notebook.errors() == []
        assert "cs_test_" not in json.dumps(notebook.save())
