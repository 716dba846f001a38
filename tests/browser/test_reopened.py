"""Notebooks with widgets that are opened again: what was in them stays, and no error beside it."""

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.browser.cells import keep_screenshot, opened
from tests.browser.lab import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "import kit\nstudio = kit.connect()",
    'studio.form("poster")',
    'studio.writing("SPACE")',
    "studio.panel()",
    "studio.account_panel()",
)
#: What stands in the twin of each cell: the line that brings it back, and what was typed.
KEPT = (
    (1, 'studio.form("poster", "a misty lake")'),
    (2, 'studio.writing("SPACE")'),
    (2, "A title of my own"),
    (3, "studio.panel()"),
    (3, "Poster Landscape"),
    (4, "studio.account_panel()"),
    (4, "1000 credits"),
)


def test_what_was_typed_is_there_without_a_kernel_and_without_trust(
    lab: Lab, tmp_path: Path
) -> None:
    with opened(lab, tmp_path, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        twins = page.locator("[class^=kit-twin]")
        expect(page.locator(".kit-panel")).to_contain_text("Poster Landscape")
        expect(twins).to_have_count(4)
        assert not any(twin.is_visible() for twin in twins.all()), "a live widget has no twin"

        notebook.output(1).get_by_label("prompt").fill("a misty lake")
        title = notebook.output(2).get_by_label("Title", exact=True)
        title.fill("A title of my own")
        title.press("Tab")
        expect(twins.nth(0)).to_contain_text("a misty lake")
        expect(twins.nth(1)).to_contain_text("A title of my own")
        notebook.save()

        page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        notebook.wait_idle()
        page.reload()
        see_twins(notebook, page)
        keep_screenshot(notebook, "reopened", ".jp-Cell:nth-of-type(2)")
        notebook.wait_idle()

        # what somebody else has changed is not trusted
        changed = nbformat.read(lab.root / "test.ipynb", as_version=4)
        changed.cells.append(nbformat.v4.new_markdown_cell("from a colleague"))
        nbformat.write(changed, lab.root / "sent.ipynb")
        sent = Notebook(page.context, lab, "sent.ipynb")
        trusted = "() => jupyterapp.shell.currentWidget.content.model.cells.get(1).trusted"
        assert sent.page.evaluate(trusted) is False
        see_twins(sent, sent.page)
        sent.page.evaluate(
            "jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
        )
        sent.page.locator('body[data-jp-theme-light="false"]').wait_for(state="attached")
        keep_screenshot(sent, "reopened-dark", ".jp-Cell:nth-of-type(2)")


def see_twins(notebook: Notebook, page: Page) -> None:
    for cell, words in KEPT:
        twin = notebook.output(cell).locator("[class^=kit-twin]")
        expect(twin).to_be_visible(timeout=60_000)
        expect(twin).to_contain_text(words)
    for lost in page.get_by_text("Error displaying widget").all():
        expect(lost).to_be_hidden()
