"""The focus in a table of a thousand rows: it is kept, and nobody waits for that."""

from importlib import resources

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

ROWS = 1000
_ROW = """<div class="jupyter-widgets widget-checkbox">
<label class="widget-label-basic"><input type="checkbox"><span>row {}</span></label></div>"""
#: Counts how often somebody asks for the labels of a part, for which the page looks everywhere.
_COUNTED = """() => {
    const { prototype } = HTMLInputElement;
    const { get } = Object.getOwnPropertyDescriptor(prototype, "labels");
    window.asked = 0;
    const counted = { get() { window.asked += 1; return get.call(this); } };
    Object.defineProperty(prototype, "labels", counted);
}"""
_DRAWN_ANEW = """async () => {
    const root = document.querySelector("#root"), before = root.innerHTML;
    root.append(document.createElement("i"));
    await new Promise(done => setTimeout(done, 150));
    root.innerHTML = before;
}"""


def test_a_box_that_is_drawn_anew_has_the_focus_and_no_label_is_looked_for(
    browser: Browser,
) -> None:
    page = browser.new_page()
    page.set_content(f'<div id="root">{"".join(map(_ROW.format, range(ROWS)))}</div>')
    script = resources.files("kit.widgets").joinpath("focus.js").read_text("utf-8")
    page.add_script_tag(content=script)
    page.evaluate(_COUNTED)
    page.evaluate("keepFocus(document.querySelector('#root'), new AbortController().signal)")
    page.evaluate("n => document.querySelectorAll('input')[n].focus()", 700)

    page.evaluate(_DRAWN_ANEW)

    focused = page.locator("label:has(:focus)")
    expect(focused).to_have_text("row 700")
    assert page.evaluate("window.asked") == 0
    page.close()
