"""Notebooks with widgets that are opened again: what was in them stays, and no error beside it."""

import re

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.cells import look, opened
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
#: What stands in the snapshot of each cell: the line that brings it back, and what was typed.
KEPT = (
    (1, 'studio.form("poster", "a misty lake")'),
    (2, 'studio.writing("SPACE")'),
    (2, "A title of my own"),
    (3, "studio.panel()"),
    (3, "Poster Landscape"),
    (4, "studio.account_panel()"),
    (4, "1,000 credits"),
)

#: Sees in each frame whether a widget that is not there (yet) stands below its snapshot as a line.
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


def test_what_was_typed_is_there_without_a_kernel_and_without_trust(
    lab: Lab, browser: Browser
) -> None:
    with opened(lab, browser, *CELLS, alone=True) as notebook:
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
        see_twins(notebook, page)
        look(notebook, "reopened", ".jp-Cell:nth-of-type(2) .jp-OutputArea")
        notebook.wait_idle()
        waited = page.evaluate("waiting")
        assert waited["there"] > 0, "without a kernel there is nothing but the line"
        assert waited["seen"] == 0

        # what somebody else has changed is not trusted
        changed = nbformat.read(lab.root / "test.ipynb", as_version=4)
        changed.cells.append(nbformat.v4.new_markdown_cell("from a colleague"))
        nbformat.write(changed, lab.root / "sent.ipynb")
        sent = Notebook(page.context, lab, "sent.ipynb")
        trusted = "() => jupyterapp.shell.currentWidget.content.model.cells.get(1).trusted"
        assert sent.page.evaluate(trusted) is False
        see_twins(sent, sent.page)
        sent.dress("JupyterLab Dark")
        look(sent, "reopened-sent", ".jp-Cell:nth-of-type(2) .jp-OutputArea")


def see_twins(notebook: Notebook, page: Page) -> None:
    for cell, words in KEPT:
        snapshot = notebook.output(cell).locator("[class^=kit-snapshot]")
        expect(snapshot).to_be_visible(timeout=60_000)
        expect(snapshot).to_contain_text(words)
        expect(notebook.output(cell)).not_to_contain_text(re.compile(r"<\w*(Form|Writing|Panel)\b"))
    for lost in page.get_by_text("Error displaying widget").all():
        expect(lost).to_be_hidden()
