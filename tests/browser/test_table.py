"""The history table in JupyterLab: paging, sorting, choosing, dark theme, reload, no kernel."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.cells import check_part
from tests.browser.notebook import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()\n"
    'prompts = ["a lake", "a hill", "a town", "a deep lake", "a road"]\n'
    'made = [studio.generate("flat", p, seed=n, count=n + 1) for n, p in enumerate(prompts)]',
    "table = studio.history.table(size=3)\ntable",
    "print([chosen.prompt for chosen in table.selected])",
)


def rows(notebook: Notebook) -> Locator:
    return notebook.page.locator(".kit-table-row")


def box(notebook: Notebook, words: str) -> Locator:
    return notebook.page.get_by_role("checkbox", name=words)


def test_a_history_table_is_paged_sorted_searched_selected_and_restored(notebook: Notebook) -> None:
    page, table = notebook.page, notebook.page.locator(".kit-table")
    expect(rows(notebook)).to_have_count(3)
    expect(page.locator(".kit-table-row img")).to_have_count(3)
    expect(table.get_by_text("1–3 of 5").first).to_be_visible()
    expect(page.locator("[class^=kit-snapshot]")).to_be_hidden()

    # pages
    page.locator('button[title="next page"]').click()
    expect(rows(notebook)).to_have_count(2)
    page.locator('button[title="page before"]').click()

    # sorting: the most expensive first, then the cheapest
    head = page.locator(".kit-table-head button", has_text="credits")
    head.click()
    expect(rows(notebook).first).to_contain_text("a road")
    head.click()
    expect(rows(notebook).first).to_contain_text("a lake")

    # choosing: a click anywhere in the row, or the keyboard; also after filtering
    rows(notebook).nth(1).click(position={"x": 400, "y": 20}, force=True)
    expect(box(notebook, "a hill")).to_be_checked()
    search = page.get_by_placeholder("search words")
    search.fill("LAKE")
    search.press("Enter")
    expect(table.get_by_text("1–2 of 2 (of 5) · 1 chosen").first).to_be_visible()
    box(notebook, "a deep lake").press("Space")
    expect(table.get_by_text("2 chosen").first).to_be_visible()
    # The table itself has both lakes.
    cards = page.locator(".jp-OutputArea .widget-html", has_text="a deep lake")
    preview = cards.filter(has_not_text="a lake").last
    expect(preview.locator("img")).to_be_visible()

    # more like the one chosen last: all of these are the same picture
    table.get_by_role("button", name="more like this").click()
    expect(table.get_by_text("1–3 of 5 · 2 chosen").first).to_be_visible()
    expect(search).to_have_value(re.compile("^like:gen_"))
    search.fill("LAKE")
    search.press("Enter")
    expect(table.get_by_text("1–2 of 2 (of 5) · 2 chosen").first).to_be_visible()

    # Python has the selection
    page.locator(".jp-Notebook .jp-Cell").nth(2).click()
    notebook.command("notebook:run-cell")
    notebook.wait_idle()
    expect(notebook.output(2)).to_contain_text("['a hill', 'a deep lake']")

    # the dark theme
    notebook.set_theme("JupyterLab Dark")
    shade = "element => getComputedStyle(element).color.match(/\\d+/g).slice(0, 3).map(Number)"
    expect(rows(notebook).first).to_be_visible()
    assert min(rows(notebook).first.evaluate(shade)) > 180
    check_part(notebook, "table", ".kit-table")

    # after a reload the widget has the same state
    notebook.save()
    page.reload()
    expect(table.get_by_text("1–2 of 2 (of 5) · 2 chosen").first).to_be_visible(timeout=60_000)
    expect(box(notebook, "a deep lake")).to_be_checked()

    # without its kernel the static snapshot is shown, without an error
    notebook.wait_idle()
    page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    notebook.wait_idle()
    page.reload()
    snapshot = page.locator("[class^=kit-snapshot]")
    expect(snapshot).to_be_visible(timeout=60_000)
    expect(snapshot).to_contain_text("a deep lake")
    expect(snapshot).to_contain_text("1–2 of 2 (of 5) · 2 chosen")
    expect(page.get_by_text("Error displaying widget")).to_be_hidden()
    notebook.wait_idle()
