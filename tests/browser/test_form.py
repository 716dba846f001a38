"""A form in JupyterLab: typing, clicking, reloading, in both themes."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.cells import check_part
from tests.browser.notebook import Notebook
from tests.client.third_party import png

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()",
    'form = studio.form("flat", size="big")\nform',
    'clay = studio.form("clay")\nclay',
    'poster = studio.form("poster", "a lake", size=256)\n'
    'drift = studio.form("drift", "a lake", duration=1, resolution="360p")\n'
    "import ipywidgets\nipywidgets.VBox([poster, drift])",
)


def form(notebook: Notebook, number: int) -> Locator:
    return notebook.page.locator(".kit-form").nth(number)


def generate(one: Locator) -> None:
    one.get_by_role("button", name="Generate").click()


def test_a_form_shows_prices_problems_results_and_costs_of_canceling(notebook: Notebook) -> None:
    flat = form(notebook, 0)
    prompt, seed = flat.get_by_label("prompt *"), flat.get_by_label("seed")

    # the price is shown at once, and changes with keyboard input
    expect(flat.get_by_text("1.2 credits")).to_be_visible()
    flat.locator(".widget-slider .noUi-handle").first.press("ArrowRight")
    expect(flat.get_by_text("1.4 credits")).to_be_visible()
    expect(flat.get_by_text("balance afterwards 998.6")).to_be_visible()

    # advanced fields are shown on demand
    expect(seed).to_be_hidden()
    flat.get_by_role("button", name="Advanced").click()
    expect(seed).to_be_visible()
    seed.click()
    expect(seed).to_be_focused()

    # a mistake is reported at its field, and nothing is sent
    seed.press_sequentially("12x")
    expect(flat.get_by_role("alert").filter(has_text="must be a whole number")).to_be_visible()
    generate(flat)
    expect(flat.get_by_role("alert").filter(has_text="may not be blank")).to_be_visible()
    expect(flat.get_by_text("completed", exact=True)).to_have_count(0)
    seed.fill("12")
    prompt.press_sequentially("a lake", delay=15)
    expect(flat.get_by_role("alert")).to_have_count(0)

    # the last text is used, and a second click starts another generation
    prompt.press_sequentially("!")
    generate(flat)
    expect(flat.get_by_text("completed", exact=True)).to_have_count(1)
    expect(flat.get_by_text("a lake!", exact=True)).to_have_count(1)
    expect(flat.get_by_role("button", name="Generate")).to_be_enabled()
    generate(flat)
    expect(flat.get_by_text("completed", exact=True)).to_have_count(2)
    expect(flat.get_by_text("balance afterwards 995.8")).to_be_visible()

    expect(flat.get_by_role("button", name="Generate")).to_be_enabled()

    # Ctrl+Enter submits, and the focus stays in the prompt
    prompt.press("Control+Enter")
    expect(flat.get_by_text("completed", exact=True)).to_have_count(3)
    expect(prompt).to_be_focused()
    expect(prompt).to_have_value("a lake!")
    expect(flat.get_by_role("button", name="Generate")).to_be_enabled()

    # a run can be canceled at the announced cost; the focus moves to Generate
    flat.get_by_label("does").select_option("hangs")
    prompt.press("Control+Enter")
    expect(flat.get_by_text("50 %")).to_be_visible()
    expect(flat.get_by_text("Cancel still costs 1.4 credits")).to_be_visible()
    flat.get_by_role("button", name="Cancel").focus()
    notebook.page.keyboard.press("Enter")
    expect(flat.get_by_text("canceled; 1.4 credits charged", exact=True)).to_be_visible()
    expect(flat.get_by_role("button", name="Generate")).to_be_focused()
    flat.get_by_role("button", name="Code").click()
    expect(flat.get_by_text('does="hangs"')).to_be_visible()
    check_part(notebook, "form", ".kit-form")


def test_forms_take_files_show_videos_and_are_restored_on_reload(notebook: Notebook) -> None:
    clay, poster, drift = form(notebook, 1), form(notebook, 2), form(notebook, 3)

    # two forms side by side run at once, and a video plays in the page
    generate(drift)
    generate(poster)
    with notebook.page.expect_file_chooser() as chooser:
        clay.get_by_role("button", name="Upload").first.click()
    chooser.value.set_files({"name": "face.png", "mimeType": "image/png", "buffer": png()})
    expect(clay.locator(".kit-file img")).to_be_visible()
    expect(clay.get_by_text(re.compile(r"face\.png · \d+ k?B"))).to_be_visible()
    generate(clay)
    expect(clay.get_by_text("completed", exact=True)).to_be_visible(timeout=20_000)
    expect(poster.locator("img")).to_be_visible(timeout=20_000)
    video = drift.locator("video")
    expect(video).to_be_visible(timeout=60_000)
    video.evaluate("video => { video.muted = true; return video.play(); }")
    assert video.evaluate("video => video.videoHeight") == 360

    check_part(notebook, "form-media", ".jp-OutputArea:has(video)")

    notebook.save()
    saved = (notebook.lab.root / notebook.path).read_text(encoding="utf-8")
    assert "a lake" in saved
    assert "cs_test_" not in saved
    notebook.open(notebook.lab, notebook.path)
    notebook.page.locator(".kit-form").nth(3).wait_for()
    generate(poster)
    expect(poster.locator("img")).to_have_count(2, timeout=20_000)
    notebook.run_all()
    expect(notebook.page.locator(".kit-form")).to_have_count(4)
