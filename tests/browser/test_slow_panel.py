"""The panel far from its kernel: changes in a row, a file, a late click, and the kernel's end."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import opened
from tests.browser.far import HOLDS_BACK, away
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook
from tests.client.third_party import png

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = ("import kit\nstudio = kit.connect()\nstudio.panel()",)
#: Presses Cancel as soon as it is there: a person could, by chance.
CANCELS = """() => ({ pressed: new Promise(done => {
    const watcher = new MutationObserver(() => {
        const buttons = [...document.querySelectorAll('.kit-form button')];
        const cancel = buttons.find(button => button.textContent.trim() === 'Cancel');
        if (cancel) done(cancel.click(), watcher.disconnect());
    });
    watcher.observe(document.body, { childList: true, subtree: true });
}) })"""
#: Marks a part of the page, to tell it from another one like it.
MARK = "part => { part.seen = true; }"
SEEN = "part => part.seen === true"


@pytest.fixture
def notebook(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    with opened(lab, browser, *CELLS, script=HOLDS_BACK) as notebook:
        notebook.run_all()
        expect(notebook.output(0)).to_contain_text("Poster Landscape")
        yield notebook
        assert notebook.errors() == []


def tab(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("tab", name=name, exact=True)


def test_what_is_changed_while_a_change_is_on_its_way_is_as_it_was_left(notebook: Notebook) -> None:
    panel = notebook.output(0)
    away(panel)

    # three tabs, each of them before the kernel has heard of the one before
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
    first = form.get_by_text("completed")
    expect(first).to_have_count(1)
    first.evaluate(MARK)

    # when the click arrives there is nothing to cancel any more
    expect(generate).to_be_enabled()
    prompt.press_sequentially(" at dusk", delay=30)
    form.get_by_label("does").select_option("dawdles")
    canceled = notebook.page.evaluate_handle(CANCELS)
    generate.click()
    expect(form.get_by_text("a lake at dusk", exact=True)).to_have_count(1)
    expect(form.get_by_text("completed")).to_have_count(2)
    canceled.evaluate("({ pressed }) => pressed")
    assert form.get_by_text("completed").last.evaluate(SEEN), "it was drawn anew"
    expect(prompt).to_have_value("a lake at dusk")

    model.select_option(label="Clay (image)")
    picture = {"name": "face.png", "mimeType": "image/png", "buffer": png()}
    with notebook.page.expect_file_chooser() as chooser:
        panel.get_by_role("group", name="Upload: portrait").get_by_role("button").first.click()
    chooser.value.set_files([picture])
    expect(form).to_contain_text("face.png")
    expect(form.get_by_text("face.png")).to_have_count(1)

    # a click that nobody will answer: when the kernel ends, nothing waits for it any more
    tab(panel, "Write").click()
    suggest = panel.get_by_role("button", name="Suggest a title")
    expect(suggest).to_be_enabled()
    away(panel, 60_000)
    suggest.click()
    expect(suggest).to_have_attribute("aria-busy", "true")
    panel.get_by_label("Title", exact=True).fill("Why the Moon is leaving")
    expect(panel.locator(".kit-panel")).to_have_attribute("data-kit-pending", "")
    away(panel, 0)
    notebook.page.evaluate(f"() => {notebook.KERNEL}.restart().then(() => null)")
    expect(panel.locator("[aria-busy=true], [aria-disabled=true]")).to_have_count(0)
    expect(panel.locator("[data-kit-pending]")).to_have_count(0)
    notebook.wait_idle()
    notebook.forget_unanswered()
