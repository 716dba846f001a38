"""Widgets with a slow connection: typed text is used, a click charges once, the focus stays."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab
from tests.browser.latency import DELAYS, set_latency
from tests.browser.notebook import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()\nform = studio.form('flat')\nform",
    "made = [studio.generate('flat', 'a lake', seed=n) for n in range(2)]\n"
    "studio.history.table(size=2)",
    "studio.writing('SPACE')",
    "studio.account_panel()",
)


@pytest.fixture
def notebook(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    """A notebook of widgets that were loaded before the connection becomes slow."""
    with open_cells(lab, browser, *CELLS, script=DELAYS) as notebook:
        notebook.run_all()
        expect(notebook.output(0)).to_contain_text("balance afterwards")
        expect(notebook.output(1)).to_contain_text("1–2 of 2")
        expect(notebook.output(2)).to_contain_text("balance afterwards")
        expect(notebook.output(3).get_by_role("button", name="Create key")).to_be_enabled()
        set_latency(notebook.output(0))
        yield notebook
        assert notebook.errors() == []


def click_twice(button: Locator) -> None:
    """Click a button twice, before a response can have arrived."""
    assert button.evaluate("one => { one.click(); one.click(); return one.ariaBusy; }") == "true"


def test_with_a_slow_connection_nothing_is_lost_or_charged_twice(notebook: Notebook) -> None:
    generate_typed_prompt(notebook.output(0).locator(".kit-form"))
    change_pages_and_type(notebook)
    write_one_script(notebook.output(2))
    create_one_key(notebook.output(3))


def generate_typed_prompt(form: Locator) -> None:
    prompt, generate = form.get_by_label("prompt *"), form.get_by_role("button", name="Generate")
    prompt.press_sequentially("a lake at dusk!", delay=30)
    expect(form).to_have_attribute("data-kit-pending", "")
    click_twice(generate)
    prompt.press_sequentially(" And on.", delay=30)
    expect(form.get_by_text("completed", exact=True)).to_have_count(1)
    expect(form.get_by_text("a lake at dusk!", exact=True)).to_have_count(1)
    expect(prompt).to_have_value("a lake at dusk! And on.")
    expect(prompt).to_be_focused()
    expect(generate).to_be_enabled()
    expect(form.get_by_text("completed", exact=True)).to_have_count(1)

    # a disabled button that still has the focus gets it back when it is enabled again
    generate.focus()
    generate.press("Enter")
    expect(generate).to_be_disabled()
    expect(form.get_by_text("completed", exact=True)).to_have_count(2)
    expect(generate).to_be_focused()


def change_pages_and_type(notebook: Notebook) -> None:
    table, page = notebook.output(1), notebook.page
    forth, back = (table.get_by_role("button", name=n) for n in ("next page", "page before"))
    search = table.get_by_placeholder("search words")
    expect(table).to_contain_text("1–2 of 4")  # the table shows the new generations
    forth.focus()
    forth.press("Space")
    search.focus()
    search.press_sequentially("a lake", delay=30)
    expect(forth).to_be_disabled()
    page.keyboard.press("Shift+Home")
    expect(search).to_be_focused()
    expect(search).to_have_value("a lake")
    back.focus()
    back.press("Space")
    expect(back).to_be_disabled()
    expect(forth).to_be_focused()


def write_one_script(writing: Locator) -> None:
    title = writing.get_by_label("Title", exact=True)
    title.press_sequentially("Why the Moon is leaving", delay=30)
    click_twice(writing.get_by_role("button", name="Write a script"))
    script = writing.get_by_role("textbox", name="Script 1")
    expect(script).to_be_visible()
    expect(writing).to_contain_text("balance afterwards")
    expect(writing.get_by_role("button", name="Write a script")).to_be_enabled()
    expect(script).to_have_count(1)


def create_one_key(account: Locator) -> None:
    name = account.get_by_placeholder("name of the key")
    name.fill("laptop")
    name.press("Tab")
    click_twice(account.get_by_role("button", name="Create key"))
    name.fill("tablet")
    name.press("Enter")
    expect(account.get_by_role("button", name="I have copied it")).to_be_visible()
    expect(account.locator(".kit-keys").get_by_text("laptop")).to_have_count(1)
    expect(name).to_have_value("tablet")
