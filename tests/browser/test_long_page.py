"""The focus in a table of a thousand rows: it is kept without a slow search."""

from importlib import resources

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

ROWS = 1000
_ROW = """<div class="jupyter-widgets widget-checkbox">
<label class="widget-label-basic"><input type="checkbox"><span>row {}</span></label></div>"""
#: Counts reads of the labels of an input, for which the browser searches the whole page.
_COUNT_READS = """() => {
    const { prototype } = HTMLInputElement;
    const { get } = Object.getOwnPropertyDescriptor(prototype, "labels");
    window.reads = 0;
    const counted = { get() { window.reads += 1; return get.call(this); } };
    Object.defineProperty(prototype, "labels", counted);
}"""
_REDRAW = """async () => {
    const root = document.querySelector("#root"), before = root.innerHTML;
    root.append(document.createElement("i"));
    await new Promise(done => setTimeout(done, 150));
    root.innerHTML = before;
}"""


def test_a_redrawn_checkbox_keeps_the_focus_without_reading_labels(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(f'<div id="root">{"".join(map(_ROW.format, range(ROWS)))}</div>')
    script = resources.files("kit.widgets").joinpath("focus.js").read_text("utf-8")
    page.add_script_tag(content=script)
    page.evaluate(_COUNT_READS)
    page.evaluate("keepFocus(document.querySelector('#root'), new AbortController().signal)")
    page.evaluate("n => document.querySelectorAll('input')[n].focus()", 700)

    page.evaluate(_REDRAW)

    focused = page.locator("label:has(:focus)")
    expect(focused).to_have_text("row 700")
    assert page.evaluate("window.reads") == 0
    page.close()
