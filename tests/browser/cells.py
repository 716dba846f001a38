"""Notebooks for one test, opened in JupyterLab in a browser; checks of their appearance."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
from playwright.sync_api import Browser, expect

from tests.browser.axe import find_violations
from tests.browser.contrast import find_faint_text
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook, open_window, reuse_window

# A browser, a server and a kernel share few processors during the tests.
expect.set_options(timeout=30_000)

#: Widths of a wide and a narrow window in pixels, and the height of one that shows a whole part.
WIDE, NARROW, TALL = 1400, 720, 1800


@contextmanager
def open_cells(
    lab: Lab, browser: Browser, *cells: str, script: str = "", alone: bool = False
) -> Iterator[Notebook]:
    """Open a notebook of these cells as `open_notebook` does."""
    content = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(content, lab.root / "test.ipynb")
    with open_notebook(lab, browser, "test.ipynb", script=script, alone=alone) as notebook:
        yield notebook


@contextmanager
def open_notebook(
    lab: Lab, browser: Browser, path: str, *, script: str = "", alone: bool = False
) -> Iterator[Notebook]:
    """Open a notebook, and check that it requests no other host and causes no error.

    Parameters
    ----------
    script : str
        JavaScript that the page runs before the notebook is opened; it may use `change`.
    alone : bool
        Whether it has a page of its own, for a test that changes settings read at page load.
    """
    with (open_window if alone else reuse_window)(browser) as (context, external):
        notebook = Notebook(context, lab, path)
        if script:
            notebook.page.evaluate(script)
            notebook.open(lab, path)
        yield notebook
        assert not external, external
        assert not notebook.page_errors, notebook.page_errors
        if not alone:
            notebook.reset()


def check_part(notebook: Notebook, name: str, part: str) -> None:
    """Check contrast and accessibility of a part of the page in both themes.

    Screenshots are stored if ``KIT_TEST_SCREENSHOTS`` names a folder: wide and narrow, in both
    themes. The page has the other theme afterwards.
    """
    page, size = notebook.page, notebook.page.viewport_size
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    themes = ("Light", "Dark") if "Light" in notebook.theme() else ("Dark", "Light")
    for theme in themes:
        notebook.set_theme(f"JupyterLab {theme}")
        element = notebook.scroll_to(part)
        found = [*find_faint_text(element), *find_violations(element)]
        assert not found, "\n".join([f"{name}, {theme}:", *found])
        for width in (WIDE, NARROW) if folder else ():
            page.set_viewport_size({"width": width, "height": TALL})
            notebook.scroll_to(part)
            page.screenshot(path=f"{folder}/{name}-{theme.lower()}-{width}.png")
    if folder and size:
        page.set_viewport_size(size)
