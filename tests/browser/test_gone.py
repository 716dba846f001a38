"""Widgets whose kernel has ended: they show a notice and are disabled."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import check_part, open_cells
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
NOTICE = "Not running: run the cell again."


def run_cell(notebook: Notebook, cell: int) -> None:
    notebook.page.evaluate(
        "at => { jupyterapp.shell.currentWidget.content.activeCellIndex = at; }", cell
    )
    notebook.command("notebook:run-cell")


def check_disconnected(form: Locator) -> None:
    """Check that a form shows one notice, and that nothing in it can be clicked."""
    expect(form.get_by_role("alert").filter(has_text=NOTICE)).to_have_count(1)
    expect(form.get_by_role("button", name="Generate")).to_be_disabled()
    expect(form.get_by_role("button", disabled=False)).to_have_count(0)
    expect(form.locator("textarea")).to_be_enabled()  # its text can be copied


def test_a_form_whose_kernel_has_ended_shows_a_notice(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        page, form = notebook.page, notebook.page.locator(".kit-form")
        run_cell(notebook, 0)
        expect(form.get_by_role("button", name="Generate")).to_be_enabled()
        expect(form.get_by_text(NOTICE)).to_have_count(0)
        prompt = form.locator("textarea")
        expect(prompt).to_have_css("direction", "rtl")

        # the kernel is restarted
        page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")
        check_disconnected(form)
        notebook.wait_idle()
        check_part(notebook, "form-gone", ".kit-form")

        # running the cell restores the form, and then the kernel ends by itself
        run_cell(notebook, 0)
        expect(form.get_by_text(NOTICE)).to_have_count(0)
        expect(form.get_by_role("button", name="Generate")).to_be_enabled()
        run_cell(notebook, 1)
        check_disconnected(form)

        # a reloaded page shows the static snapshot
        notebook.save()
        page.reload()
        expect(notebook.output(0)).to_contain_text("This brings it back")
        expect(form).to_have_count(0)
        check_part(notebook, "form-gone-kept", ".jp-OutputArea")
        notebook.drop_canceled_requests()


def test_a_form_whose_kernel_was_restarted_from_another_page_shows_a_notice(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, CELLS[0]) as notebook:
        form = notebook.page.locator(".kit-form")
        run_cell(notebook, 0)
        expect(form.get_by_role("button", name="Generate")).to_be_enabled()

        lab.api(f"kernels/{lab.api('sessions')[0]['kernel']['id']}/restart", "POST")

        check_disconnected(form)
        notebook.drop_canceled_requests()


RUNNING = ("import kit\nstudio = kit.connect()", 'studio.form("flat", "a lake", does="hangs")')


@pytest.mark.usefixtures("plugins")
def test_the_notice_says_that_a_started_generation_continues(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *RUNNING) as notebook:
        notebook.run_all()
        form = notebook.page.locator(".kit-form")
        form.get_by_role("button", name="Generate").click()
        expect(form).to_contain_text("rendering")

        notebook.page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")

        expect(form.get_by_role("alert").filter(has_text=NOTICE)).to_contain_text(
            "What was started continues: studio.history has it."
        )
        notebook.wait_idle()

        # the new form shows it, and does not start another one
        notebook.run_all()
        expect(form).to_contain_text("rendering")
        check_part(notebook, "form-resumed", ".kit-form")
        form.get_by_role("button", name="Cancel").click()
        expect(form).to_contain_text("canceled; 0.6 credits charged")
        notebook.drop_canceled_requests()


WIDGETS = (
    "import kit\nstudio = kit.connect()\nstudio.generate('poster', 'a lake')\n"
    "table = studio.history.table()\ntable",
    "studio.panel()",
    "studio.writing('SPACE')",
    "studio.account_panel()",
)
_ICON = "part => getComputedStyle(part, ':before').content"


def test_every_widget_whose_kernel_has_ended_shows_a_notice(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *WIDGETS) as notebook:
        page = notebook.page
        notebook.run_all()
        expect(page.locator(".kit-panel")).to_contain_text("Poster Landscape")
        for cell in range(4):  # a widget that was never visible is not rendered
            notebook.output(cell).scroll_into_view_if_needed()
            expect(notebook.output(cell).locator("[data-kit-focus]").first).to_be_attached()
        notebook.wait_idle()

        page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")

        for cell, name in enumerate(("kit-table", "kit-panel", "kit-writing", "kit-account")):
            widget = notebook.output(cell).locator(f".{name}").first
            widget.scroll_into_view_if_needed()
            expect(widget.get_by_role("alert").filter(has_text=NOTICE)).to_have_count(1)
            expect(widget.get_by_role("button", disabled=False)).to_have_count(0)
            parts = widget.locator(".jupyter-widgets-disconnected")
            icons = {widget.evaluate(_ICON), *parts.evaluate_all(f"parts => parts.map({_ICON})")}
            assert icons <= {"none", "normal"}
        notebook.wait_idle()
        check_part(notebook, "table-gone", ".kit-table")
        check_part(notebook, "panel-gone", ".kit-panel")
        check_part(notebook, "writing-gone", ".kit-writing")
        notebook.drop_canceled_requests()


def test_widgets_restored_from_saved_state_are_disabled(lab: Lab, browser: Browser) -> None:
    lab.set("@jupyter-widgets/jupyterlab-manager:plugin", {"saveState": True})
    shown = "import kit\nstudio = kit.connect()\nkit.gallery([studio.generate('poster', 'a lake')])"
    with open_cells(lab, browser, CELLS[0], shown, alone=True) as notebook:
        notebook.run_all()
        opens = notebook.output(1).get_by_role("button", name="Open", include_hidden=True)
        expect(opens).to_have_count(1)
        assert "widgets" in notebook.save()["metadata"]
        for session in lab.api("sessions"):
            lab.api(f"sessions/{session['id']}", "DELETE")

        notebook.open(lab, notebook.path)

        check_disconnected(notebook.page.locator(".kit-form"))
        gallery = notebook.output(1)
        expect(gallery.get_by_role("alert")).to_have_text(NOTICE)
        expect(opens).to_have_count(0)
        notebook.drop_canceled_requests()
