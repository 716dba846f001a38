"""A generated picture, dropped anywhere on a form, fills it in with its metadata."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import check_part, open_cells
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

CELLS = (
    "import kit\nstudio = kit.connect()\n"
    'made = studio.generate("poster", "a red hill", size=512)\nmade.save("hill.png")',
    'studio.form("poster", "a lake")',
    'studio.form("title-card", "Lakes")',
)
DRAG = """(part, [content, kinds]) => {
    const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
    const carried = new DataTransfer();
    carried.items.add(new File([bytes], "hill.png", { type: "image/png" }));
    const options = { dataTransfer: carried, bubbles: true, cancelable: true };
    for (const kind of kinds) part.dispatchEvent(new DragEvent(kind, options));
}"""


def test_a_picture_dropped_on_a_form_fills_it_in(lab: Lab, browser: Browser) -> None:
    """Also on the form of another model, which switches to the model of the picture."""
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        form = notebook.output(1).locator(".kit-form")
        content = base64.b64encode(Path(lab.root, "hill.png").read_bytes()).decode()
        price = form.locator(".kit-price")
        price.evaluate(DRAG, [content, ["dragenter", "dragover"]])
        zone = form.locator(".kit-drop")
        expect(zone).to_contain_text("Drop a generated picture or video here")
        price.evaluate(DRAG, [content, ["dragover", "drop"]])
        expect(form).to_contain_text("filled in from hill.png")
        expect(form.get_by_label("prompt")).to_have_value("a red hill")
        check_part(notebook, "form-from-file", ".kit-form")

        other = notebook.output(2).locator(".kit-form")
        price = other.locator(".kit-price")
        price.evaluate(DRAG, [content, ["dragenter", "dragover"]])
        zone = other.get_by_role("group", name="Upload: a generated file")
        expect(zone).to_be_visible()
        price.evaluate(DRAG, [content, ["dragover", "drop"]])
        expect(other).to_contain_text("made by poster; the form is changed to it")
        expect(other.get_by_label("prompt")).to_have_value("a red hill")
        expect(other.locator(".kit-inputs b").first).to_have_text("Poster Landscape")
        prompt = other.get_by_label("prompt")
        prompt.fill("a {red|blue} hill in {fog|rain}")
        expect(price).to_contain_text("4 variants")
        other.get_by_label("variants").fill("2")
        other.get_by_label("variants").press("Tab")
        expect(price).to_contain_text("2 variants of 4, drawn at random")
