"""Notebooks made for one test: some cells, open in JupyterLab in a browser."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
from playwright.sync_api import Browser, expect

from tests.browser.axe import violations
from tests.browser.contrast import faint
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook, browsing, sharing

# A browser, a server and a kernel share few processors with each other in a test run.
expect.set_options(timeout=30_000)

#: Pixels of a window that is wide and of one that is narrow, and of one that shows a part whole.
WIDE, NARROW, TALL = 1400, 720, 1800


@contextmanager
def opened(
    lab: Lab, browser: Browser, *cells: str, script: str = "", alone: bool = False
) -> Iterator[Notebook]:
    """Open a notebook of these cells as `shown` does."""
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(made, lab.root / "test.ipynb")
    with shown(lab, browser, "test.ipynb", script=script, alone=alone) as notebook:
        yield notebook


@contextmanager
def shown(
    lab: Lab, browser: Browser, path: str, *, script: str = "", alone: bool = False
) -> Iterator[Notebook]:
    """Open a notebook, and see that it asks nobody else and breaks nothing.

    Parameters
    ----------
    script : str
        What the page runs before the notebook is opened; see `change` there.
    alone : bool
        Whether it has a page of its own, where the test has set what is read when one is loaded.
    """
    with (browsing if alone else sharing)(browser) as (context, refused):
        notebook = Notebook(context, lab, path)
        if script:
            notebook.page.evaluate(script)
            notebook.open(lab, path)
        yield notebook
        assert not refused, refused
        assert not notebook.console, notebook.console
        if not alone:
            notebook.leave()


def look(notebook: Notebook, name: str, part: str) -> None:
    """See that nothing is wrong with a part of the page by day and by night, or covers it.

    Pictures of it are kept where somebody wants to look at them: wide and narrow, in both themes.
    The page has the other theme afterwards.
    """
    page, size = notebook.page, notebook.page.viewport_size
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    themes = ("Light", "Dark") if "Light" in notebook.theme() else ("Dark", "Light")
    for dress in themes:
        notebook.dress(f"JupyterLab {dress}")
        shown = notebook.bring(part)
        found = [*faint(shown), *violations(shown)]
        assert not found, "\n".join([f"{name}, {dress}:", *found])
        for width in (WIDE, NARROW) if folder else ():
            page.set_viewport_size({"width": width, "height": TALL})
            notebook.bring(part)
            page.screenshot(path=f"{folder}/{name}-{dress.lower()}-{width}.png")
    if folder and size:
        page.set_viewport_size(size)
