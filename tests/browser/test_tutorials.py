"""The tutorials in JupyterLab: all cells queued at once, saved, and opened again."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook, browsing

pytestmark = pytest.mark.browser

TUTORIALS = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


Show: TypeAlias = Callable[[Lab, str], Notebook]


@pytest.fixture(scope="module")
def show(browser: Browser) -> Iterator[Show]:
    """Open a notebook in a window that all of them share."""
    shown: list[Notebook] = []

    with browsing(browser) as (context, refused):

        def show(lab: Lab, name: str) -> Notebook:
            if shown:
                shown[0].open(lab, name)
            else:
                shown.append(Notebook(context, lab, name))
            return shown[0]

        yield show
        assert refused == []


@pytest.mark.parametrize("name", TUTORIALS)
def test_all_cells_queued_at_once_run_and_nothing_is_lost_by_a_reload(
    name: str, lab: Lab, show: Show
) -> None:
    notebook = show(lab, name)
    notebook.run_all()
    assert notebook.errors() == []
    assert "*" not in "".join(notebook.page.locator(".jp-InputPrompt").all_inner_texts())
    saved = notebook.save()
    assert "widgets" not in saved["metadata"]
    assert not re.search(r"cs_(test|live)_\w{8}|signature=", str(saved))
    assert str(lab.root) not in str(saved)
    keep_screenshots(notebook, name)

    notebook.page.reload()
    notebook.page.locator(".jp-NotebookPanel .jp-Notebook").wait_for(timeout=90_000)
    notebook.wait_idle()
    see_no_error(notebook.page)
    assert notebook.errors() == []
    assert notebook.console == []


def see_no_error(page: Page) -> None:
    for text in ("Error displaying widget", "Error loading widget", "model not found"):
        for lost in page.get_by_text(text).all():
            expect(lost).to_be_hidden()


def keep_screenshots(notebook: Notebook, name: str) -> None:
    """Keep pictures of the whole page where somebody wants to look at them."""
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    if not folder:
        return
    cells = notebook.page.locator(".jp-Notebook .jp-WindowedPanel-viewport")
    height = cells.evaluate("part => part.scrollHeight") + 200
    notebook.page.set_viewport_size({"width": 1200, "height": height})
    notebook.page.locator(".jp-WindowedPanel-outer").evaluate("part => part.scrollTo(0, 0)")
    for dress in ("Light", "Dark"):
        notebook.dress(f"JupyterLab {dress}")
        notebook.page.screenshot(path=Path(folder, f"{name}-{dress.lower()}.png"))
