"""The stop button of JupyterLab while a cell waits for a generation."""

import time

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()\nastudio = await kit.aconnect()",
    'studio.generate("flat", "a lake", does="hangs")',
    "(left,) = studio.history.pending()\nprint(left.prompt, left.cancel().facts.state)",
    'await astudio.generate("flat", "a hill", does="hangs")',
    "(left,) = await astudio.history.pending()\n"
    "print(left.prompt, (await left.cancel()).facts.state)",
)


def test_a_waiting_cell_stops_at_once_and_its_generation_can_be_canceled(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        page = notebook.page

        def run(cell: int) -> None:
            page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-Cell-inputArea").click()
            page.evaluate("void jupyterapp.commands.execute('notebook:run-cell')")

        run(0)
        expect(page.locator(".jp-InputPrompt").first).to_contain_text("[1]")
        for waiting, after, prompt, error in (
            (1, 2, "a lake", "KeyboardInterrupt"),
            (3, 4, "a hill", "CancelledError"),
        ):
            run(waiting)
            expect(notebook.output(waiting)).to_contain_text("50 %")
            began = time.monotonic()
            page.locator('[data-jp-item-name="interrupt"] jp-button').first.click()
            expect(notebook.output(waiting)).to_contain_text(error)
            took = time.monotonic() - began
            assert took < 3, f"{took:.1f} s"
            notebook.wait_idle(3)
            run(after)
            expect(notebook.output(after)).to_contain_text(f"{prompt} canceled")

        first, second = notebook.errors()
        assert "studio.history.pending() finds it" in first
        assert "CancelledError" in second
        assert "await studio.history.pending() finds it" in second
