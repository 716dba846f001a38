"""The tutorials with widgets in JupyterLab: all cells queued at once, saved, and opened again."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.cells import open_notebook
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser

#: Their outputs are pictures, plots and tables without widgets, which nbval compares.
PLAIN = ("20_costs", "60_history_at_scale", "80_another_service", "95_neural_models")
FIRST, *OTHERS = sorted(p.name for p in NOTEBOOKS.glob("*.ipynb") if p.stem not in PLAIN)


def test_the_first_tutorial_shows_a_form_a_picture_and_a_video(lab: Lab, browser: Browser) -> None:
    with open_notebook(lab, browser, FIRST) as notebook:
        page = notebook.page
        page.set_viewport_size({"width": 1280, "height": 720})  # a laptop
        saved_picture = page.locator(".jp-OutputArea img").first  # before it is run
        expect(saved_picture).to_be_in_viewport(ratio=0.95)

        notebook.run_all()
        page.locator(".jp-WindowedPanel-outer").evaluate("part => part.scrollTo(0, 0)")

        form = page.locator(".kit-form").first
        expect(form.get_by_label("prompt")).to_be_in_viewport(ratio=1)
        expect(form.locator("img").first).to_be_in_viewport(ratio=0.95)
        expect(saved_picture).to_be_hidden()
        picture = page.locator(".jp-OutputArea img").first
        assert picture.evaluate("image => image.naturalWidth") >= 320
        video = page.locator(".jp-OutputArea video").first
        video.evaluate("video => { video.muted = true; return video.play(); }")
        page.wait_for_function(
            "() => document.querySelector('.jp-OutputArea video').currentTime > 0.2"
        )
        assert video.evaluate("video => [video.videoWidth, video.videoHeight]") == [640, 360]
        assert video.evaluate("video => video.duration") == pytest.approx(3, abs=0.1)
        check_saved_notebook(notebook)


@pytest.mark.parametrize("name", OTHERS)
def test_a_tutorial_runs_all_cells_and_opens_again_without_errors(
    name: str, lab: Lab, browser: Browser
) -> None:
    with open_notebook(lab, browser, name) as notebook:
        notebook.run_all()
        check_saved_notebook(notebook)


def check_saved_notebook(notebook: Notebook) -> None:
    page = notebook.page
    assert notebook.errors() == []
    assert "*" not in "".join(page.locator(".jp-InputPrompt").all_inner_texts())
    saved = notebook.save()
    assert "widgets" not in saved["metadata"]
    assert not re.search(r"cs_(test|live)_\w{8}|signature=", str(saved))
    assert str(notebook.lab.root) not in str(saved)
    save_screenshots(notebook)

    notebook.open(notebook.lab, notebook.path)
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(saved["cells"]))
    expect(page.get_by_text("Loading widget")).to_have_count(0)
    check_no_error(page)
    assert notebook.errors() == []


def check_no_error(page: Page) -> None:
    for text in ("Error displaying widget", "Error loading widget", "model not found"):
        for lost in page.get_by_text(text).all():
            expect(lost).to_be_hidden()


def save_screenshots(notebook: Notebook) -> None:
    """Save screenshots of the whole page if ``KIT_TEST_SCREENSHOTS`` names a folder."""
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    if not folder:
        return
    cells = notebook.page.locator(".jp-Notebook .jp-WindowedPanel-viewport")
    height = cells.evaluate("part => part.scrollHeight") + 200
    notebook.page.set_viewport_size({"width": 1200, "height": height})
    notebook.page.locator(".jp-WindowedPanel-outer").evaluate("part => part.scrollTo(0, 0)")
    for theme in ("Light", "Dark"):
        notebook.set_theme(f"JupyterLab {theme}")
        notebook.page.screenshot(path=Path(folder, f"{notebook.path}-{theme.lower()}.png"))
