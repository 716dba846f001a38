"""Forms with a screen reader, and numbers typed beyond their limits."""

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import check_part, open_cells
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


def type_text(box: Locator, text: str, leave: str) -> None:
    box.click()
    box.press("Control+A")
    box.press_sequentially(text)
    box.press(leave)


def check_names(form: Locator) -> None:
    """Check that each control has an accessible name."""
    form.get_by_role("button", name="Advanced", expanded=False).click()
    expect(form.get_by_role("button", name="Advanced", expanded=True)).to_have_count(1)
    expect(form.get_by_role("slider", name="steps", exact=True)).to_have_count(1)
    expect(form.get_by_role("slider", name="share", exact=True)).to_have_count(1)
    expect(form.get_by_role("textbox", name="steps", exact=True)).to_have_count(1)
    expect(form.get_by_role("group", name="style").get_by_role("button")).to_have_count(2)
    expect(form.get_by_role("button", name="ink", pressed=True)).to_have_count(1)
    expect(form.get_by_role("button", name="Reset", exact=True)).to_have_count(1)
    code = form.get_by_role("button", name="Code", exact=True)
    for is_open in (False, True, False):
        expect(code).to_have_attribute("aria-expanded", str(is_open).lower())
        code.click()
    code.click()
    expect(form.locator("[title=null]")).to_have_count(0)
    expect(form.get_by_role("button", name="Draw a new seed", exact=True)).to_have_count(1)
    expect(form.locator("[contenteditable]:not([aria-label])")).to_have_count(0)


def test_controls_have_names_and_adjusted_numbers_are_reported(
    api: Server, media: Server, lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        page = notebook.page
        forms = page.locator(".kit-form")
        one, two, paint = (forms.nth(number) for number in range(3))
        for form in (one, two):
            check_names(form)
        expect(page.get_by_role("group", name="odd", exact=True)).to_have_count(2)

        # an adjusted number is reported in its own form, after Tab and after Enter
        type_text(one.get_by_role("textbox", name="steps"), "60", "Tab")
        note = one.get_by_text("60 is more than 50, the most; 50 is used")
        expect(note).to_be_visible()
        slider = one.get_by_role("slider", name="steps")
        expect(slider).to_have_accessible_description("60 is more than 50, the most; 50 is used")
        expect(two.get_by_role("slider", name="steps")).to_have_accessible_description("How many")
        share = one.get_by_role("textbox", name="share")
        type_text(share, "0,7", "Enter")
        expect(one.get_by_text("must be a number, not '0,7': write 0.7; 0 is used")).to_be_visible()
        type_text(share, "-1", "Enter")
        expect(one.get_by_role("status").filter(has_text="0,7")).to_have_count(0)
        share.press("End")
        share.press("Backspace")
        share.press_sequentially("5")  # the box shows a minus sign that it could not parse
        share.press("Enter")
        one.get_by_label("count").fill("5x")
        expect(one.get_by_role("alert").filter(has_text="a whole number")).to_be_visible()
        expect(one.get_by_label("count")).to_have_attribute("aria-invalid", "true")
        check_part(notebook, "form-typed", ".kit-form")
        slider.press("ArrowLeft")
        expect(note).to_have_count(0)
        expect(one.get_by_role("button", name="ink", pressed=True)).to_have_count(1)
        one.get_by_role("button", name="oil").click()
        expect(one.get_by_role("button", name="oil", pressed=True)).to_have_count(1)
        one.get_by_label("count").fill("7")
        # Text typed while an earlier change is sent waits for it; a cell would not.
        expect(one.get_by_role("alert").filter(has_text="a whole number")).to_have_count(0)
        notebook.page.evaluate(
            "() => { jupyterapp.shell.currentWidget.content.activeCellIndex = 3; }"
        )
        notebook.command("notebook:run-cell")
        expect(notebook.output(3)).to_contain_text(
            "{'steps': 49, 'share': -1.05, 'style': 'oil', 'count': 7}"
        )

        # keys go to the form: as notebook commands they would select or insert cells
        choice = one.get_by_label("size")
        choice.focus()
        choice.press("ArrowDown")
        choice.press("a")
        expect(choice).to_be_focused()
        expect(choice).to_have_value("small")
        expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(CELLS))
        choice.press("Control+s")
        page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")

        # a missing output is fetched again by a click, without another charge
        file = "/out/job-1.png"
        media.script("GET", file, *[Answer(404)] * 50)
        paint.get_by_role("button", name="Generate").click()
        again = paint.get_by_role("button", name="Try again")
        expect(again).to_be_visible()
        check_part(notebook, "form-again", ".jp-Cell:nth-of-type(3) .kit-form")
        media.scripted.clear()
        again.click()
        expect(paint.locator("img")).to_be_visible()
        assert len(api.requests("POST", "/v1/creative-studio/generations")) == 1

        # controls have names again after a reload
        notebook.save()
        notebook.open(lab, notebook.path)
        page.locator(".kit-form").nth(2).wait_for()
        page.locator(".kit-form").nth(1).get_by_role("button", name="Advanced").click()
        check_names(page.locator(".kit-form").nth(1))
        assert notebook.errors() == []
