"""Forms for whoever does not see them, and for whoever types past a bound."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import look, opened
from tests.browser.lab import Lab
from tests.client.third_party import Answer, Server

pytestmark = pytest.mark.browser

CELLS = (
    "import kit\nstudio = kit.connect()",
    "import ipywidgets\nfrom kit import wire\nfrom kit.widgets.form import Form\n"
    'steps = dict(type="integer", default=20, minimum=1, maximum=50, description="How many")\n'
    'share = dict(type="number", default=0.5, minimum=-2, maximum=2)\n'
    'known = {"steps": steps, "share": share, "style": dict(enum=["ink", "oil"], default="ink"),'
    ' "size": dict(enum=["small", "big"]),'
    ' "count": dict(type="integer", default=5), "seed": dict(type="integer", maximum=99)}\n'
    "model = wire.Model(id='odd', supports_prompt=False,"
    " setting_parameters=[wire.Parameter(name=n, **p) for n, p in known.items()])\n"
    "one, two = Form(model), Form(model)\n"
    "ipywidgets.HBox([one, two])",
    'studio.form("paint", "a lake")',
    "print(one.value['parameters'])",
)


def write(box: Locator, text: str, leave: str) -> None:
    box.click()
    box.press("Control+A")
    box.press_sequentially(text)
    box.press(leave)


def is_named(form: Locator) -> None:
    """See that a screen reader can say what each control is."""
    form.get_by_role("button", name="Advanced", expanded=False).click()
    expect(form.get_by_role("button", name="Advanced", expanded=True)).to_have_count(1)
    expect(form.get_by_role("slider", name="steps", exact=True)).to_have_count(1)
    expect(form.get_by_role("slider", name="share", exact=True)).to_have_count(1)
    expect(form.get_by_role("textbox", name="steps", exact=True)).to_have_count(1)
    expect(form.get_by_role("group", name="style").get_by_role("button")).to_have_count(2)
    expect(form.get_by_role("button", name="ink", pressed=True)).to_have_count(1)
    expect(form.get_by_role("button", name="Reset", exact=True)).to_have_count(1)
    expect(form.get_by_role("button", name="Draw a new seed", exact=True)).to_have_count(1)
    expect(form.locator("[contenteditable]:not([aria-label])")).to_have_count(0)


def test_controls_have_names_and_what_is_typed_past_a_bound_is_told(
    api: Server, media: Server, lab: Lab, browser: Browser
) -> None:
    with opened(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        forms = page.locator(".kit-form")
        one, two, paint = (forms.nth(number) for number in range(3))
        for form in (one, two):
            is_named(form)

        # a number that is made to fit is told, however its box is left, in its own form only
        write(one.get_by_role("textbox", name="steps"), "60", "Tab")
        said = one.get_by_text("60 is more than 50, the most; 50 is used")
        expect(said).to_be_visible()
        slider = one.get_by_role("slider", name="steps")
        expect(slider).to_have_accessible_description("60 is more than 50, the most; 50 is used")
        expect(two.get_by_role("slider", name="steps")).to_have_accessible_description("How many")
        share = one.get_by_role("textbox", name="share")
        write(share, "0,7", "Enter")
        expect(one.get_by_text("must be a number, not '0,7': write 0.7; 0 is used")).to_be_visible()
        write(share, "-1", "Enter")
        expect(one.get_by_role("status").filter(has_text="0,7")).to_have_count(0)
        share.press("End")
        share.press("Backspace")
        share.press_sequentially("5")  # the box shows a minus that it could not read
        share.press("Enter")
        one.get_by_label("count").fill("5x")
        expect(one.get_by_role("alert").filter(has_text="a whole number")).to_be_visible()
        expect(one.get_by_label("count")).to_have_attribute("aria-invalid", "true")
        look(notebook, "form-typed", ".kit-form")
        slider.press("ArrowLeft")
        expect(said).to_have_count(0)
        expect(one.get_by_role("button", name="ink", pressed=True)).to_have_count(1)
        one.get_by_role("button", name="oil").click()
        expect(one.get_by_role("button", name="oil", pressed=True)).to_have_count(1)
        one.get_by_label("count").fill("7")
        # What is typed while an earlier change is on its way waits for it; a cell would not.
        expect(one.get_by_role("alert").filter(has_text="a whole number")).to_have_count(0)
        notebook.page.evaluate(
            "() => { jupyterapp.shell.currentWidget.content.activeCellIndex = 3; }"
        )
        notebook.command("notebook:run-cell")
        expect(notebook.output(3)).to_contain_text(
            "{'steps': 49, 'share': -1.05, 'style': 'oil', 'count': 7}"
        )

        # keys are the form's: to the notebook they would mean other cells, and new ones
        chosen = one.get_by_label("size")
        chosen.focus()
        chosen.press("ArrowDown")
        chosen.press("a")
        expect(chosen).to_be_focused()
        expect(chosen).to_have_value("small")
        expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(CELLS))
        chosen.press("Control+s")
        page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")

        # a file that did not arrive is fetched by a click, and nothing is paid again
        file = "/out/job-1.png"
        media.script("GET", file, *[Answer(404)] * 50)
        paint.get_by_role("button", name="Generate").click()
        again = paint.get_by_role("button", name="Try again")
        expect(again).to_be_visible()
        look(notebook, "form-again", ".jp-Cell:nth-of-type(3) .kit-form")
        media.scripted.clear()
        again.click()
        expect(paint.locator("img")).to_be_visible()
        assert len(api.requests("POST", "/v1/creative-studio/generations")) == 1

        # whatever is drawn anew has its names again
        notebook.save()
        notebook.open(lab, notebook.path)
        page.locator(".kit-form").nth(2).wait_for()
        page.locator(".kit-form").nth(1).get_by_role("button", name="Advanced").click()
        is_named(page.locator(".kit-form").nth(1))
        assert notebook.errors() == []
