"""A notification at the end of a run while its tab is in the background, if enabled."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = ("import kit\nstudio = kit.connect()", 'studio.form("flat", "a lake")')
#: A headless browser has no notifications: this one records them.
_BROWSER = """() => {
    window.notifications = [];
    change(window, 'Notification', { value: class {
        static permission = "default";
        static async requestPermission() { return (this.permission = "granted"); }
        constructor(text) { notifications.push(text); }
    } });
}"""
_HIDE = "() => change(document, 'hidden', { value: true })"


def test_the_end_of_a_run_is_notified_if_enabled(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        page = notebook.page
        page.evaluate(_BROWSER)
        notebook.run_all()
        form = page.locator(".kit-form")
        results = form.get_by_role("button", name="New seed")

        page.evaluate(_HIDE)
        form.get_by_role("button", name="Generate").click()
        expect(results).to_have_count(1)
        assert page.evaluate("notifications") == [], "it is disabled by default"

        form.get_by_role("button", name="Advanced").click()
        form.get_by_label("notify me when a run ends").check()
        expect(form.get_by_role("button", name="Generate")).to_be_enabled()
        form.get_by_role("button", name="Generate").click()
        expect(results).to_have_count(2)
        page.wait_for_function("notifications.length > 0")
        assert page.evaluate("notifications") == ["Flat: completed"]
