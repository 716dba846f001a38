"""The tutorials in JupyterLab: all cells queued at once, saved, and opened again."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.cells import shown
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser

TUTORIALS = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_all_cells_queued_at_once_run_and_nothing_is_lost_when_it_is_opened_again(
    name: str, lab: Lab, browser: Browser
) -> None:
    with shown(lab, browser, name) as notebook:
        notebook.run_all()
        assert notebook.errors() == []
        assert "*" not in "".join(notebook.page.locator(".jp-InputPrompt").all_inner_texts())
        saved = notebook.save()
        assert "widgets" not in saved["metadata"]
        assert not re.search(r"cs_(test|live)_\w{8}|signature=", str(saved))
        assert str(lab.root) not in str(saved)
        keep_screenshots(notebook, name)

        notebook.open(lab, name)
        see_no_error(notebook.page)
        assert notebook.errors() == []


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
