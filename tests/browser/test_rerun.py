"""Widgets of a cell that is run again are closed, unless they are still shown or named."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser

COUNT = "from ipywidgets.widgets.widget import _instances\nprint('widgets:', len(_instances))"
CELLS = (
    "import kit\nstudio = kit.connect()\n_forms = []",
    'form = studio.form("poster", "a lake")\n_forms.append(form)\nform',
    "studio.panel()",
    COUNT,
    "form",
    "[one.comm is not None for one in _forms]",
    "kept = [form]",
)


def run_cell(notebook: Notebook, cell: int) -> None:
    notebook.page.evaluate(
        """at => {
            jupyterapp.shell.currentWidget.content.activeCellIndex = at;
            return jupyterapp.commands.execute('notebook:run-cell').then(() => null);
        }""",
        cell,
    )
    notebook.output(cell).scroll_into_view_if_needed()
    notebook.wait_idle()


def count(notebook: Notebook) -> int:
    """Return the number of widgets in the kernel, once none are built or closed any more."""
    found = [-1, -2]
    while len(set(found[-2:])) > 1:
        notebook.page.wait_for_timeout(1000)
        run_cell(notebook, 3)
        found.append(int(notebook.output(3).inner_text().rpartition(":")[2]))
    return found[-1]


def test_a_cell_that_is_run_again_closes_the_widget_that_it_replaces(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        page = notebook.page

        def show(cell: int, box: str) -> None:
            run_cell(notebook, cell)
            expect(notebook.output(cell).locator(f"{box}[data-kit-focus]").first).to_be_attached()

        def run_form() -> None:
            show(1, ".kit-form")

        run_cell(notebook, 0)
        run_form()
        show(2, ".kit-panel")
        expect(page.locator(".kit-panel")).to_contain_text("Poster Landscape")
        before = count(notebook)

        run_form()
        show(2, ".kit-panel")
        expect(page.locator(".kit-panel")).to_contain_text("Poster Landscape")
        assert abs(count(notebook) - before) < 10
        run_cell(notebook, 5)
        expect(notebook.output(5)).to_contain_text("[False, True]")

        # one that another cell shows stays, until that cell shows another one
        show(4, ".kit-form")
        run_form()
        run_cell(notebook, 5)
        expect(notebook.output(5)).to_contain_text("[False, True, True]")
        shown = notebook.output(4).locator(".kit-form")
        shown.get_by_role("button", name="Code").click()
        expect(shown.locator(".kit-code")).to_contain_text("a lake")
        show(4, ".kit-form")
        run_cell(notebook, 5)
        expect(notebook.output(5)).to_contain_text("[False, False, True]")

        # a reloaded page is the same one
        notebook.save()
        page.reload()
        page.wait_for_function("() => window.jupyterapp && jupyterapp.started")
        notebook.wait_idle()
        notebook.output(1).scroll_into_view_if_needed()
        expect(page.locator(".kit-form[data-kit-focus]").first).to_be_attached()
        run_form()
        show(4, ".kit-form")
        run_cell(notebook, 5)
        expect(notebook.output(5)).to_contain_text("[False, False, False, True]")

        # one in a list of the user stays
        run_cell(notebook, 6)
        notebook.page.evaluate("jupyterapp.commands.execute('notebook:clear-cell-output')")
        run_form()
        show(4, ".kit-form")
        run_cell(notebook, 5)
        expect(notebook.output(5)).to_contain_text("[False, False, False, True, True]")
        assert notebook.errors() == []
