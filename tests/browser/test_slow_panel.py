"""The panel with a slow connection: quick changes, an upload, a late click, a kernel restart."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab
from tests.browser.latency import DELAYS, set_latency
from tests.browser.notebook import Notebook
from tests.client.third_party import png

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = ("import kit\nstudio = kit.connect()\nstudio.panel()",)
#: Clicks Cancel as soon as it exists.
CLICK_CANCEL = """() => ({ pressed: new Promise(done => {
    const watcher = new MutationObserver(() => {
        const buttons = [...document.querySelectorAll('.kit-form button')];
        const cancel = buttons.find(button => button.textContent.trim() === 'Cancel');
        if (cancel) done(cancel.click(), watcher.disconnect());
    });
    watcher.observe(document.body, { childList: true, subtree: true });
}) })"""
#: Marks a part of the page, to distinguish it from a redrawn one.
MARK = "part => { part.seen = true; }"
IS_MARKED = "part => part.seen === true"


@pytest.fixture
def notebook(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    with open_cells(lab, browser, *CELLS, script=DELAYS) as notebook:
        notebook.run_all()
        expect(notebook.output(0)).to_contain_text("Poster Landscape")
        yield notebook
        assert notebook.errors() == []


def tab(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("tab", name=name, exact=True)


def test_changes_made_while_others_are_sent_are_kept(notebook: Notebook) -> None:
    panel = notebook.output(0)
    set_latency(panel)

    # three tabs, each of them before the kernel has received the previous click
    for name in ("Account", "Write", "Create"):
        tab(panel, name).click()
    expect(tab(panel, "Create")).to_have_attribute("aria-selected", "true")
    model = panel.get_by_label("Model", exact=True)
    model.select_option(label="Clay (image)")
    model.select_option(label="Flat (image)")
    form = panel.locator(".kit-form")
    prompt = form.get_by_label("prompt *")
    prompt.press_sequentially("a lake", delay=30)
    expect(model.locator("option:checked")).to_have_text("Flat (image)")
    expect(form).to_contain_text("balance afterwards")

    generate = form.get_by_role("button", name="Generate")
    generate.click()
    first = form.get_by_text("completed", exact=True)
    expect(first).to_have_count(1)
    first.evaluate(MARK)

    # the run has ended when the click on Cancel arrives
    expect(generate).to_be_enabled()
    prompt.press_sequentially(" at dusk", delay=30)
    form.get_by_label("does").select_option("dawdles")
    canceled = notebook.page.evaluate_handle(CLICK_CANCEL)
    generate.click()
    expect(form.get_by_text("a lake at dusk", exact=True)).to_have_count(1)
    expect(form.get_by_text("completed", exact=True)).to_have_count(2)
    canceled.evaluate("({ pressed }) => pressed")
    assert form.get_by_text("completed", exact=True).last.evaluate(IS_MARKED), "it was redrawn"
    expect(prompt).to_have_value("a lake at dusk")

    model.select_option(label="Clay (image)")
    picture = {"name": "face.png", "mimeType": "image/png", "buffer": png()}
    with notebook.page.expect_file_chooser() as chooser:
        panel.get_by_role("group", name="Upload: portrait").get_by_role("button").first.click()
    chooser.value.set_files([picture])
    expect(form).to_contain_text("face.png")
    expect(form.get_by_text("face.png")).to_have_count(1)

    # a click without a response: after a kernel restart nothing waits for it
    tab(panel, "Write").click()
    suggest = panel.get_by_role("button", name="Suggest a title")
    expect(suggest).to_be_enabled()
    set_latency(panel, 60_000)
    suggest.click()
    expect(suggest).to_have_attribute("aria-busy", "true")
    panel.get_by_label("Title", exact=True).fill("Why the Moon is leaving")
    expect(panel.locator(".kit-panel")).to_have_attribute("data-kit-pending", "")
    set_latency(panel, 0)
    notebook.page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")
    expect(panel.locator("[aria-busy=true], [aria-disabled=true]")).to_have_count(0)
    expect(panel.locator("[data-kit-pending]")).to_have_count(0)
    notebook.wait_idle()
    notebook.drop_canceled_requests()
