"""Widgets with high contrast, in a very narrow output, without seeing, and by keyboard."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from kit import wire
from kit.explore.sweeps.sheet import Sheet, Tile
from kit.widgets import preview
from kit.widgets.compare import Comparison
from kit.widgets.gallery import Gallery
from tests.browser.cells import open_cells
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook
from tests.widgets.gallery_items import new_item

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()\n"
    'made = [studio.generate("flat", "a lake", seed=n) for n in range(2)]',
    'studio.form("flat", "a lake")',
    "kit.compare(*made, blind=True)",
    'studio.form("clay")',
)


def read_style(part: Locator, name: str) -> str:
    value: str = part.evaluate("(part, name) => getComputedStyle(part)[name]", name)
    return value


def read_box(part: Locator) -> dict[str, float]:
    box = part.bounding_box()
    assert box
    return {**box}


def test_widgets_can_be_used_on_unusual_screens(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        check_that_the_focus_is_seen(notebook)
        rank_by_keyboard(notebook)
        generate_and_enlarge_by_keyboard(notebook)
        check_high_contrast(notebook)
        check_a_narrow_output(notebook)
        assert notebook.errors() == []


def check_that_the_focus_is_seen(notebook: Notebook) -> None:
    page, form = notebook.page, notebook.output(1)
    form.get_by_role("textbox", name="prompt").focus()
    kinds = set()
    while form.locator(":focus").count():
        focused = form.locator(":focus")
        assert read_style(focused, "outline").endswith("solid 2px"), focused
        kinds.add(focused.evaluate("part => part.tagName"))
        page.keyboard.press("Tab")
    assert kinds == {"TEXTAREA", "DIV", "BUTTON", "INPUT", "SELECT"}


def rank_by_keyboard(notebook: Notebook) -> None:
    blind = notebook.output(2).locator(".kit-blind")
    blind.get_by_role("button", name="No difference").focus()
    notebook.page.keyboard.press("Enter")
    expect(blind).to_contain_text("Ranking, best first")
    expect(blind).to_be_focused()  # its buttons are gone


def generate_and_enlarge_by_keyboard(notebook: Notebook) -> None:
    page, form = notebook.page, notebook.output(1)
    form.get_by_role("button", name="Generate").focus()
    page.keyboard.press("Enter")
    expect(form.get_by_role("status").filter(has_text="Flat: completed")).to_have_count(1)
    enlarge = form.get_by_role("button", name="Enlarge")
    enlarge.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="a lake")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Fit to window")).to_be_focused()
    expect(dialog.get_by_role("img")).to_have_css("max-width", "none")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(enlarge).to_be_focused()


def check_high_contrast(notebook: Notebook) -> None:
    """Check that buttons have borders, and that a chosen one differs: backgrounds are removed."""
    page, form = notebook.page, notebook.output(1)
    page.emulate_media(forced_colors="active")
    small, big = (form.get_by_role("button", name=name) for name in ("small", "big"))
    expect(small).to_have_attribute("aria-pressed", "true")
    assert read_style(small, "backgroundColor") != read_style(big, "backgroundColor")
    assert read_style(form.get_by_role("button", name="Generate"), "borderStyle") == "solid"
    page.emulate_media(forced_colors="none")


def check_a_narrow_output(notebook: Notebook) -> None:
    page, form = notebook.page, notebook.output(1)
    page.evaluate("() => jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": 350, "height": 900})
    prompt = form.get_by_role("textbox", name="prompt")
    label = form.get_by_text("prompt *", exact=True)
    page.wait_for_function("part => part.clientWidth > 150", arg=prompt.element_handle())
    assert read_box(label)["y"] + read_box(label)["height"] <= read_box(prompt)["y"] + 1
    slider, typed = (read_box(form.get_by_role(it, name="count")) for it in ("slider", "textbox"))
    middle, other = (box["y"] + box["height"] / 2 for box in (slider, typed))
    assert middle == pytest.approx(other, abs=3), "a slider and its number are in one line"
    path = notebook.output(3).get_by_role("textbox", name="portrait")
    for width in (600, 500, 400):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("part => part.clientWidth > 140", arg=path.element_handle())


BOXES = (
    "import ipywidgets as widgets\nimport kit\nstudio = kit.connect()\n"
    'left, small = widgets.Layout(align_items="flex-start"), widgets.Layout(width="500px")\n'
    'made = [studio.form("flat"), studio.panel(), studio.writing("SPACE")]',
    "display(*(widgets.VBox([part], layout=left) for part in made))",
    "display(*(widgets.HBox([part], layout=small) for part in made))",
)


def test_widgets_take_the_room_that_boxes_of_users_have(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *BOXES) as notebook:
        notebook.run_all()
        for cell, least, most in ((1, 700, 1240), (2, 480, 500)):
            for name in ("kit-form", "kit-panel", "kit-writing"):
                part = notebook.output(cell).locator(f".{name}").first
                expect(part).to_be_visible()
                assert least <= read_box(part)["width"] <= most, (name, read_box(part))
        assert notebook.errors() == []


def test_long_words_do_not_widen_the_output(browser: Browser) -> None:
    word = "a lake " + "unbreakable" * 40
    failed = wire.Generation(id="gen_1", status="failed", prompt=word, parameters={"text": word})
    items = [new_item(f"gen_{n}", prompt=word + str(n)) for n in range(2)]
    sheet = Sheet("sweep", ["seed 1"], [word], {(0, 0): Tile(None, "0.02 credits")})
    views = (
        preview.generation(failed, None),
        Gallery(items).html().replace("<details", "<details open"),
        Comparison(items).html(),
        sheet.html(),
    )
    page = browser.new_page(viewport={"width": 480, "height": 800})
    for html in views:
        page.set_content(html)
        page.evaluate(
            "() => { for (const part of document.querySelectorAll('*'))"
            " if (getComputedStyle(part).overflowX === 'auto') part.style.overflow = 'visible'; }"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 480, html[:200]
    page.close()
