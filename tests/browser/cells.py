"""Notebooks made for one test: some cells, open in JupyterLab in a browser."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import expect

from tests.browser.lab import Lab, Notebook, browsing

# A browser, a server and a kernel share few processors with each other in a test run.
expect.set_options(timeout=30_000)


@contextmanager
def opened(lab: Lab, tmp_path: Path, *cells: str) -> Iterator[Notebook]:
    """Open a notebook of these cells, and see that it asks nobody else and breaks nothing."""
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(made, lab.root / "test.ipynb")
    with browsing(tmp_path / "profile") as (context, refused):
        notebook = Notebook(context, lab, "test.ipynb")
        yield notebook
        assert refused == []
        assert notebook.console == []


def keep_screenshot(notebook: Notebook, name: str, part: str) -> None:
    """Keep a picture of a part of the page where somebody wants to look at it."""
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    if folder:
        shown = notebook.page.locator(part).first
        shown.evaluate("part => part.scrollIntoView({ block: 'start' })")
        notebook.page.screenshot(path=str(Path(folder) / f"{name}.png"))
