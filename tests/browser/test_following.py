"""A visible page shows changes that others have made at its service."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import open_cells
from tests.browser.lab import Lab
from tests.client.third_party import Server, ThirdParty

pytestmark = pytest.mark.browser

CELLS = (
    'import kit\nstudio = kit.connect()\nmade = studio.generate("paint", "my own lake")',
    "studio.history.table()",
    'studio.form("paint", "a lake")',
)
#: Script that shortens pauses of ten seconds to 0.2 seconds.
FASTER = """() => {
    const real = window.setTimeout;
    const value = (call, ms, ...more) => real(call, ms === 10000 ? 200 : ms, ...more);
    change(window, 'setTimeout', { value });
}"""
HIDE = "() => change(document, 'hidden', { value: true })"
SHOW = """() => {
    change(document, 'hidden', { value: false });
    document.dispatchEvent(new Event('visibilitychange'));
}"""
LISTED = "/v1/creative-studio/generations"


def test_generations_of_others_are_shown_and_a_hidden_page_sends_no_requests(
    api: Server, backend: ThirdParty, lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CELLS, script=FASTER) as notebook:
        notebook.run_all()
        page, table = notebook.page, notebook.output(1)
        expect(table).to_contain_text("my own lake")
        count = len(api.requests("GET", "/v1/account"))
        while len(api.requests("GET", "/v1/account")) < count + 2:  # the first one is answered
            page.wait_for_timeout(50)

        backend.orders["theirs"] = {"modelId": "paint", "prompt": "somebody's hill", "polled": 9}
        expect(table).to_contain_text("somebody's hill")

        # a hidden page sends no requests; a visible one does at once
        page.evaluate(HIDE)
        page.wait_for_timeout(1000)
        before = len(api.requests("GET", LISTED))
        page.wait_for_timeout(6000)  # longer than the shortest pause of the kernel
        assert len(api.requests("GET", LISTED)) == before
        backend.orders["more"] = {"modelId": "paint", "prompt": "one more", "polled": 9}
        page.evaluate(SHOW)
        expect(table).to_contain_text("one more")
        assert notebook.errors() == []
