"""Widgets whose kernel is gone: they say so and rest, instead of looking alive or broken."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import look, opened
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "from kit import wire\nfrom kit.widgets.form import Form\n"
    'steps = wire.Parameter(name="steps", type="integer", default=20, minimum=1, maximum=50)\n'
    'style = wire.Parameter(name="style", enum=["ink", "oil"], default="ink")\n'
    'model = wire.Model(id="odd", title="Odd", setting_parameters=[steps, style])\n'
    'Form(model, {"prompt": "\\u05d0\\u05d2\\u05dd \\u05d1\\u05dc\\u05d9\\u05dc\\u05d4"})',
    "import os\nos._exit(1)",
)
SAID = "Not running: run the cell again."


def run(notebook: Notebook, cell: int) -> None:
    notebook.page.evaluate(
        "at => { jupyterapp.shell.currentWidget.content.activeCellIndex = at; }", cell
    )
    notebook.command("notebook:run-cell")


def rests(form: Locator) -> None:
    """See that a form says what has happened, once, and that nothing in it can be clicked."""
    expect(form.get_by_role("alert").filter(has_text=SAID)).to_have_count(1)
    expect(form.get_by_role("button", name="Generate")).to_be_disabled()
    expect(form.get_by_role("button", disabled=False)).to_have_count(0)
    expect(form.locator("textarea")).to_be_enabled()  # what was written can be copied


def test_a_form_whose_kernel_is_gone_says_so(lab: Lab, browser: Browser) -> None:
    with opened(lab, browser, *CELLS) as notebook:
        page, form = notebook.page, notebook.page.locator(".kit-form")
        run(notebook, 0)
        expect(form.get_by_role("button", name="Generate")).to_be_enabled()
        expect(form.get_by_text(SAID)).to_have_count(0)
        prompt = form.locator("textarea")
        expect(prompt).to_have_css("direction", "rtl")

        # somebody restarts it
        page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")
        rests(form)
        notebook.wait_idle()
        look(notebook, "form-gone", ".kit-form")

        # the cell brings it back, and then the kernel ends by itself
        run(notebook, 0)
        expect(form.get_by_text(SAID)).to_have_count(0)
        expect(form.get_by_role("button", name="Generate")).to_be_enabled()
        run(notebook, 1)
        rests(form)

        # loaded anew, the page has what the notebook keeps of it
        notebook.save()
        page.reload()
        expect(notebook.output(0)).to_contain_text("This brings it back")
        expect(form).to_have_count(0)
        look(notebook, "form-gone-kept", ".jp-OutputArea")
        notebook.forget_unanswered()


WIDGETS = (
    "import kit\nstudio = kit.connect()\nstudio.generate('poster', 'a lake')\n"
    "table = studio.history.table()\ntable",
    "studio.panel()",
    "studio.writing('SPACE')",
    "studio.account_panel()",
)
_ICON = "part => getComputedStyle(part, ':before').content"


def test_every_widget_whose_kernel_is_gone_says_so(lab: Lab, browser: Browser) -> None:
    with opened(lab, browser, *WIDGETS) as notebook:
        page = notebook.page
        notebook.run_all()
        expect(page.locator(".kit-panel")).to_contain_text("Poster Landscape")
        for cell in range(4):  # what was never in sight is not drawn, and has no state to lose
            notebook.output(cell).scroll_into_view_if_needed()
            expect(notebook.output(cell).locator("[data-kit-focus]").first).to_be_attached()
        notebook.wait_idle()

        page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")

        for cell, name in enumerate(("kit-table", "kit-panel", "kit-writing", "kit-account")):
            widget = notebook.output(cell).locator(f".{name}").first
            widget.scroll_into_view_if_needed()
            expect(widget.get_by_role("alert").filter(has_text=SAID)).to_have_count(1)
            expect(widget.get_by_role("button", disabled=False)).to_have_count(0)
            parts = widget.locator(".jupyter-widgets-disconnected")
            icons = {widget.evaluate(_ICON), *parts.evaluate_all(f"parts => parts.map({_ICON})")}
            assert icons <= {"none", "normal"}
        notebook.wait_idle()
        look(notebook, "table-gone", ".kit-table")
        look(notebook, "panel-gone", ".kit-panel")
        look(notebook, "writing-gone", ".kit-writing")
        notebook.forget_unanswered()


def test_widgets_that_a_notebook_keeps_with_their_state_rest(lab: Lab, browser: Browser) -> None:
    lab.set("@jupyter-widgets/jupyterlab-manager:plugin", {"saveState": True})
    shown = "import kit\nstudio = kit.connect()\nkit.gallery([studio.generate('poster', 'a lake')])"
    with opened(lab, browser, CELLS[0], shown, alone=True) as notebook:
        notebook.run_all()
        opens = notebook.output(1).get_by_role("button", name="Open", include_hidden=True)
        expect(opens).to_have_count(1)
        assert "widgets" in notebook.save()["metadata"]
        for session in lab.api("sessions"):
            lab.api(f"sessions/{session['id']}", "DELETE")

        notebook.open(lab, notebook.path)

        rests(notebook.page.locator(".kit-form"))
        gallery = notebook.output(1)
        expect(gallery.get_by_role("alert")).to_have_text(SAID)
        expect(opens).to_have_count(0)
        notebook.forget_unanswered()
