"""Table and panels by keyboard: keys go to the widgets, and the focus is never lost."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()\n"
    'made = [studio.generate("flat", "a lake", seed=n, count=n + 1) for n in range(3)]',
    "studio.history.table(size=2)",
    "studio.panel()",
)


def press(part: Locator, key: str) -> None:
    """Press a key on the focused part; the page dispatches it as for a user."""
    expect(part).to_be_enabled()  # a disabled part takes no focus
    part.focus()
    part.page.keyboard.press(key)


def test_all_widgets_work_by_keyboard_and_keep_the_focus(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        use_the_table(notebook)
        choose_a_model_in_the_panel(notebook)
        write_a_script(notebook)
        create_and_revoke_a_key(notebook)
        assert notebook.errors() == []
        assert len(notebook.save()["cells"]) == 3, "no key was a command to the notebook"


def use_the_table(notebook: Notebook) -> None:
    page, table = notebook.page, notebook.output(1)
    head = table.get_by_role("button", name="credits")
    press(head, "Enter")
    sorted_by = table.get_by_role("columnheader", name="credits")
    expect(sorted_by).to_have_attribute("aria-sort", "descending")
    expect(head).to_be_focused()
    status = table.get_by_role("status")
    expect(status).to_have_text("1–2 of 3, sorted by credits, descending")

    # arrows choose in a list, a letter searches in it: neither is a notebook command
    filter_ = table.get_by_role("combobox", name="status")
    press(filter_, "ArrowDown")
    expect(filter_).to_have_value("completed")
    page.keyboard.press("a")
    page.keyboard.press("ArrowUp")
    expect(filter_).to_be_focused()

    forth, back = (table.get_by_role("button", name=n) for n in ("next page", "page before"))
    press(forth, "Space")
    expect(forth).to_be_disabled()
    expect(back).to_be_focused()
    page.keyboard.press("Space")
    expect(forth).to_be_focused()
    expect(table.get_by_role("spinbutton", name="page")).to_have_value("1")

    press(table.get_by_role("checkbox").first, "Space")
    none = table.get_by_role("button", name="clear selection")
    press(none, "Enter")
    expect(none).to_be_hidden()
    expect(table.locator(":focus")).to_have_count(1)


def choose_a_model_in_the_panel(notebook: Notebook) -> None:
    panel = notebook.output(2)
    panel.get_by_role("textbox", name="Search models").fill("flat layered landscapes")
    expect(panel.get_by_role("button", name="Use", exact=True)).to_have_count(1)
    press(panel.get_by_role("button", name="Use", exact=True), "Enter")
    tab = panel.get_by_role("tab", name="Create", exact=True)
    expect(tab).to_be_focused()
    expect(panel.get_by_role("tabpanel", name="Create")).to_be_visible()
    model = panel.get_by_label("Model", exact=True)
    expect(model).to_contain_text("Poster Landscape")


def write_a_script(notebook: Notebook) -> None:
    page, panel = notebook.page, notebook.output(2)
    press(panel.get_by_role("tab", name="Write", exact=True), "Enter")
    suggest = panel.get_by_role("button", name="Suggest a title")
    for count in (1, 2):
        press(suggest, "Enter")
        choices = panel.get_by_role("radiogroup", name="Suggestions").get_by_role("radio")
        expect(choices).to_have_count(count)
        expect(suggest).to_be_enabled()
        expect(suggest).to_be_focused()
    press(choices.last, "ArrowUp")
    expect(choices.first).to_be_checked()
    slider = panel.get_by_role("slider", name="Seconds")
    press(slider, "ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "31")
    two = panel.get_by_role("group", name="Variations").get_by_role("button", name="2")
    press(two, "Space")
    expect(two).to_have_attribute("aria-pressed", "true")
    write = panel.get_by_role("button", name="Write 2 scripts")
    press(write, "Enter")
    expect(panel.get_by_role("textbox", name="Script 2")).to_be_visible()
    expect(write).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel.locator(":focus")).to_have_count(1)


def create_and_revoke_a_key(notebook: Notebook) -> None:
    panel = notebook.output(2)
    press(panel.get_by_role("tab", name="Account", exact=True), "Enter")
    name = panel.get_by_placeholder("name of the key")
    name.fill("laptop")
    make = panel.get_by_role("button", name="Create key")
    press(make, "Enter")
    copied = panel.get_by_role("button", name="I have copied it")
    expect(copied).to_be_visible()
    expect(make).to_be_focused()
    press(copied, "Enter")
    expect(name).to_be_focused()
    press(panel.get_by_role("button", name="Revoke").last, "Enter")
    expect(panel.get_by_role("button", name="Keep")).to_be_focused()
    press(panel.get_by_role("button", name="Yes, revoke"), "Enter")
    expect(panel).to_contain_text("revoked")
    expect(panel.locator(":focus")).to_have_count(1)
