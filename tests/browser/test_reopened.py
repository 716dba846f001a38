"""Notebooks with widgets that are opened again: static snapshots are shown without errors."""

import re

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.cells import check_part, open_cells
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "import kit\nstudio = kit.connect()",
    'studio.form("poster")',
    'studio.writing("SPACE")',
    "studio.panel()",
    "studio.account_panel()",
)
#: Cells and texts in their static snapshots: the code that restores a widget, and typed text.
SNAPSHOT_TEXTS = (
    (1, 'studio.form("poster", "a misty lake")'),
    (2, 'studio.writing("SPACE")'),
    (2, "A title of my own"),
    (3, "studio.panel()"),
    (3, "Poster Landscape"),
    (4, "studio.account_panel()"),
    (4, "1,000 credits"),
)

#: Records in each frame whether the line "Loading widget" exists and is visible below a snapshot.
WATCH = """(() => {
    window.waiting = { there: 0, seen: 0 };
    const below = '.jp-OutputArea-child:has([class^=kit-snapshot]) + .jp-OutputArea-child';
    const watch = () => {
        for (const line of document.querySelectorAll(`${below} .jp-OutputArea-output`))
            if (line.textContent.startsWith('Loading widget')) {
                waiting.there += 1;
                waiting.seen += line.checkVisibility();
            }
        requestAnimationFrame(watch);
    };
    watch();
})();"""


def test_snapshots_show_typed_text_without_a_kernel_and_without_trust(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CELLS, alone=True) as notebook:
        notebook.run_all()
        page = notebook.page
        snapshots = page.locator("[class^=kit-snapshot]")
        expect(page.locator(".kit-panel")).to_contain_text("Poster Landscape")
        expect(snapshots).to_have_count(4)
        assert not any(snapshot.is_visible() for snapshot in snapshots.all()), (
            "a live widget has no snapshot"
        )

        notebook.output(1).get_by_label("prompt").fill("a misty lake")
        title = notebook.output(2).get_by_label("Title", exact=True)
        title.fill("A title of my own")
        title.press("Tab")
        expect(snapshots.nth(0)).to_contain_text("a misty lake")
        expect(snapshots.nth(1)).to_contain_text("A title of my own")
        notebook.save()

        page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        notebook.wait_idle()
        page.add_init_script(WATCH)
        page.reload()
        check_snapshots(notebook, page)
        check_part(notebook, "reopened", ".jp-Cell:nth-of-type(2) .jp-OutputArea")
        notebook.wait_idle()
        waiting = page.evaluate("waiting")
        assert waiting["there"] > 0, "without a kernel there is only the line"
        assert waiting["seen"] == 0

        # a notebook that was changed elsewhere is not trusted
        changed = nbformat.read(lab.root / "test.ipynb", as_version=4)
        changed.cells.append(nbformat.v4.new_markdown_cell("from a colleague"))
        nbformat.write(changed, lab.root / "sent.ipynb")
        sent = Notebook(page.context, lab, "sent.ipynb")
        trusted = "() => jupyterapp.shell.currentWidget.content.model.cells.get(1).trusted"
        assert sent.page.evaluate(trusted) is False
        check_snapshots(sent, sent.page)
        sent.set_theme("JupyterLab Dark")
        check_part(sent, "reopened-sent", ".jp-Cell:nth-of-type(2) .jp-OutputArea")


def check_snapshots(notebook: Notebook, page: Page) -> None:
    for cell, words in SNAPSHOT_TEXTS:
        snapshot = notebook.output(cell).locator("[class^=kit-snapshot]")
        expect(snapshot).to_be_visible(timeout=60_000)
        expect(snapshot).to_contain_text(words)
        expect(notebook.output(cell)).not_to_contain_text(re.compile(r"<\w*(Form|Writing|Panel)\b"))
    for lost in page.get_by_text("Error displaying widget").all():
        expect(lost).to_be_hidden()
